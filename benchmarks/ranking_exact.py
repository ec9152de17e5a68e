"""Exact ranks beside the matrix product they are made of, and beside other libraries.

Goals, on two cores:

- factors, 4,096 users × 100,000 items × d = 64, float32: certified ranks at most 1.25 times and the
  plain float32 count at most 1.10 times the bare blocked product; certified at least 3.5 times
  faster than torch's product + top 50 and than implicit's ranking_metrics_at_k, 10 times faster
  than recometrics, 20 times faster than numpy's argsort; under 100 MB beyond the inputs, also at
  1,000,000 items;
- trained factors (gowalla, iALS, one target per user): below the bare product;
- dense item-item models (ml-1m, gowalla): at most 1.3 times the sparse-dense product, the faster of
  SciPy's and our own float32 one.

Everything takes turns; ratios are of medians, and of the least times, which a busy machine disturbs
less. numpy, recometrics and SciPy do an eighth of the users, times eight. Parts: factors, memory,
trained, ml-1m, gowalla. That no count differs is shown by tests/statistical/test_certified.py.

    FULLRANK_DATA=folder python benchmarks/ranking_exact.py [rounds] [part …]
"""

from __future__ import annotations

import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _measure import has_data, has_peer, peak_megabytes, report
from scipy import sparse
from threadpoolctl import threadpool_limits

from fullrank._lib import threads
from fullrank.data import Interactions
from fullrank.ranking import rank
from fullrank.scorers import FactorScorer, ItemItemScorer

USERS, ITEMS, D = 4096, 100_000, 64
PART = 8  # the slowest do one user in eight
TILES = [(512, 512), (512, 1024), (1024, 256), (2048, 256)]  # what the bare product may choose from

Work = dict[str, Callable[[], Any]]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    parts: dict[str, Callable[[int], Any]] = {
        "factors": factors,
        "memory": memory,
        "trained": trained,
        "ml-1m": partial(item_item, "ml-1m"),
        "gowalla": partial(item_item, "gowalla"),
    }
    data = {"trained": "gowalla", "ml-1m": "ml-1m", "gowalla": "gowalla"}
    wanted = [name for name in sys.argv[2:] or parts if name not in data or has_data(data[name])]
    if "trained" in wanted and not has_peer("implicit"):
        wanted.remove("trained")
    report("exact ranks", {name: parts[name](rounds) for name in wanted})


def factors(rounds: int) -> dict[str, Any]:
    random = np.random.default_rng(0)
    users = random.standard_normal((USERS, D), np.float32)
    items = random.standard_normal((ITEMS, D), np.float32)
    at = np.arange(USERS), random.integers(0, ITEMS, USERS)
    scorer = FactorScorer(users, items)
    works: Work = {
        f"bare product, tiles {a}×{b}": lambda a=a, b=b: bare_product(users, items, a, b)
        for a, b in TILES
    }
    works["certified"] = lambda: rank(scorer, at)
    works["float32 count"] = lambda: rank(scorer, at, precision="fast")
    works["numpy argsort"] = lambda: argsort_ranks(users, items, at)
    if has_peer("torch"):
        works["torch product + top 50"] = torch_top(users, items)
    if has_peer("implicit"):
        works["implicit ranking_metrics_at_k"] = implicit_metrics(users, items, at)
    if has_peer("recometrics"):
        works["recometrics"] = recometrics_metrics(users, items, at)
    times = in_turn(works, rounds, slow={"recometrics": PART, "numpy argsort": PART})
    bare = min((n for n in times if n.startswith("bare")), key=lambda n: min(times[n]))
    checked = bool(
        (rank(scorer, at).above[::PART] == argsort_ranks(users, items, at)).mean() > 0.99
    )
    return summary(times, bare, "certified") | {"agrees with argsort on all but ties": checked}


def memory(rounds: int) -> dict[str, float]:
    setup = """
import numpy as np
from fullrank.scorers import FactorScorer
from fullrank.ranking import rank
random = np.random.default_rng(0)
users = random.standard_normal((4096, 64), np.float32)
items = random.standard_normal(({n_items}, 64), np.float32)
items *= np.exp(random.standard_normal(({n_items}, 1), np.float32))
scorer = FactorScorer(users, items)
rank(FactorScorer(users[:10], items[:1000]), ([0], [0]))
at = np.arange({n_users}), random.integers(0, {n_items}, {n_users})
"""
    return {
        f"{n_items:,} items, MB beyond the inputs": peak_megabytes(
            setup.format(n_items=n_items, n_users=n_users), "rank(scorer, at)"
        )
        for n_items, n_users in ((100_000, 4096), (1_000_000, 1024))
    }


