"""Metrics over several processes: `RankMetric`, and the mean of the processes' means beside it.

Goal: the same to the last bit as in one process, whatever the number of processes, the padding of
samplers and the sizes of shards.

Each process scores its shard of the users and updates a metric; `compute` and `exact` gather a few
numbers per target. Samplers fill up shards with repeats ("padded", torch's DistributedSampler);
"uneven" shards have different sizes, and with "empty" the last one has no user. What loops log with
`sync_dist=True` is the mean of the processes' own means.

    python benchmarks/ddp.py                 # 2 and 4 processes by gloo
    python benchmarks/ddp.py --processes 3 --users 1001 --plain
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from _measure import report

METRICS = "recall@10, ndcg@10, ap, auc"
SHARDS = ("padded", "uneven", "empty")
BATCH = 64


def main() -> None:
    options = argparse.ArgumentParser(description="See the first lines of the file.")
    options.add_argument("--processes", type=int, nargs="+", default=[2, 4])
    options.add_argument("--users", type=int, default=501)
    options.add_argument("--items", type=int, default=3_000)
    options.add_argument(
        "--plain", action="store_true", help="as if torchmetrics were not installed"
    )
    options.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)  # rank, size, port, folder
    given = options.parse_args()
    if given.worker:
        return work(given)
    result = {"users": given.users, "items": given.items, "metrics": METRICS, "runs": []}
    one = run(given, 1)
    for size in given.processes:
        many = run(given, size)
        for shards in SHARDS:
            parts = [each[shards] for each in many]
            result["runs"].append(
                {
                    "processes": size,
                    "shards": shards,
                    "sizes": [part["n_rows"] for part in parts],
                    "equal_to_the_last_bit": all(
                        part["values"] == one[0]["padded"]["values"]
                        and part["ranks"] == one[0]["padded"]["ranks"]
                        for part in parts
                    ),
                    "state_bytes": [part["state_bytes"] for part in parts],
                    "values": parts[0]["values"],
                    "mean_of_means": means([part["own"] for part in parts if part["own"]]),
                }
            )
    result["one_process"] = one[0]["padded"]["values"]
    print(table(result), file=sys.stderr)
    report("ddp", result)
    sys.exit(not all(each["equal_to_the_last_bit"] for each in result["runs"]))


def means(each: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([one[name] for one in each])) for name in each[0]}


def table(result: dict[str, Any]) -> str:
    names = [name.strip() for name in METRICS.split(",")]
    head = ["processes", "shards", *names, "equal", "bytes per process"]
    rows = [["1", "all", *(f"{result['one_process'][n]:.6f}" for n in names), "", ""]]
    for run_ in result["runs"]:
        size = str(run_["processes"])
        values = [f"{run_['values'][n]:.6f}" for n in names]
        spans = ", ".join(f"{one:,}" for one in run_["state_bytes"])
        equal = "yes" if run_["equal_to_the_last_bit"] else "NO"
        rows.append([size, run_["shards"], *values, equal, spans])
        wrong = [f"{run_['mean_of_means'][n]:.6f}" for n in names]
        rows.append(["", "  mean of means", *wrong, "", ""])
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [head, *rows]
    )


def run(given: argparse.Namespace, size: int) -> list[dict[str, Any]]:
    """What each of some processes found."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    if sys.platform == "linux":  # whatever the name of the machine stands for
        environment["GLOO_SOCKET_IFNAME"] = "lo"
    with tempfile.TemporaryDirectory() as folder:
        started = []
        for rank in range(size):
            command = [sys.executable, __file__, "--users", str(given.users)]
            command += ["--items", str(given.items), *(["--plain"] if given.plain else [])]
            command += ["--worker", str(rank), str(size), str(port), folder]
            started.append(subprocess.Popen(command, env=environment))
        try:
            failed = [process.wait(timeout=300) for process in started]
        finally:
            for process in started:
                process.kill()
        if any(failed):
            raise SystemExit(f"processes ended with {failed}")
        files = [Path(folder, f"{rank}.json") for rank in range(size)]
        return [json.loads(file.read_text("utf-8")) for file in files]


def work(given: argparse.Namespace) -> None:
    """One process: its shard of each kind."""
    import torch

    # of torchmetrics, for the process that has no user
    warnings.filterwarnings("ignore", message="The ``compute`` method")
    rank, size, port = map(int, given.worker[:3])
    torch.set_num_threads(1)
    torch.distributed.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size
    )
    data = Data(given.users, given.items)
    found = {shards: measure(data, shards, rank, size, given.plain) for shards in SHARDS}
    text = json.dumps(found)
    Path(given.worker[3], f"{rank}.json").write_text(text, encoding="utf-8")
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


class Data:
    """Users with one to three targets, scores with ties, and what is excluded."""

    def __init__(self, users: int, items: int) -> None:
        import torch

        random = np.random.default_rng(0)
        scores = random.normal(size=(users, items)).astype(np.float32)
        target = np.full((users, 3), -1)
        for user in range(users):  # popular users have few targets: shards differ
            number = 1 + int(random.integers(0, 3))
            target[user, :number] = random.choice(items, number, replace=False)
            scores[user, target[user, :number]] += 3.0 * user / users
        self.scores = torch.from_numpy((scores * 100).round() / 100)
        self.target = torch.from_numpy(target)
        self.exclude = torch.from_numpy(random.integers(0, items, (users, 20)))


def shard(shards: str, n_users: int, rank: int, size: int) -> Any:
    import torch

    users = torch.arange(n_users)
    if shards == "padded":
        sampler = torch.utils.data.DistributedSampler(users, size, rank, shuffle=False)
        return users[torch.tensor(list(sampler), dtype=torch.int64)]
    busy = size - (shards == "empty" and size > 1)
    weight = np.arange(1, busy + 1)  # of the first the least
    ends = np.concatenate([[0], np.round(np.cumsum(weight) / weight.sum() * n_users)]).astype(int)
    return users[ends[rank] : ends[rank + 1]] if rank < busy else users[:0]


def measure(data: Data, shards: str, rank: int, size: int, plain: bool) -> dict[str, Any]:
    metric, own = (new_metric(plain, sync_on_compute=sync) for sync in (True, False))
    users = shard(shards, len(data.scores), rank, size)
    for start in range(0, len(users), BATCH):
        part = users[start : start + BATCH]
        block = data.scores[part], data.target[part]
        metric.update(*block, user=part, exclude=data.exclude[part])
        own.update(*block, user=part, exclude=data.exclude[part])
    values, ranks = metric.compute(), metric.exact()
    return {
        "values": values,
        "ranks": [ranks.user.tolist(), ranks.item.tolist(), ranks.ranks.tolist()],
        "own": own.compute() if len(users) else None,
        "n_rows": int(sum(len(part) for part in metric.rows)),
        "state_bytes": int(sum(part.numel() * part.element_size() for part in metric.rows)),
    }


def new_metric(plain: bool, **settings: Any) -> Any:
    if plain:
        sys.modules.setdefault("torchmetrics", None)  # type: ignore[arg-type]
    from fullrank.torch import RankMetric

    return RankMetric(METRICS, **settings)


if __name__ == "__main__":
    main()
