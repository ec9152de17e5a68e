"""Interactions from frames and files, beside pandas' factorize and SciPy's sparse matrices.

Both make the same compressed rows of the same ids: numbers with gaps in random order, and text.
Goals, at the largest size: no slower than pandas and SciPy, no more memory, and time that grows
with the interactions (ten times as many take at most fifteen times as long).

    python benchmarks/data.py [rounds] [interactions]
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import in_turn, peak_megabytes, report
from scipy.sparse import csr_array

from fullrank.data import Interactions

LARGEST = 10**7


def pairs(n: int) -> dict[str, np.ndarray]:
    """Distinct pairs of popular and rare items in random order, about 50 to a user."""
    rng = np.random.default_rng(0)
    n_users, n_items = max(n // 50, 10), max(n // 400, 100)
    draws = int(1.3 * n)
    users = rng.integers(0, n_users, draws)
    items = (rng.random(draws) ** 2 * n_items).astype(np.int64)
    key = rng.permutation(np.unique(users * n_items + items))[:n]
    return {"user": 7 * (key // n_items) + 3, "item": 3 * (key % n_items) + 1}


def as_text(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: np.char.add(f"{name}-", ids.astype(str)) for name, ids in columns.items()}


def by_pandas(frame: pd.DataFrame) -> tuple[csr_array, Any, Any]:
    """What one writes by hand; sorted, so that both give the same rows."""
    users, user_ids = pd.factorize(frame["user"], sort=True)
    items, item_ids = pd.factorize(frame["item"], sort=True)
    shape = (len(user_ids), len(item_ids))
    matrix = csr_array((np.ones(users.size, np.float32), (users, items)), shape=shape)
    matrix.sum_duplicates()
    return matrix, user_ids, item_ids


def by_pandas_from_parquet(path: Path) -> tuple[csr_array, Any, Any]:
    return by_pandas(pd.read_parquet(path))


def same(data: Interactions, theirs: tuple[csr_array, Any, Any]) -> bool:
    matrix, user_ids, item_ids = theirs
    return (
        np.array_equal(data.indptr, matrix.indptr)
        and np.array_equal(data.indices, matrix.indices)
        and np.array_equal(data.user_ids, np.asarray(user_ids))
        and np.array_equal(data.item_ids, np.asarray(item_ids))
    )


_SETUP = """
import numpy as np, pandas as pd, pyarrow.parquet as pq
from scipy.sparse import csr_array
from fullrank.data import Interactions
def by_pandas(frame):
    users, user_ids = pd.factorize(frame["user"], sort=True)
    items, item_ids = pd.factorize(frame["item"], sort=True)
    matrix = csr_array((np.ones(users.size, np.float32), (users, items)))
    matrix.sum_duplicates()
path = {path!r}
"""


def main(rounds: int = 5, largest: int = LARGEST) -> None:
    sizes = [largest // 100, largest // 10, largest]
    with tempfile.TemporaryDirectory() as folder:
        work: dict[str, Any] = {}
        paths, equal = {}, {}
        for n in sizes:
            paths[n] = Path(folder, f"{n}.parquet")
            table = pa.table(pairs(n))
            pq.write_table(table, paths[n])
            frame = table.to_pandas()
            equal[n] = same(Interactions.from_frame(frame), by_pandas(frame))
            work[f"from_frame, {n:.0e}"] = partial(Interactions.from_frame, frame)
            work[f"pandas frame, {n:.0e}"] = partial(by_pandas, frame)
            work[f"from_parquet, {n:.0e}"] = partial(Interactions.from_parquet, paths[n])
            work[f"pandas parquet, {n:.0e}"] = partial(by_pandas_from_parquet, paths[n])
            work[f"pyarrow reads parquet, {n:.0e}"] = partial(pq.read_table, paths[n])
        n_text = sizes[1]
        text = pa.table(as_text(pairs(n_text))).to_pandas()
        equal["text"] = same(Interactions.from_frame(text), by_pandas(text))
        work[f"from_frame, text, {n_text:.0e}"] = partial(Interactions.from_frame, text)
        work[f"pandas frame, text, {n_text:.0e}"] = partial(by_pandas, text)
        seconds = in_turn(work, rounds)
        setup = _SETUP.format(path=str(paths[largest]))
        peaks = {
            "from_parquet": peak_megabytes(setup, "Interactions.from_parquet(path)"),
            "pandas": peak_megabytes(setup, "by_pandas(pd.read_parquet(path))"),
        }
    report(
        "data",
        {
            "rounds": rounds,
            "equal": {f"{n:.0e}" if n != "text" else n: bool(is_) for n, is_ in equal.items()},
            "median_seconds": {name: round(value, 4) for name, value in seconds.items()},
            "pandas_over_ours": _ratios(seconds, sizes, n_text),
            "ten_times_as_many": {
                kind: round(
                    seconds[f"{kind}, {largest:.0e}"] / seconds[f"{kind}, {sizes[1]:.0e}"], 1
                )
                for kind in ("from_frame", "from_parquet", "pyarrow reads parquet")
            },
            "peak_megabytes": peaks,
            "goals": {"pandas_over_ours": 1.0, "ten_times_as_many": 15},
        },
    )


def _ratios(seconds: dict[str, float], sizes: list[int], n_text: int) -> dict[str, float]:
    pairs_of = {
        f"frame, {n:.0e}": (f"pandas frame, {n:.0e}", f"from_frame, {n:.0e}") for n in sizes
    }
    pairs_of |= {
        f"parquet, {n:.0e}": (f"pandas parquet, {n:.0e}", f"from_parquet, {n:.0e}") for n in sizes
    }
    pairs_of["text"] = (f"pandas frame, text, {n_text:.0e}", f"from_frame, text, {n_text:.0e}")
    return {name: round(seconds[one] / seconds[two], 2) for name, (one, two) in pairs_of.items()}


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