def trained(rounds: int) -> dict[str, Any]:
    """Factors of implicit's ALS: lengths and directions are those of a real model."""
    from implicit.cpu.als import AlternatingLeastSquares

    train, test = read("gowalla")
    model = AlternatingLeastSquares(
        factors=D, iterations=8, regularization=0.05, alpha=10.0, random_state=0
    )
    with warnings.catch_warnings(), threadpool_limits(1, user_api="blas"):
        warnings.simplefilter("ignore")
        model.fit(sparse.csr_matrix(train.matrix()), show_progress=False)
    users = np.ascontiguousarray(model.user_factors)
    items = np.ascontiguousarray(model.item_factors)
    scorer = FactorScorer(users, items)
    at, seen = test.pairs(), train.matrix()
    shuffle = np.random.default_rng(0).permutation(at[0].size)
    first = shuffle[np.unique(at[0][shuffle], return_index=True)[1]]
    one = at[0][first], at[1][first]
    works: Work = {
        "bare product": lambda: bare_product(users[one[0]], items, 512, 512),
        "one target each": lambda: rank(scorer, one),
        "one target each, training items excluded": lambda: rank(scorer, one, exclude=seen),
        "all targets": lambda: rank(scorer, at),
        "all targets, training items excluded": lambda: rank(scorer, at, exclude=seen),
    }
    return summary(in_turn(works, rounds), "bare product", "one target each")


def item_item(name: str, rounds: int) -> dict[str, Any]:
    train, test = read(name)
    matrix = ease(train) if name == "ml-1m" else low_rank(train)
    scorer, history, kernel = ItemItemScorer(train, matrix), train.matrix(), product_kernel()
    works: Work = {
        f"product, own, strips of {width}": lambda w=width: own_product(scorer, kernel, w)
        for width in (256, 384, 512, 1 << 14)
    }
    works |= {
        "product, SciPy": lambda: scipy_product(history, matrix),
        "ranks": lambda: rank(scorer, test),
        "ranks, training items excluded": lambda: rank(scorer, test, exclude=train),
    }
    times = in_turn(works, rounds, slow={"product, SciPy": PART})
    bare = min((n for n in times if n.startswith("product")), key=lambda n: min(times[n]))
    return summary(times, bare, "ranks")


def bare_product(users: np.ndarray, items: np.ndarray, rows: int, columns: int) -> None:
    """Every tile of users · itemsᵀ into a buffer that is used again: no score is looked at."""

    def work(start: int) -> None:
        block = users[start : start + rows]
        buffer = np.empty(rows * columns, np.float32)
        for at in range(0, items.shape[0], columns):
            part = items[at : at + columns]
            shape = block.shape[0], part.shape[0]
            np.matmul(block, part.T, out=buffer[: shape[0] * shape[1]].reshape(shape))

    threads.run(work, range(0, users.shape[0], rows))


def argsort_ranks(users: np.ndarray, items: np.ndarray, at: Any) -> np.ndarray:
    greater = []
    for start in range(0, USERS, PART * 128):
        rows = np.arange(start, min(start + PART * 128, USERS), PART)
        order = np.argsort(-(users[rows] @ items.T), axis=1)
        greater.append((order == at[1][rows, None]).argmax(axis=1))
    return np.concatenate(greater)


def torch_top(users: np.ndarray, items: np.ndarray) -> Callable[[], None]:
    import torch

    torch.set_num_threads(threads.n_threads(None))
    left, right = torch.from_numpy(users), torch.from_numpy(items)

    def work() -> None:
        for start in range(0, USERS, 256):
            torch.topk(left[start : start + 256] @ right.T, 50, dim=1)

    return work


def implicit_metrics(users: np.ndarray, items: np.ndarray, at: Any) -> Callable[[], Any]:
    from implicit.cpu.als import AlternatingLeastSquares
    from implicit.evaluation import ranking_metrics_at_k

    shape = users.shape[0], items.shape[0]
    model = AlternatingLeastSquares(factors=D)
    model.user_factors, model.item_factors = users, items
    train = sparse.csr_matrix(shape, dtype=np.float32)
    test = sparse.csr_matrix((np.ones(USERS, np.float32), at), shape=shape)
    return lambda: ranking_metrics_at_k(
        model, train, test, K=50, show_progress=False, num_threads=threads.n_threads(None)
    )


def recometrics_metrics(users: np.ndarray, items: np.ndarray, at: Any) -> Callable[[], Any]:
    import recometrics

    part = np.arange(0, USERS, PART)
    shape = part.size, items.shape[0]
    train = sparse.csr_matrix(shape, dtype=np.float32)
    pairs = np.arange(part.size), at[1][part]
    test = sparse.csr_matrix((np.ones(part.size, np.float32), pairs), shape=shape)
    chosen = np.ascontiguousarray(users[part])
    return lambda: recometrics.calc_reco_metrics(
        train, test, chosen, items, k=50, nthreads=threads.n_threads(None)
    )


