"""Fingerprints, the clock, shared memory for rows: the small parts under an evaluation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from fullrank._lib.fingerprints import file_fingerprint, fingerprint
from fullrank._lib.progress import Clock, duration
from fullrank.data.shards import ShardedTargets
from fullrank.evaluation.problem import added, usual_size
from fullrank.samples import RankSample
from fullrank.scorers import CallableScorer, FactorScorer, ItemItemScorer
from fullrank.scorers.user_files import at_rows


def scorer(kind: str, change: float = 0.0) -> Any:
    array = np.arange(12.0).reshape(4, 3)
    array[1, 2] += change
    if kind == "factors":
        return FactorScorer(array, np.ones((5, 3)), item_bias=np.zeros(5))
    if kind == "item-item":
        return ItemItemScorer(csr_array(np.eye(3)), csr_array(array[:3]))
    if kind == "closure":
        return CallableScorer(lambda users: np.tile(array[0] + change, (len(users), 1)), n_items=3)
    return array.tolist() if kind == "list" else array


@pytest.mark.parametrize("kind", ["factors", "item-item", "closure", "list", "array"])
def test_a_fingerprint_sees_one_number(kind: str) -> None:
    assert fingerprint(scorer(kind)) == fingerprint(scorer(kind))
    assert fingerprint(scorer(kind)) != fingerprint(scorer(kind, 1e-9))


def test_a_fingerprint_sees_types_and_shapes() -> None:
    array = np.zeros(6)
    different = [array, array.reshape(2, 3), array.astype(np.float32), array.tolist(), None, "x"]
    assert len({fingerprint(one) for one in different}) == len(different)
    assert fingerprint(array[::2]) == fingerprint(array[:3])


def test_what_cannot_be_looked_into_is_like_nothing_else() -> None:
    class Closed:
        def __reduce__(self) -> Any:
            raise TypeError("no")

    closed = Closed()
    assert fingerprint(closed) != fingerprint(closed)


WEIGHTS = np.ones(3)


def test_a_fingerprint_of_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    class Model:
        def __init__(self, weight: float) -> None:
            self.weight = np.full(2, weight)

        def scores(self, users: Any) -> Any:
            return self.weight[users]

        def __reduce__(self) -> Any:
            return float, (0.0,), self.weight

    different = [
        lambda users: np.sin(users),
        lambda users: np.cos(users),
        lambda users, *, scale=1.0: np.cos(users) * scale,
        lambda users, *, scale=2.0: np.cos(users) * scale,
        Model(1.0).scores,
        Model(2.0).scores,
    ]
    assert len({fingerprint(one) for one in different}) == len(different)
    assert fingerprint(Model(1.0).scores) == fingerprint(Model(1.0).scores)

    def of_global(users: Any) -> Any:
        return [WEIGHTS[user] for user in users]

    before = fingerprint(of_global)
    assert fingerprint(of_global) == before
    monkeypatch.setitem(globals(), "WEIGHTS", np.zeros(3))
    assert fingerprint(of_global) != before


def test_a_fingerprint_of_things_that_hold_themselves() -> None:
    def itself(n: int) -> int:
        return itself(n - 1) if n else 0

    ring: list[Any] = [1]
    ring.append(ring)
    other: list[Any] = [2]
    other.append(other)
    assert fingerprint(ring) == fingerprint(ring) != fingerprint(other)
    assert fingerprint(itself) == fingerprint(itself)


def test_a_fingerprint_is_the_same_in_another_process() -> None:
    """Code within code has an address, which is of no account."""
    code = (
        "from fullrank._lib.fingerprints import fingerprint\n"
        "print(fingerprint(lambda users: [(lambda u: u + 1)(u) for u in users]))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", before + code], stdout=subprocess.PIPE, check=True
        ).stdout
        for before in ("", "x = [object() for _ in range(9999)]\n")
    }
    assert len(found) == 1


def test_a_fingerprint_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a")
    one = file_fingerprint(path)
    path.write_bytes(b"b")
    assert file_fingerprint(path) != one


def left(times: list[float], done: list[int]) -> list[float | None]:
    now = iter(times)
    clock = Clock(lambda: next(now))
    return [clock.left(one, 1000) for one in done]


def test_the_time_left_is_that_of_the_work() -> None:
    # what an earlier run did tells nothing, nor does the first part, with everything that starts
    found = left([0.0, 4.0, 5.0, 6.0, 7.0], [300, 400, 500, 600, 700])
    assert found == [None, None, None, 4.0, 3.0]


def test_the_time_left_with_workers_that_start_together() -> None:
    times = [0.0, 12.0, 12.1, 14.0, 14.1, 16.0, 16.1, 18.0]
    found = left(times, [0, 50, 100, 150, 200, 250, 300, 350])
    assert found[:-1] == [None] * 7  # not the 0:02 that the second of them would tell
    assert found[-1] == 650 * 6.0 / 300


def test_durations() -> None:
    assert [duration(s) for s in (0.4, 59.6, 3599, 86400)] == ["0:00", "1:00", "59:59", "24:00:00"]


def test_rows_in_their_places_take_no_more_memory() -> None:
    rows = np.array([5, 2_000_000_000])
    table = at_rows(rows, np.array([[1.0, 2.0], [3.0, 4.0]], np.float32))
    assert table.shape == (2_000_000_001, 2)
    assert table[rows].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert table[7].tolist() == [0.0, 0.0]


def test_sizes_of_shards() -> None:
    assert [usual_size(n, 1e6) for n in (1, 10_000, 100_000, 10**9)] == [512, 512, 1563, 100_000]
    assert usual_size(100_000, 50_000) == 8000  # small shards would spend their time on items


def test_shards_add_up_in_order() -> None:
    parts = [RankSample.from_ranks([r], sample_size=9, n_items=99, user=[r]) for r in range(1, 8)]
    rows = added(parts).rows
    assert rows is not None
    assert rows.rank.tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_what_is_seen_goes_with_its_users() -> None:
    seen = csr_array(([1, 1, 1], ([2, 2, 7], [0, 4, 1])), (8, 5))
    targets = ShardedTargets.of(([2, 7, 9], [1, 1, 1])).excluding(seen)
    few, part = targets.part(targets.shards(2)[0])
    assert few.user.tolist() == [2, 7]
    assert few.item.tolist() == [1, 1]
    assert [part.indices[part.indptr[u] : part.indptr[u + 1]].tolist() for u in (2, 3, 7)] == [
        [0, 4],
        [],
        [1],
    ]
    _, none = targets.part(targets.shards(2)[1])  # beyond the last row: nothing is excluded
    assert none.indices.size == 0
