"""Compare RecBole's evaluation with fullrank's: the same model, the same ranks, both times.

ml-latest-small, of which RecBole holds out each user's last two interactions. For each model a row
as those of `frameworks.py`: targets whose rank differs from a count over RecBole's own scores (and
how many of RecBole's own differ between two of its batch sizes), each metric as fullrank and
RecBole compute it, and the time of both on one thread, by medians of interleaved runs: RecBole at
its default `eval_batch_size` and at a large one. It needs tests/integrations/recbole.txt.

    .venv-recbole/bin/python benchmarks/frameworks_recbole.py [rounds] [--only BPR] [--into FILE]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
from _framework_rows import merge, table, timed
from _measure import headed, report

from fullrank.integrations import recbole as ours

EPOCHS = {"BPR": 5, "LightGCN": 2, "SASRec": 1}
SEQUENTIAL = {"SASRec"}
METRICS = ["Recall", "MRR", "NDCG", "Hit", "Precision", "MAP"]
ROUNDING = 64 * 2.0**-24  # of a sum of 64 products in float32, relative to the largest
LARGE = 1 << 24  # scores that RecBole holds at once
DATA = Path(__file__).resolve().parents[1] / "data" / "ml-latest-small.parquet"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--only", help=f"some of {', '.join(EPOCHS)}")
    parser.add_argument(
        "--into", type=Path, help="a JSON file to update; rows of other models are kept"
    )
    given = parser.parse_args()
    sys.argv = sys.argv[:1]  # RecBole reads it too
    if importlib.util.find_spec("recbole") is None:
        print("recbole is not installed: skipped.", file=sys.stderr)
        return 0
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    here, rows = Path.cwd(), []
    with tempfile.TemporaryDirectory() as folder, ours.compatible():
        write_atomic(Path(folder, "ml"))
        os.chdir(folder)  # where RecBole leaves its logs
        for model in given.only.split(",") if given.only else EPOCHS:
            rows.append(row(folder, model, given.rounds))
            print(table(rows[-1:]), file=sys.stderr)
        os.chdir(here)
    if given.into is not None:
        rows = merge(rows, given.into)
        content = headed("models of other frameworks", {"models": rows})
        given.into.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
    report("models of other frameworks", {"models": rows})
    return 0


def write_atomic(folder: Path) -> None:
    """The interactions as RecBole's atomic file, whose header has the type of each column."""
    folder.mkdir()
    table = pyarrow.parquet.read_table(DATA, columns=["user", "item", "timestamp"])
    columns = np.stack([column.to_numpy() for column in table.columns], axis=1)
    head = "user_id:token\titem_id:token\ttimestamp:float"
    np.savetxt(folder / "ml.inter", columns, fmt="%d", delimiter="\t", header=head, comments="")


