"""Ranks up to K of a network that scores pair by pair, beside the ranks of all pairs.

NeuMF on MovieLens 1M and on a part of Pinterest, the published leave-one-out splits, training items
excluded. A scorer that counts its calls says which share of all pairs was scored; times are medians
of runs that take turns, and the cost of an order, of a proxy's training and of its scores among it,
is inside. Proxies are PureSVD with 16 factors and the items in a random order.

Goals: for the default order, at most 0.2 of the pairs and of the time at K = 10, 0.45 at K = 50,
and the same metrics to the last bit. No order can do with less than the share of users whose target
is within K, for they meet the whole catalogue: it is shown as `at least`.

    FULLRANK_DATA=folder python benchmarks/up_to_k.py [rounds] [data set …] [--epochs n]
        [--models folder]

With --models the networks are kept in a folder, and trained only where they are not there.
"""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _measure import has_data, in_turn, report

from fullrank.data import Split, read_split
from fullrank.models import NeuMF, PureSVD, load
from fullrank.ranking import rank

DATA = ("ml-1m", "pinterest-20-part")
GOALS = {10: 0.2, 50: 0.45}
ORDERS: dict[str, Callable[[Split], Any]] = {
    "default": lambda split: None,
    "PureSVD": lambda split: PureSVD(n_factors=16).fit(split.train),
    "random": lambda split: "random",
}


class Counted:
    """A scorer that counts how many scores it was asked for, and how often."""

    thread_safe = True

    def __init__(self, scorer: Any) -> None:
        self.scorer, self.n_pairs, self.n_calls = scorer, 0, 0
        self.n_users, self.n_items = scorer.n_users, scorer.n_items
        self.user_ids, self.item_ids = scorer.user_ids, scorer.item_ids
        self._lock = threading.Lock()

    def scores(self, user_rows: Any, item_rows: Any = None) -> Any:
        found = self.scorer.scores(user_rows, item_rows)
        with self._lock:
            self.n_pairs += found.size
            self.n_calls += 1
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rounds", nargs="?", type=int, default=5)
    parser.add_argument("data", nargs="*", default=DATA)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--models", type=Path)
    asked = parser.parse_args()
    found = {}
    for name in filter(has_data, asked.data):
        path = Path(os.environ["FULLRANK_DATA"], f"{name}.parquet")
        split = read_split(path, rng=0)
        found[name] = measured(split, trained(name, split, asked), asked.rounds)
    report("ranks up to K", {"rounds": asked.rounds, "goals": GOALS, **found})


def trained(name: str, split: Split, asked: argparse.Namespace) -> Any:
    kept = None if asked.models is None else asked.models / f"{name}.safetensors"
    if kept is not None and kept.is_file():
        return load(kept).scorer()
    model = NeuMF(epochs=asked.epochs, batch_size=4096, learning_rate=0.005, seed=0)
    model.fit(split.train)
    if kept is not None:
        model.save(kept)
    return model.scorer()


def measured(split: Split, scorer: Any, rounds: int) -> dict[str, Any]:
    def full(one: Any = scorer) -> Any:
        return rank(one, split.test, exclude=split.train)

    def up_to(k: int, order: str, one: Any = scorer) -> Any:
        made = ORDERS[order](split)
        return rank(one, split.test, exclude=split.train, max_rank=k, order=made)

    works: dict[str, Callable[[], Any]] = {"all pairs": full}
    for k in GOALS:
        for order in ORDERS:
            works[f"exact:{k}, {order}"] = lambda k=k, order=order: up_to(k, order)
    times = in_turn(works, rounds)
    everything = Counted(scorer)
    ranks = full(everything)
    rows = {}
    for k in GOALS:
        metrics = [f"{kind}@{cut}" for kind in ("recall", "ndcg", "ap") for cut in (1, k // 2, k)]
        for order in ORDERS:
            counted, name = Counted(scorer), f"exact:{k}, {order}"
            some = up_to(k, order, counted)
            rows[name] = {
                "share of pairs": round(counted.n_pairs / everything.n_pairs, 4),
                "share of time": round(times[name] / times["all pairs"], 4),
                "at least": round(ranks.metrics(f"recall@{k}")[f"recall@{k}"], 4),
                "pairs in a call": round(counted.n_pairs / counted.n_calls),
                "seconds": round(times[name], 3),
                "same metrics to the last bit": some.metrics(metrics) == ranks.metrics(metrics),
            }
    return {
        "users": ranks.n_users,
        "items": scorer.n_items,
        "all pairs, seconds": round(times["all pairs"], 3),
        "metrics": ranks.metrics("recall@10, ndcg@10, recall@50"),
        "orders": rows,
    }


if __name__ == "__main__":
    main()
