"""Fingerprints, the clock, shared memory for rows: the small parts under an evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from fullrank.evaluation.clock import Clock, duration
from fullrank.evaluation.fingerprints import file_fingerprint, fingerprint
from fullrank.evaluation.problem import Targets, added, usual_size
from fullrank.evaluation.user_files import at_rows
from fullrank.ranking import CallableScorer, FactorScorer, ItemItemScorer
from fullrank.sampling import RankSample


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


def test_a_fingerprint_of_what_cannot_be_looked_into() -> None:
    class Closed:
        def __reduce__(self) -> Any:
            raise TypeError("no")

    assert fingerprint(Closed()) == fingerprint(Closed())


def test_a_fingerprint_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a")
    one = file_fingerprint(path)
    path.write_bytes(b"b")
    assert file_fingerprint(path) != one


def test_the_time_left_is_that_of_the_work() -> None:
    times = iter([0.0, 10.0, 11.0, 12.0])
    clock = Clock(lambda: next(times))
    assert clock.left(300, 1000) is None  # what an earlier run did tells nothing
    assert clock.left(400, 1000) == 60.0  # the first part, with everything that starts
    assert clock.left(500, 1000) == 5.0  # from then on at the speed that it goes
    assert clock.left(600, 1000) == 4.0


def test_durations() -> None:
    assert [duration(s) for s in (0.4, 59.6, 3599, 86400)] == ["0:00", "1:00", "59:59", "24:00:00"]


def test_rows_in_their_places_take_no_more_memory() -> None:
    rows = np.array([5, 2_000_000_000])
    table = at_rows(rows, np.array([[1.0, 2.0], [3.0, 4.0]], np.float32))
    assert table.shape == (2_000_000_001, 2)
    assert table[rows].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert table[7].tolist() == [0.0, 0.0]


def test_sizes_of_shards() -> None:
    assert [usual_size(n) for n in (1, 10_000, 100_000, 10**9)] == [512, 512, 1563, 100_000]


def test_shards_add_up_in_order() -> None:
    parts = [
        RankSample.from_ranks([r], sample_size=9, n_items=99, replacement=False, user=[r])
        for r in range(1, 8)
    ]
    rows = added(parts).rows
    assert rows is not None
    assert rows.rank.tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_what_is_seen_goes_with_its_users() -> None:
    seen = csr_array(([1, 1, 1], ([2, 2, 7], [0, 4, 1])), (8, 5))
    targets = Targets.of(([2, 7, 9], [1, 1, 1]), seen)
    (users, items), part = targets.part(targets.shards(2)[0])
    assert users.tolist() == [2, 7]
    assert items.tolist() == [1, 1]
    assert [part.indices[part.indptr[u] : part.indptr[u + 1]].tolist() for u in (2, 3, 7)] == [
        [0, 4],
        [],
        [1],
    ]
    _, none = targets.part(targets.shards(2)[1])  # beyond the last row: nothing is excluded
    assert none.indices.size == 0