def row(folder: str, model: str, rounds: int) -> dict[str, Any]:
    import recbole
    import torch
    from recbole.data import create_dataset, data_preparation
    from recbole.data.dataloader import FullSortEvalDataLoader
    from recbole.utils import get_model, get_trainer, init_seed

    torch.set_num_threads(1)
    config = settings(folder, model, METRICS)
    init_seed(2026, reproducibility=True)
    dataset = create_dataset(config)
    train, _, test = data_preparation(config, dataset)
    network = get_model(model)(config, train.dataset)
    trainer = get_trainer(config["MODEL_TYPE"], model)(config, network)
    trainer.fit(train, None, saved=False, show_progress=False)
    wide = settings(folder, model, METRICS)
    wide["eval_batch_size"] = LARGE
    large = FullSortEvalDataLoader(wide, test._dataset, test._sampler)
    other = get_trainer(config["MODEL_TYPE"], model)(settings(folder, model, ["GAUC"]), network)

    def evaluate(loader: Any = test, trainer: Any = trainer) -> dict[str, float]:
        return {k: float(v) for k, v in trainer.evaluate(loader, load_best_model=False).items()}

    theirs = evaluate()
    names = [*theirs]
    theirs["auc"] = evaluate(large, other)["gauc"]
    ranks = ours.rank(trainer, test)
    found = ranks.metrics([*theirs])
    counted, again = counts(trainer, test), counts(trainer, large)
    users, items = ranks.user, ranks.item
    assert users is not None
    assert items is not None
    mine = {
        (str(user), str(item)): float(rank)
        for user, item, rank in zip(users, items, ranks.ranks, strict=True)
    }
    assert mine.keys() == counted.keys() == again.keys()
    away = {key: abs(mine[key] - rank) for key, (rank, _) in counted.items()}
    pairs = {name: {"ours": found[name], "theirs": theirs[name]} for name in theirs}
    times = timed(
        [lambda: ours.rank(trainer, test, n_jobs=1).metrics(names), evaluate,
         lambda: evaluate(large)],
        rounds,
    )  # fmt: skip
    return {
        "library": "RecBole",
        "version": recbole.__version__,
        "model": model,
        "users": ranks.n_users,
        "items": int(dataset.item_num) - 1,
        "targets": ranks.total_targets,
        "ranks that differ from its own scores": sum(far > 0 for far in away.values()),
        "of them beyond rounding": sum(away[key] > near for key, (_, near) in counted.items()),
        "largest difference of ranks": max(away.values()),
        "its own ranks that differ between batch sizes": sum(
            again[key][0] != rank for key, (rank, _) in counted.items()
        ),
        "metrics": pairs,
        "largest difference": max(abs(pair["ours"] - pair["theirs"]) for pair in pairs.values()),
        "seconds": {
            "rank and metrics": times[0],
            "its own evaluation": times[1],
            "its own evaluation, large batches": times[2],
        },
        "times as fast": round(times[1] / times[0], 1),
    }


def settings(folder: str, model: str, metrics: list[str]) -> Any:
    from recbole.config import Config

    given: dict[str, Any] = {
        "data_path": folder,
        "checkpoint_dir": folder,
        "load_col": {"inter": ["user_id", "item_id", "timestamp"]},
        "eval_args": {"split": {"LS": "valid_and_test"}, "order": "TO", "mode": "full"},
        "metrics": metrics,
        "metric_decimal_place": 12,  # 4 by default
        "topk": [10],
        "valid_metric": "GAUC" if metrics == ["GAUC"] else "MRR@10",
        "epochs": EPOCHS[model],
        "gpu_id": "",
        "show_progress": False,
    }
    if model in SEQUENTIAL:
        # trained by cross-entropy; a short history, for the training is not what is measured
        given |= {"train_neg_sample_args": None, "MAX_ITEM_LIST_LENGTH": 20}
    return Config(model=model, dataset="ml", config_dict=given)


def counts(trainer: Any, loader: Any) -> dict[tuple[str, str], tuple[float, int]]:
    """The mean rank of each target among ties, by RecBole's own scores in its own batches.

    And how many other items score so close to it that the rounding of float32 decides.
    """
    dataset, found = loader._dataset, {}
    for batch in loader:
        seen, scores, _, items = trainer._full_sort_batch_eval(batch)
        scores = scores.detach().numpy()
        assert scores.shape[0] == items.numel()  # one target for each user
        own = np.take_along_axis(scores, items.numpy()[:, None], axis=1)
        above, equal = (scores > own).sum(axis=1), (scores == own).sum(axis=1) - 1
        size = np.abs(np.where(np.isfinite(scores), scores, 0.0)).max(axis=1, keepdims=True)
        close = (np.abs(scores - own) <= ROUNDING * size).sum(axis=1) - 1
        users = dataset.id2token(dataset.uid_field, seen[dataset.uid_field].numpy())
        names = dataset.id2token(dataset.iid_field, items.numpy())
        ranks = 1 + above + equal / 2
        for user, item, rank, near in zip(users, names, ranks, close, strict=True):
            found[str(user), str(item)] = float(rank), int(near)
    return found


if __name__ == "__main__":
    sys.exit(main())
