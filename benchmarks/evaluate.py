"""Measure the overhead of `evaluate` over its `rank` calls, on five kinds of models.

    python benchmarks/evaluate.py             # medians of five interleaved pairs, as JSON
    python benchmarks/evaluate.py --pairs 9 --small

Both start from scorers, exact, with training items excluded, and end with the metrics; `evaluate`
adds intervals, ids and the comparison of nothing (one model a call). The estimates behind a
run of two sampled models with its report are counted as well.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from _measure import report
from scipy.sparse import csr_array

from fullrank import FactorScorer, Interactions, ItemItemScorer, evaluate, rank
from fullrank.data import Split
from fullrank.models import Popularity
from fullrank.scorers import as_scorer

METRICS = ("recall@10", "ndcg@10", "ap@10")
MOST = 1.15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="use a tenth of the users and items")
    given = parser.parse_args()
    scale = 10 if given.small else 1
    rows = [
        measured(name, make(scale), given.pairs)
        for name, make in KINDS.items()
    ]  # fmt: skip
    report(
        "evaluate beside rank",
        {
            "models": rows,
            "estimates and comparisons in a run of two models": counted(),
            "worst ratio": max(row["ratio"] for row in rows),
            "at most": MOST,
        },
    )


def measured(name: str, made: tuple[Any, Split], n_pairs: int) -> dict[str, Any]:
    """The ratio of `evaluate` to `rank` with metrics, its median over interleaved pairs."""
    scorer, split = made
    calls: dict[str, Callable[[], Any]] = {
        "rank": lambda: rank(scorer, split.test, exclude=split.train).metrics(METRICS),
        "evaluate": lambda: evaluate({"m": scorer}, split, metrics=METRICS).estimates["m"].values,
    }
    values = {label: call() for label, call in calls.items()}  # compiled, and in memory
    assert dict(values["evaluate"]) == values["rank"], values
    ratios, times = [], []
    for _ in range(n_pairs):
        seconds = {}
        for label, call in calls.items():
            start = time.perf_counter()
            call()
            seconds[label] = time.perf_counter() - start
        ratios.append(seconds["evaluate"] / seconds["rank"])
        times.append(seconds["rank"])
    return {
        "model": name,
        "users": split.test.n_users,
        "items": split.test.n_items,
        "ratio": round(statistics.median(ratios), 3),
        "ratios": [round(one, 3) for one in ratios],
        "rank, seconds": round(statistics.median(times), 3),
    }


def counted() -> dict[str, int]:
    """How often a run of two sampled models, its report included, estimates and compares."""
    from fullrank.evaluation import result

    scorer, split = KINDS["factors"](20)
    other = FactorScorer(-scorer.user_factors, scorer.item_factors)
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(result, "estimate", wraps=result.estimate) as estimates,
        mock.patch.object(result, "compare", wraps=result.compare) as comparisons,
        mock.patch("fullrank.reporting.build.compare", wraps=result.compare) as again,
        mock.patch("fullrank.reporting.measurement.estimate", wraps=result.estimate) as more,
    ):
        evaluate({"a": scorer, "b": other}, split, design="sampled:100", out=Path(folder, "run"))
    return {
        "estimates": estimates.call_count + more.call_count,
        "comparisons": comparisons.call_count + again.call_count,
    }


def some_split(n_users: int, n_items: int, per_user: int = 30) -> Split:
    """Users with items of a heavy-tailed popularity, one of them held out."""
    random = np.random.default_rng(0)
    items = (n_items * random.random((n_users, per_user)) ** 2.5).astype(np.int64)
    users = np.repeat(np.arange(n_users), per_user)
    part = np.tile(np.arange(per_user) == 0, n_users)
    flat = items.ravel()
    keep = part | (flat != np.repeat(items[:, 0], per_user))
    whole = {"user_ids": np.arange(n_users), "item_ids": np.arange(n_items), "repeats": "sum"}
    train, test = (
        Interactions.from_arrays(users[rows], flat[rows], **whole) for rows in (keep & ~part, part)
    )
    return Split(train=train, test=test)


def popularity(scale: int) -> tuple[Any, Split]:
    split = some_split(100_000 // scale, 50_000 // scale)
    return Popularity().fit(split.train).scorer(), split


def sparse_item_item(scale: int) -> tuple[Any, Split]:
    """As large as Book-Crossing: 300,000 items, 20 neighbours each."""
    split = some_split(50_000 // scale, 300_000 // scale, per_user=10)
    n, random = split.train.n_items, np.random.default_rng(1)
    near = random.integers(0, n, (n, 20))
    weights = random.random(near.shape, np.float32)
    matrix = csr_array((weights.ravel(), near.ravel(), np.arange(n + 1) * 20), (n, n))
    matrix.sum_duplicates()
    return ItemItemScorer(split.train, matrix), split


def dense_item_item(scale: int) -> tuple[Any, Split]:
    split = some_split(50_000 // scale, 10_000 // scale)
    n = split.train.n_items
    weights = np.random.default_rng(1).normal(size=(n, n)).astype(np.float32)
    return ItemItemScorer(split.train, weights), split


def factors(scale: int) -> tuple[Any, Split]:
    split = some_split(100_000 // scale, 50_000 // scale)
    random = np.random.default_rng(1)
    sizes = (split.train.n_users, 64), (split.train.n_items, 64)
    users, items = (random.normal(size=size).astype(np.float32) for size in sizes)
    return FactorScorer(users, items), split


def torch_module(scale: int) -> tuple[Any, Split]:
    """A small network over pairs of embeddings."""
    import torch

    torch.manual_seed(0)
    split = some_split(400 // min(scale, 4), 20_000 // scale)

    class Pairs(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.users = torch.nn.Embedding(split.train.n_users, 16)
            self.items = torch.nn.Embedding(split.train.n_items, 16)
            self.top = torch.nn.Sequential(
                torch.nn.Linear(32, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)
            )

        def forward(self, users: torch.Tensor, items: torch.Tensor) -> torch.Tensor:
            both = torch.cat([self.users(users), self.items(items)], dim=-1)
            return self.top(both).squeeze(-1)

    module = Pairs().eval()
    return as_scorer(module, n_users=split.train.n_users, n_items=split.train.n_items), split


KINDS: dict[str, Callable[[int], tuple[Any, Split]]] = {
    "popularity": popularity,
    "sparse item-item": sparse_item_item,
    "dense item-item": dense_item_item,
    "factors": factors,
    "torch module": torch_module,
}

if __name__ == "__main__":
    main()
