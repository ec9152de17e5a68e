"""Laws of `fullrank.torch.counts` and `RankMetric` that hold for any block of scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from fullrank.torch import RankMetric, counts  # noqa: E402
from tests.unit.torch.brute_force import count_rows  # noqa: E402

VALUES = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, np.inf, -np.inf, np.nan])
NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, np.inf, -np.inf])
KINDS = st.sampled_from([torch.float16, torch.bfloat16, torch.float32, torch.float64])


@st.composite
def blocks(draw, values=VALUES):
    n_rows, n_items = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    row = st.lists(values, min_size=n_items, max_size=n_items)
    scores = draw(st.lists(row, min_size=n_rows, max_size=n_rows))
    width = draw(st.integers(1, min(3, n_items)))
    places = st.permutations(range(n_items))
    target = [draw(places)[:width] for _ in range(n_rows)]
    size = 4 if n_items == 3 else 3  # columns of the shape of the scores would look like a mask
    cells = st.lists(st.integers(-1, n_items - 1), min_size=size, max_size=size)
    excluded = draw(st.lists(cells, min_size=n_rows, max_size=n_rows))
    return torch.tensor(scores, dtype=draw(KINDS)), torch.tensor(target), torch.tensor(excluded)


@given(blocks())
def test_counts_are_those_of_a_loop(block):
    scores, target, excluded = block
    plain = scores.double().numpy()
    lists = [set(row) - {-1} for row in excluded.tolist()]
    mask = torch.zeros(scores.shape, dtype=torch.bool)
    for row, columns in enumerate(lists):
        mask[row, list(columns)] = True
    expected = count_rows(plain, target.numpy(), lists)
    for exclude in (excluded, mask, lists):
        np.testing.assert_array_equal(counts(scores, target, exclude=exclude).numpy(), expected)
    np.testing.assert_array_equal(counts(scores, target), count_rows(plain, target.numpy()))


@given(blocks(NUMBERS))
def test_targets_may_come_together_or_one_by_one(block):
    """In any order, and their ranks are all different places from 1 on."""
    scores, target, excluded = block
    together, apart = RankMetric("ndcg", ties="worst"), RankMetric("ndcg", ties="worst")
    users = torch.arange(len(scores))
    together.update(scores, target, users, exclude=excluded)
    for column in target.T.flip(0):
        apart.update(scores.flip(0), column.flip(0), users.flip(0), exclude=excluded.flip(0))
    one, other = together.exact(), apart.exact()
    for name in ("user", "item", "above", "equal", "candidates", "n_targets", "offset"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert together.compute() == apart.compute()
    assert (one.ranks <= one.candidates).all()
    for user in range(len(scores)):
        assert np.unique(one.with_ties("best").ranks[one.user == user]).size == target.shape[1]
