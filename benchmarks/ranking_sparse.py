"""Exact ranks of sparse item–item models and of popularity, beside what they cannot do without.

46,000 users, 340,000 items and 1.1 million interactions of the shape of Book-Crossing: both tails
are heavy. One item of each user is held out, and training items are excluded. Goals:

- item-knn with 20 neighbours: at most 20 times SciPy's sparse product of histories and neighbours;
- popularity: at most 3 times one sort of the items and one pass over the interactions;
- `evaluate` at most 1.15 times `rank` with the same metrics;
- memory beyond the inputs: some bytes for each item and thread, whatever the number of users.

Everything takes turns; ratios are of medians. The sort is `np.argsort` of the counts; the pass
gathers the count of every training item, compares it with that of the user's target and adds up
for each user, in numpy. Ties="random" makes a keyed word for each user with a target of score 0 and
each item; it is measured on a tenth of the users beside their mean ranks.

    python benchmarks/ranking_sparse.py [rounds] [--small]
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _measure import in_turn, peak_megabytes, report

from fullrank import Interactions, ItemItemScorer, evaluate, rank
from fullrank.data import Split
from fullrank.models import ItemKNN, Popularity

USERS, ITEMS, INTERACTIONS = 46_000, 340_000, 1_100_000
NEIGHBOURS = 20
METRICS = ("recall@10", "ndcg@10")
GOALS = {
    "item-knn": {"rank over SciPy's product": 20, "evaluate over rank and metrics": 1.15},
    "popularity": {"rank over sort and pass": 3, "evaluate over rank and metrics": 1.15},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--small", action="store_true", help="use a tenth of every size")
    given = parser.parse_args()
    scale = 10 if given.small else 1
    split = made_split(USERS // scale, ITEMS // scale, INTERACTIONS // scale)
    scorers = {
        "item-knn": ItemKNN(n_neighbors=NEIGHBOURS).fit(split.train).scorer(),
        "popularity": Popularity().fit(split.train).scorer(),
    }
    least = {
        "item-knn": ("SciPy's product", sparse_product(scorers["item-knn"])),
        "popularity": ("sort and pass", sort_and_pass(scorers["popularity"], split)),
    }
    data = described(split, scorers["item-knn"])
    result: dict[str, Any] = {"goals": GOALS, "data": data}
    for name, scorer in scorers.items():
        result[name] = times(scorer, split, *least[name], given.rounds)
    result["memory"] = memory(scale)
    report("exact ranks of sparse models", result)


def made_split(n_users: int, n_items: int, interactions: int, *, seed: int = 0) -> Split:
    """Users with log-normal numbers of items, which they find at their own place in a Zipf law.

    Most of a user's items lie near one another, as the books of an author or a genre do; without
    that no two items would have more than a chance user in common.
    """
    random = np.random.default_rng(seed)
    size = random.lognormal(0.0, 1.9, n_users)
    sizes = np.clip(size * interactions * 1.12 / size.sum(), 2, n_items // 25).astype(np.int64)
    user = np.repeat(np.arange(n_users), sizes)
    place = n_items ** random.random(user.size)  # Zipf: as many items from 1 to 10 as to 100
    near = np.repeat(n_items * random.random(n_users), sizes)
    near = near + n_items / 200 * random.standard_normal(user.size)
    item = np.where(random.random(user.size) < 0.5, place, near).astype(np.int64) % n_items
    item = random.permutation(n_items)[item]
    pairs = np.unique(user * n_items + item)
    user, item = np.divmod(pairs, n_items)
    order = np.lexsort((random.random(user.size), user))
    user, item = user[order], item[order]
    held_out = np.concatenate([[True], user[1:] != user[:-1]])
    ids = {"user_ids": np.arange(n_users), "item_ids": np.arange(n_items)}
    train, test = (
        Interactions.from_arrays(user[rows], item[rows], **ids) for rows in (~held_out, held_out)
    )
    return Split(train=train, test=test)


def described(split: Split, scorer: Any) -> dict[str, Any]:
    by_user, by_item = split.train.user_counts(), split.train.item_counts()
    scores = rank(scorer, split.test, exclude=split.train)
    reached = scores.candidates > 2 * scores.equal
    return {
        "users": split.train.n_users,
        "items": split.train.n_items,
        "training interactions": int(by_user.sum()),
        "most items of a user": int(by_user.max()),
        "most users of an item": int(by_item.max()),
        "items without users": int((by_item == 0).sum()),
        "stored neighbours": int(scorer.matrix.nnz),
        "share of targets that are reached": round(float(reached.mean()), 3),
    }


def sparse_product(scorer: Any) -> Callable[[], Any]:
    from scipy.sparse import csr_array

    shape = scorer.n_users, scorer.n_items
    parts = (scorer.history_values, scorer.history_indices, scorer.history_indptr)
    history, matrix = csr_array(parts, shape=shape), scorer.matrix
    return lambda: history @ matrix


def sort_and_pass(scorer: Any, split: Split) -> Callable[[], Any]:
    counts, targets = scorer.values, split.test.indices
    indptr, indices = split.train.indptr, split.train.indices
    sizes, starts = np.diff(indptr), np.minimum(indptr[:-1], indices.size - 1)

    def work() -> None:
        np.argsort(counts)
        above = counts[indices] > np.repeat(counts[targets], sizes)
        np.add.reduceat(above, starts, dtype=np.int64)

    return work


def times(
    scorer: Any, split: Split, name: str, least: Callable[[], Any], rounds: int
) -> dict[str, Any]:
    some = Interactions.from_arrays(
        *(np.asarray(one)[::10] for one in split.test.pairs()),
        user_ids=split.test.user_ids, item_ids=split.test.item_ids,
    )  # fmt: skip

    def ranked(**how: Any) -> Any:
        return rank(scorer, split.test, exclude=split.train, **how)

    def resumable() -> None:
        with tempfile.TemporaryDirectory() as folder:
            evaluate({"m": scorer}, split, metrics=METRICS, out=Path(folder, "run"), report=False)

    seconds = in_turn(
        {
            name: least,
            "rank": ranked,
            "rank, one thread": lambda: ranked(n_jobs=1),
            "rank and metrics": lambda: ranked().metrics(METRICS),
            "evaluate": lambda: (
                evaluate({"m": scorer}, split, metrics=METRICS).estimates["m"].values
            ),
            "evaluate, shards in a folder": resumable,
            "rank a tenth": lambda: rank(scorer, some, exclude=split.train),
            "rank a tenth, ties random": lambda: rank(
                scorer, some, exclude=split.train, ties="random", rng=0
            ),
        },
        rounds,
    )
    return {
        "seconds": {key: round(value, 4) for key, value in seconds.items()},
        f"rank over {name}": round(seconds["rank"] / seconds[name], 2),
        "evaluate over rank and metrics": round(
            seconds["evaluate"] / seconds["rank and metrics"], 2
        ),
        "shards over rank and metrics": round(
            seconds["evaluate, shards in a folder"] / seconds["rank and metrics"], 2
        ),
        "ties random over mean": round(
            seconds["rank a tenth, ties random"] / seconds["rank a tenth"], 1
        ),
    }


def memory(scale: int = 1) -> dict[str, Any]:
    """Peak memory beyond the inputs, each in a process of its own.

    The copy of what is excluded (4 bytes for each interaction) and the counts grow with users; the
    room of a thread grows with items.
    """
    setup = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import ranking_sparse
scorer, split = ranking_sparse.{{kind}}({{n_users}}, {{n_items}}, {{interactions}})
def work(n_jobs):
    ranking_sparse.rank(scorer, split.test, exclude=split.train, n_jobs=n_jobs)
small, part = ranking_sparse.{{kind}}(40, 200, 400)
ranking_sparse.rank(small, part.test, exclude=part.train)
ranking_sparse.forget_peak()
"""
    shape = {"n_users": USERS, "n_items": ITEMS, "interactions": INTERACTIONS}
    shape = {key: size // scale for key, size in shape.items()}
    cases = {
        "as above, 1 thread": (shape, 1),
        "as above, 2 threads": (shape, 2),
        "twice the items, 1 thread": (shape | {"n_items": 2 * shape["n_items"]}, 1),
        "twice the users and interactions, 1 thread": (
            {key: size * (1 if key == "n_items" else 2) for key, size in shape.items()},
            1,
        ),
    }
    return {
        kind: {
            f"MB, {case}": peak_megabytes(setup.format(kind=kind, **sizes), f"work({n_jobs})")
            for case, (sizes, n_jobs) in cases.items()
        }
        for kind in ("random_neighbours", "random_popularity")
    }


def random_neighbours(n_users: int, n_items: int, interactions: int) -> tuple[Any, Split]:
    from scipy.sparse import csr_array

    split = made_split(n_users, n_items, interactions)
    random = np.random.default_rng(1)
    near = np.sort(random.integers(0, n_items, (n_items, NEIGHBOURS)), axis=1).ravel()
    indptr = np.arange(n_items + 1) * NEIGHBOURS
    matrix = csr_array((random.random(near.size, np.float32), near, indptr), (n_items, n_items))
    matrix.sum_duplicates()
    return ItemItemScorer(split.train, matrix), split


def random_popularity(n_users: int, n_items: int, interactions: int) -> tuple[Any, Split]:
    split = made_split(n_users, n_items, interactions)
    return Popularity().fit(split.train).scorer(), split


def forget_peak() -> None:
    """Count the peak from here on, where the system can: making the data takes more."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # what was freed is not there to be taken again
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")


if __name__ == "__main__":
    main()
