"""Training throughput: positive pairs per second of EmbeddingMF with BPR, beside RecBole's BPR.

Goal, on a CPU: at least twice RecBole's, at the same batch size, dimensions and threads.

Both draw one uniform negative for each pair and take one Adam step for each batch, in which every
vector moves; on a CPU ours moves those of other batches only when they are needed next, as far.
RecBole never draws one of the user's own items, we draw from all items; both shuffle. An epoch of
the one follows an epoch of the other, and the ratio is that of the medians; ours are timed as
`history_.seconds` says, theirs around what `Trainer.fit` repeats. Memory is what training adds to
the most that the process has held. RecBole runs in the environment that `.ci/run` makes for it:

    FULLRANK_DATA=folder python benchmarks/training.py --recbole-python .venv-recbole/bin/python
    python benchmarks/training.py --simulated --device cuda [--rounds 5] [--threads 1]

With `--keep benchmarks/results/training.json` the figures go where the guide takes them from.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from _measure import has_data, peak_megabytes, report, stamp

from fullrank._lib.files import replacing
from fullrank.data import Interactions, load_split
from fullrank.models import EmbeddingMF

GOAL = 2.0
LEARNING_RATE = 0.001
_PEER = Path(__file__).with_name("_recbole_epochs.py")
_SETUP = """
import sys
sys.path.insert(0, {folder!r})
import training, torch
torch.set_num_threads({threads})
data = training.interactions({simulated})
training.model({asked!r}, epochs=1).fit(training.small())
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="See the first lines of the file.")
    parser.add_argument("--recbole-python", type=Path, help="a Python that has RecBole 1.2.1")
    parser.add_argument(
        "--simulated", action="store_true", help="use simulated data instead of FULLRANK_DATA"
    )
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=2048)
    parser.add_argument("--n-factors", type=int, default=64)
    parser.add_argument(
        "--keep", type=Path, help="a JSON file in which to store this device's figures"
    )
    asked = parser.parse_args()
    if not asked.simulated and not has_data("gowalla"):
        return
    import torch

    torch.set_num_threads(asked.threads)
    data = interactions(asked.simulated)
    settings = {
        "batch_size": asked.batch_size,
        "n_factors": asked.n_factors,
        "learning_rate": LEARNING_RATE,
        "device": asked.device,
    }
    result: dict[str, Any] = {"data": repr(data), "threads": asked.threads, **settings}
    with peer(asked.recbole_python, data, settings | {"threads": asked.threads}) as theirs:
        result |= compared(data, settings, theirs, asked.rounds)
    if asked.device == "cpu":
        setup = _SETUP.format(
            folder=str(Path(__file__).parent),
            threads=asked.threads,
            simulated=asked.simulated,
            asked=settings,
        )
        work = f"training.model({settings!r}, epochs=2).fit(data)"
        result["megabytes"]["fullrank"] = peak_megabytes(setup, work)
    else:
        most = torch.cuda.max_memory_allocated() / 2**20
        result["megabytes"]["fullrank, on the device"] = round(most, 1)
    report("training, MF with BPR", result)
    if asked.keep is not None:
        known = json.loads(asked.keep.read_text("utf-8")) if asked.keep.is_file() else {}
        known[asked.device] = result | {"machine": where(asked.device)} | stamp()
        with replacing(asked.keep) as new:
            new.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def where(device: str) -> str:
    import torch

    if device == "cuda":
        return str(torch.cuda.get_device_name())
    return f"{platform.machine()}, {os.cpu_count()} cores"


def interactions(simulated: bool) -> Interactions:
    """Gowalla's training part, or pairs at random in its proportions, a third in size."""
    if not simulated:
        return load_split("gowalla").train
    return _random(10_000, 14_000, 270_000)


def small() -> Interactions:
    return _random(50, 60, 500)


def _random(n_users: int, n_items: int, n_pairs: int) -> Interactions:
    rng = np.random.default_rng(0)
    popularity = rng.lognormal(sigma=1.0, size=n_items)
    users = rng.integers(n_users, size=n_pairs)
    items = rng.choice(n_items, n_pairs, p=popularity / popularity.sum())
    pairs = np.unique(np.stack([users, items]), axis=1)
    return Interactions.from_arrays(*pairs, user_ids=range(n_users), item_ids=range(n_items))


def model(settings: dict[str, Any], epochs: int) -> EmbeddingMF:
    return EmbeddingMF(loss="bpr", n_negatives=1, epochs=epochs, **settings)


def compared(
    data: Interactions, settings: dict[str, Any], theirs: Peer | None, rounds: int
) -> dict[str, Any]:
    times: dict[str, list[float]] = {"fullrank": []}
    model(settings, 1).fit(small())  # compiles
    if theirs is not None:
        times["recbole"] = []
        theirs.epoch()  # its first is slower
    for _ in range(rounds):
        # the first epoch of a fit makes buffers; the median of the next two counts
        fitted = model(settings, 3).fit(data)
        times["fullrank"].append(statistics.median(fitted.history_.seconds[1:]))
        if theirs is not None:
            times["recbole"].append(theirs.epoch())
    medians = {name: statistics.median(values) for name, values in times.items()}
    found: dict[str, Any] = {
        "rounds": rounds,
        "pairs_per_second": {n: round(data.n_interactions / s) for n, s in medians.items()},
        "seconds_of_an_epoch": {
            name: [round(s, 3) for s in sorted(values)] for name, values in times.items()
        },
        "megabytes": {},
    }
    if theirs is not None:
        found["times_recbole"] = round(medians["recbole"] / medians["fullrank"], 2)
        found["share_of_goal"] = round(found["times_recbole"] / GOAL, 2)
        found["megabytes"]["recbole"] = theirs.megabytes()
    return found


class Peer:
    """RecBole in a process of its own, an epoch at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.head = self._answer()

    def epoch(self) -> float:
        """Train one more; its seconds."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self._answer()["seconds"])

    def megabytes(self) -> float:
        """End it; what training added to its memory."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return round(self._answer()["megabytes"], 1)

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                return dict(json.loads(line))
        raise SystemExit(f"RecBole ended with status {self.process.wait()}; see above.")


@contextmanager
def peer(python: Path | None, data: Interactions, asked: dict[str, Any]) -> Iterator[Peer | None]:
    if python is None or not python.is_file():
        print("RecBole was skipped: --recbole-python does not name a Python.")
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "pairs", "pairs.inter")
        table.parent.mkdir()
        pairs = np.stack(data.pairs(), axis=1)
        head = "user_id:token\titem_id:token"
        np.savetxt(table, pairs, fmt="%d", delimiter="\t", header=head, comments="")
        process = subprocess.Popen(
            [python.absolute(), _PEER, folder, json.dumps(asked)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder,
        )  # fmt: skip
        try:
            yield Peer(process)
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
