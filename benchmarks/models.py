"""EASE beside the product and the inverse it is made of; itemKNN beside implicit's.

Goals, on two cores:

- EASE: `fit` at most 1.3 times the bare count of common users and LAPACK's Cholesky inverse
  (potrf and potri, in place), and 8 bytes per pair of items beyond its input;
- itemKNN: no slower than implicit's at as many neighbours, weighting and threads.

Everything takes turns; ratios are of medians. `share_of_limit` is below 1 where the goal is met.
On a busy machine two BLAS threads wait for each other in unforeseeable ways: EASE is also given in
processor seconds with one.
Data: ml-1m where FULLRANK_DATA has it, and a simulated one with long tails. The scipy product is
there to be seen, and is not what the limit is taken from. implicit keeps an item as a neighbour of
its own, so it is asked for one more.

    FULLRANK_DATA=folder python benchmarks/models.py [rounds] [ease | item-knn | memory …]
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from _measure import has_data, has_peer, in_turn, peak_megabytes, report
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from fullrank._lib import threads
from fullrank.data import Interactions
from fullrank.data.sets.datasets import load_split
from fullrank.models import EASE, ItemKNN
from fullrank.models.item_item.gram import gram

REGULARIZATION = 1500.0
EASE_LIMIT = 1.3
SIMULATED = {"ease": (40_000, 4_000, 60), "item-knn": (50_000, 20_000, 40)}
Results = Iterator[tuple[str, dict[str, Any]]]
NEIGHBOURS = {"ml-1m": (20, 100), "simulated": (100,)}
PEERS: dict[str, Any] = {  # the names of implicit's, and our words for them
    "CosineRecommender": {"similarity": "cosine", "weighting": "none"},
    "TFIDFRecommender": {"similarity": "cosine", "weighting": "tfidf"},
    "BM25Recommender": {"similarity": "dot", "weighting": "bm25"},
}
# made row by row, for what making it would need at its peak hides what fitting needs
MEMORY = """
import numpy as np
from fullrank.data import Interactions
from fullrank.models import EASE
def data(n_items, n_users=20_000):
    first = np.random.default_rng(0).integers(0, n_items, n_users)[:, None]
    items = np.sort((first + n_items // 37 * np.arange(30)) % n_items, axis=1).astype(np.int32)
    return Interactions(user_ids=np.arange(n_users), item_ids=np.arange(n_items),
                        indptr=30 * np.arange(n_users + 1), indices=items.ravel())
EASE(regularization=100).fit(data(100))  # compile first
train = data({n_items})
"""


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    parts = {"ease": ease, "item-knn": item_knn, "memory": memory}
    for part in sys.argv[2:] or parts:
        for name, result in parts[part](rounds):  # each as soon as it is there
            report(f"models, {part}, {name}", result)
            sys.stdout.flush()


def long_tails(n_users: int, n_items: int, mean: int, seed: int = 0) -> Interactions:
    """Users and items both log-normal, drawn independently of each other."""
    rng = np.random.default_rng(seed)
    activity = rng.lognormal(sigma=0.8, size=n_users)
    popularity = rng.lognormal(sigma=1.3, size=n_items)
    size = n_users * mean
    users = rng.choice(n_users, size, p=activity / activity.sum())
    items = rng.choice(n_items, size, p=popularity / popularity.sum())
    pairs = np.unique(np.stack([users, items]), axis=1)
    return Interactions.from_arrays(*pairs, user_ids=range(n_users), item_ids=range(n_items))


def data_sets(part: str) -> dict[str, Interactions]:
    found = {"simulated": long_tails(*SIMULATED[part])}
    if has_data("ml-1m"):
        found = {"ml-1m": load_split("ml-1m").train} | found
    return found


def ease(rounds: int) -> Results:
    for name, train in data_sets("ease").items():
        yield name, _ease(train, rounds)


def _ease(train: Interactions, rounds: int) -> dict[str, Any]:
    matrix = train.matrix(np.float64)

    def bare() -> None:
        square = gram(matrix, lower=True)
        square[np.diag_indices_from(square)] += REGULARIZATION
        factor, _ = dpotrf(square.T, lower=False, clean=False, overwrite_a=True)
        dpotri(factor, lower=False, overwrite_c=True)

    pair = {"fit": lambda: EASE(regularization=REGULARIZATION).fit(train), "bare": bare}
    seconds = in_turn(pair | {"count alone": lambda: gram(matrix, lower=True)}, rounds)
    seconds |= in_turn({"scipy's sparse product": lambda: (matrix.T @ matrix).toarray()}, 1)
    with threadpool_limits(limits=1, user_api="blas"):
        cpu = _processor_seconds(pair, rounds)
    ratio = seconds["fit"] / seconds["bare"]
    return {
        "data": repr(train),
        "rounds": rounds,
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        "fit_over_bare": round(ratio, 3),
        "share_of_limit": round(ratio / EASE_LIMIT, 3),
        "processor_seconds": {name: round(value, 3) for name, value in cpu.items()},
        "fit_over_bare_processor": round(cpu["fit"] / cpu["bare"], 3),
    }


def _processor_seconds(work: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Medians as of `in_turn`, of processor time: what else runs disturbs it far less."""
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, function in work.items():
            start = time.process_time()
            function()
            times[name].append(time.process_time() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def item_knn(rounds: int) -> Results:
    if not has_peer("implicit"):
        return
    warnings.filterwarnings("ignore", "Method expects CSR input")
    for name, train in data_sets("item-knn").items():
        for peer in PEERS:
            for n in NEIGHBOURS[name]:
                yield f"{name}, {peer}, {n} neighbours", _item_knn(train, peer, n, rounds)


def _item_knn(train: Interactions, peer: str, n: int, rounds: int) -> dict[str, Any]:
    from implicit import nearest_neighbours

    matrix = csr_matrix(train.matrix(np.float64))
    n_jobs = threads.n_threads(None)

    def ours() -> ItemKNN:
        return ItemKNN(n_neighbors=n, n_jobs=n_jobs, **PEERS[peer]).fit(train)

    def theirs() -> Any:
        model = getattr(nearest_neighbours, peer)(K=n + 1, num_threads=n_jobs)
        model.fit(matrix, show_progress=False)
        return model

    seconds = in_turn({"ours": ours, "implicit": theirs}, rounds)
    return {
        "data": repr(train),
        "threads": n_jobs,
        "rounds": rounds,
        "seconds": {key: round(value, 3) for key, value in seconds.items()},
        "share_of_limit": round(seconds["ours"] / seconds["implicit"], 3),
        "largest_relative_difference": _difference(ours(), theirs()),
    }


def _difference(ours: ItemKNN, theirs: Any) -> float:
    """Of the sum of each item's similarities, which no tie can move; the item itself left out."""
    other = theirs.similarity
    expected = np.asarray(other.sum(axis=1)).ravel() - other.diagonal()
    found = np.asarray(ours.weights_.sum(axis=0)).ravel()
    # an item that is not among its own nearest (only by the plain product) has one other more
    alike = (other.diagonal() > 0) & (expected > 0)
    return float(f"{np.max(np.abs(found - expected)[alike] / expected[alike]):.1e}")


def memory(rounds: int) -> Results:
    """Of EASE in fresh processes, at twice and four times the items."""
    work = "EASE(regularization=100).fit(train)"
    for n in (1_500, 3_000, 6_000):
        found = peak_megabytes(MEMORY.replace("{n_items}", str(n)), work)
        yield f"EASE, {n} items", {"peak_megabytes": found, "8_bytes_per_pair": 8 * n * n / 1e6}


if __name__ == "__main__":
    main()