def own_product(scorer: ItemItemScorer, kernel: Any, width: int) -> None:
    """History × matrix in float32, eight rows at a time, nothing kept: the best we know."""

    def work(block: tuple[int, int]) -> None:
        start, first = block
        stop = min(start + width, scorer.n_items)
        kernel(
            scorer.history_indptr[first : first + 257], scorer.history_indices,
            scorer.history_values, scorer.matrix, start, np.empty(stop - start, np.float32),
        )  # fmt: skip

    strips, batches = range(0, scorer.n_items, width), range(0, scorer.n_users, 256)
    threads.run(work, [(strip, batch) for strip in strips for batch in batches])


def product_kernel() -> Any:
    import numba

    @numba.njit(nogil=True, fastmath={"contract", "reassoc"})
    def products(indptr, indices, values, matrix, start, total):  # type: ignore[no-untyped-def]
        stop = start + total.size
        for a in range(indptr.size - 1):
            total[:] = 0
            first, last = indptr[a], indptr[a + 1]
            for p in range(first, last - 7, 8):
                h, x = indices[p : p + 8], values[p : p + 8]
                r0, r1 = matrix[h[0], start:stop], matrix[h[1], start:stop]
                r2, r3 = matrix[h[2], start:stop], matrix[h[3], start:stop]
                r4, r5 = matrix[h[4], start:stop], matrix[h[5], start:stop]
                r6, r7 = matrix[h[6], start:stop], matrix[h[7], start:stop]
                x0, x1, x2, x3, x4, x5, x6, x7 = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
                for j in range(total.size):
                    s = x0 * r0[j] + x1 * r1[j] + x2 * r2[j] + x3 * r3[j]
                    total[j] += s + x4 * r4[j] + x5 * r5[j] + x6 * r6[j] + x7 * r7[j]
            for p in range(last - (last - first) % 8, last):
                row = matrix[indices[p], start:stop]
                for j in range(total.size):
                    total[j] += values[p] * row[j]

    return products


def scipy_product(history: Any, matrix: np.ndarray) -> None:
    """SciPy's sparse × dense, blocks of users in two threads (it lets go of the GIL)."""
    with ThreadPoolExecutor(threads.n_threads(None)) as pool:
        starts = range(0, history.shape[0], PART * 256)
        list(pool.map(lambda a: history[a : a + 256] @ matrix, starts))


def ease(train: Interactions) -> np.ndarray:
    history = train.matrix()
    gram = (history.T @ history).toarray().astype(np.float64)
    gram[np.diag_indices_from(gram)] += 1500.0
    inverse = np.linalg.inv(gram)
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0.0)
    return np.ascontiguousarray(weights, np.float32)


def low_rank(train: Interactions) -> np.ndarray:
    """A dense matrix of EASE's kind where the inverse itself would take an hour."""
    from scipy.sparse.linalg import svds

    _, singular, right = svds(train.matrix(), k=32, rng=0)
    factors = np.ascontiguousarray(right.T, np.float32)
    return (factors * (singular / (singular + 5.0)).astype(np.float32)) @ factors.T


def read(name: str) -> tuple[Interactions, Interactions]:
    import pyarrow.parquet as parquet

    table = parquet.read_table(Path(os.environ["FULLRANK_DATA"]) / f"{name}.parquet")
    users, items = (table[c].to_numpy() for c in ("user", "item"))
    test = table["split"].to_numpy(zero_copy_only=False) == "test"
    ids = {"user_ids": np.unique(users), "item_ids": np.unique(items)}
    return (
        Interactions.from_arrays(users[~test], items[~test], **ids),
        Interactions.from_arrays(users[test], items[test], **ids),
    )


def in_turn(works: Work, rounds: int, slow: dict[str, int] | None = None) -> dict[str, list[float]]:
    """Seconds of every round; those that did a part of the work are multiplied up."""
    for work in works.values():  # the first call compiles, loads and fills caches
        work()
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            times[name].append((time.perf_counter() - start) * (slow or {}).get(name, 1))
    return times


def summary(times: dict[str, list[float]], bare: str, ours: str) -> dict[str, Any]:
    """Medians and least times, each over the bare product's and over ours."""
    result: dict[str, Any] = {"product": bare}
    for label, pick in (("median", statistics.median), ("least", min)):
        seconds = {name: pick(values) for name, values in times.items()}
        result[label] = {
            name: {
                "seconds": round(value, 4),
                "over the product": round(value / seconds[bare], 3),
                f"over {ours}": round(value / seconds[ours], 3),
            }
            for name, value in seconds.items()
        }
    return result


if __name__ == "__main__":
    main()
