"""Scorers: what they return, for which arguments, and what they refuse."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest
from scipy.sparse import csr_array

from fullrank.data import Interactions
from fullrank.errors import InputError
from fullrank.ranking import rank
from fullrank.scorers import (
    CallableScorer,
    FactorScorer,
    ItemItemScorer,
    ScoreArray,
    Scorer,
    as_scorer,
)
from fullrank.scorers.scorer import score_block


def by_index(users, items, bias=None):
    """The definition: float64, terms in index order, the bias last."""
    out = np.zeros((len(users), len(items)))
    for k in range(users.shape[1]):
        out += users[:, k, None].astype(np.float64) * items[None, :, k].astype(np.float64)
    return out if bias is None else out + bias


@pytest.fixture
def factors():
    random = np.random.default_rng(1)
    return random.normal(size=(6, 5)), random.normal(size=(40, 5)), random.normal(size=40)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_factor_scores_are_sums_in_index_order(factors, dtype):
    users, items, bias = (x.astype(dtype) for x in factors)
    scorer = FactorScorer(users, items, item_bias=bias)
    wide = np.float32 if dtype == np.float16 else dtype
    assert scorer.item_factors.dtype == wide
    expected = by_index(users.astype(wide), items.astype(wide), bias.astype(np.float64))
    np.testing.assert_array_equal(scorer.scores(np.arange(6)), expected)


def test_the_block_changes_no_score(factors):
    users = factors[0].astype(np.float32)
    random = np.random.default_rng(2)
    scorer = FactorScorer(users, random.normal(size=(700, 5)).astype(np.float32))
    whole = scorer.scores(np.arange(6))
    rows = random.integers(0, 700, (6, 30))
    np.testing.assert_array_equal(scorer.scores([3]), whole[[3]])
    np.testing.assert_array_equal(scorer.scores([4, 0], [9, 600, 2]), whole[[4, 0]][:, [9, 600, 2]])
    np.testing.assert_array_equal(
        scorer.scores(np.arange(6), rows), np.take_along_axis(whole, rows, axis=1)
    )


def test_user_bias_is_added_last(factors):
    users, items, bias = factors
    scorer = FactorScorer(users, items, item_bias=bias, user_bias=np.arange(6))
    np.testing.assert_array_equal(
        scorer.scores([5, 2]), by_index(users, items, bias)[[5, 2]] + [[5.0], [2.0]]
    )


def test_cosine_divides_each_vector_by_its_length():
    scorer = FactorScorer([[3.0, 4.0]], [[6.0, 8.0], [8.0, -6.0], [0.0, 0.0]], similarity="cosine")
    np.testing.assert_allclose(scorer.scores([0]), [[1.0, 0.0, 0.0]], atol=1e-15)
    assert scorer.item_factors[2].tolist() == [0.0, 0.0]


def test_cosine_of_extreme_vectors():
    tiny, huge = np.full((1, 3), 1e-200), np.full((1, 3), 1e200)
    scorer = FactorScorer(tiny, np.concatenate([huge, -tiny]), similarity="cosine")
    np.testing.assert_allclose(scorer.scores([0]), [[1.0, -1.0]], rtol=1e-15)


def test_cosine_is_rounded_once_and_row_by_row():
    random = np.random.default_rng(0)
    items = random.normal(size=(5000, 7)).astype(np.float32)
    scorer = FactorScorer(items[:1], items, similarity="cosine")
    assert scorer.item_factors.dtype == np.float32
    alone = FactorScorer(items[:1], items[4100:4103], similarity="cosine")
    np.testing.assert_array_equal(scorer.item_factors[4100:4103], alone.item_factors)
    wide = items.astype(np.float64)
    expected = (wide / np.linalg.norm(wide, axis=1, keepdims=True)).astype(np.float32)
    np.testing.assert_allclose(scorer.item_factors, expected, rtol=2.0**-23)


def test_contiguous_factors_are_not_copied():
    users, items = np.ones((2, 3), np.float32), np.ones((4, 3), np.float32)
    scorer = FactorScorer(users, items)
    assert np.shares_memory(scorer.user_factors, users)
    assert np.shares_memory(scorer.item_factors, items)


def test_item_item_scores_dense_and_sparse(tmp_path):
    random = np.random.default_rng(3)
    history = csr_array(np.where(random.random((8, 30)) < 0.3, random.integers(1, 5, (8, 30)), 0))
    matrix = np.where(random.random((30, 30)) < 0.4, random.normal(size=(30, 30)), 0.0)
    matrix = matrix.astype(np.float32)
    expected = np.zeros((8, 30))
    for h in range(30):
        expected += history.toarray()[:, [h]] * matrix[h].astype(np.float64)
    dense, sparse = ItemItemScorer(history, matrix), ItemItemScorer(history, csr_array(matrix))
    rows = random.integers(0, 30, (8, 4))
    assert dense.history_values.dtype == np.float32  # whole numbers fit
    for scorer in (dense, sparse):
        np.testing.assert_array_equal(scorer.scores(np.arange(8)), expected)
        np.testing.assert_array_equal(scorer.scores([7, 1], [5, 29]), expected[[7, 1]][:, [5, 29]])
        np.testing.assert_array_equal(
            scorer.scores(np.arange(8), rows), np.take_along_axis(expected, rows, axis=1)
        )


def test_item_item_takes_interactions():
    data = Interactions.from_arrays([0, 0, 1], [0, 2, 1], value=[5.0, 3.0, 1.0])
    matrix = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(
        ItemItemScorer(data, matrix).scores([0, 1]), [matrix[0] + matrix[2], matrix[1]]
    )


def test_item_item_sums_what_is_stored_twice():
    history = csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    assert ItemItemScorer(history, np.eye(2)).scores([0]).tolist() == [[0.0, 3.0]]
    assert history.nnz == 2  # the input is left alone


def test_score_array_of_a_memory_map(tmp_path):
    scores = np.random.default_rng(0).normal(size=(5, 9)).astype(np.float32)
    np.save(tmp_path / "scores.npy", scores)
    scorer = as_scorer(tmp_path / "scores.npy")
    assert isinstance(scorer, ScoreArray)
    assert isinstance(scorer.array, np.memmap)
    np.testing.assert_array_equal(scorer.scores([4, 4, 0]), scores[[4, 4, 0]])
    np.testing.assert_array_equal(scorer.scores([1, 2], [8, 0]), scores[[1, 2]][:, [8, 0]])
    np.testing.assert_array_equal(scorer.scores([1, 2], [[8], [0]]), scores[[[1], [2]], [[8], [0]]])


def test_callables_of_users_and_items_and_of_users_alone():
    table = np.random.default_rng(0).normal(size=(4, 7))

    def pairs(users, items=None):
        if items is None:
            return table[users]
        return table[users[:, None], items]

    for scorer in (as_scorer(pairs, n_items=7), CallableScorer(lambda u: table[u], n_items=7)):
        np.testing.assert_array_equal(scorer.scores([3, 1]), table[[3, 1]])
        np.testing.assert_array_equal(scorer.scores([3, 1], [6, 2]), table[[3, 1]][:, [6, 2]])
        np.testing.assert_array_equal(
            scorer.scores([3, 1], [[6, 2], [0, 1]]), [table[3, [6, 2]], table[1, [0, 1]]]
        )
    assert as_scorer(pairs, n_items=7).n_users is None


def test_as_scorer_takes_scorers_models_and_arrays():
    scorer = ScoreArray([[1.0, 2.0]])

    class Model:
        def scorer(self):
            return scorer

    assert as_scorer(scorer) is scorer
    assert as_scorer(Model()) is scorer
    assert isinstance(as_scorer([[1, 2], [3, 4]]), ScoreArray)
    assert isinstance(scorer, Scorer)


def test_scores_are_cleaned_at_the_seam():
    half = score_block(ScoreArray(np.ones((1, 3), np.float16)), np.array([0]))
    whole = score_block(ScoreArray(np.ones((1, 3), np.int32)), np.array([0]))
    assert (half.dtype, whole.dtype) == (np.float32, np.float64)


@pytest.mark.parametrize(
    ("items", "item"), [(None, 2), (np.array([0, 2]), 2), (np.array([[1, 1], [2, 0]]), 2)]
)
def test_nan_names_user_and_item(items, item):
    scores = np.zeros((9, 3))
    scores[7, item] = np.nan
    with pytest.raises(InputError, match=r"user row 7\b.*item row 2\b.*NaN"):
        score_block(ScoreArray(scores), np.array([1, 7]), items)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: FactorScorer([1.0], [[1.0]]), r"`user_factors`.*array.*\(1,\)"),
        (lambda: FactorScorer([[1.0]], [["a"]]), r"`item_factors`.*array.*\(1, 1\)"),
        (lambda: FactorScorer([[1.0]], [[1.0, 2.0]]), "same number of columns, not 1 and 2"),
        (
            lambda: FactorScorer([[1.0]], [[1.0]], similarity="l2"),
            r"`similarity`.*'dot', 'cosine'.*'l2'",
        ),
        (
            lambda: FactorScorer([[1.0]], [[1.0]], item_bias=[1.0, 2.0]),
            r"`item_bias`.*\b1\b.*\b2\b",
        ),
        (
            lambda: FactorScorer([[1.0]], [[1.0]], item_bias=[np.nan]),
            r"`item_bias`.*1 of 1.*item_bias\[0\] = nan\b",
        ),
        (
            lambda: ItemItemScorer(csr_array((2, 3)), np.ones((3, 2))),
            r"`item_item`.*\(3, 3\)",
        ),
        (lambda: ItemItemScorer("abc", np.ones((3, 3))), r"`history`.*\bstr\b"),
        (lambda: ScoreArray([1.0, 2.0]), r"`array`.*scores.*\(2,\)"),
        (lambda: CallableScorer(3, n_items=2), r"`function`.*callable.*\bint\b"),
        (lambda: as_scorer(lambda u: u), r"`n_items`.*function"),
        (lambda: as_scorer(3.0), r"`scorer`.*\bfloat\b"),
        (lambda: as_scorer([[1.0]], n_items=2), r"`n_items`.*scorer.*\b2\b"),
        (lambda: as_scorer([[1.0]], n_users=2), r"`n_users`.*\b1\b.*\b2\b"),
        (lambda: as_scorer("nowhere.npy"), "nowhere.npy does not exist"),
        (
            lambda: as_scorer(lambda u, i: np.ones(3), n_items=3).scores([0]),
            r"`scorer`.*\(1, 3\).*\b1\b.*\b3\b",
        ),
        (
            lambda: ScoreArray([[1.0]]).scores([0, 1]),
            r"`user_rows`.*1 of 2.*user_rows\[1\] = 1\b",
        ),
        (
            lambda: ScoreArray([[1.0]]).scores([0], [1]),
            r"`item_rows`.*1 of 1.*item_rows\[0\] = 1\b",
        ),
        (
            lambda: ScoreArray([[1.0], [2.0]]).scores([0, 1], [[0], [4]]),
            r"`item_rows`.*1 of 2.*item_rows\[1, 0\] = 4\b",
        ),
        (
            lambda: ScoreArray([[1.0]]).scores([0], [[0], [0]]),
            r"`item_rows`.*dimension.*\(2, 1\)",
        ),
    ],
)
def test_refused(make, text):
    with pytest.raises(InputError, match=text):
        make()


def test_repr_says_the_size():
    assert repr(FactorScorer([[1.0]], [[1.0]])) == (
        "FactorScorer(1 users × 1 items, d=1, float64, dot)"
    )
    assert "dense float64" in repr(ItemItemScorer(csr_array((2, 3)), np.ones((3, 3))))
    assert repr(as_scorer(len, n_items=4)) == "CallableScorer(len, 4 items)"


def test_files_and_lists_that_hold_no_table(tmp_path):
    (tmp_path / "scores.npy").write_bytes(b"no array")
    with pytest.raises(InputError, match=r"`scorer`.*of numbers;.*scores\.npy"):
        as_scorer(tmp_path / "scores.npy")
    with pytest.raises(InputError, match=r"`array`.*one score"):
        as_scorer([[1.0, 2.0], [3.0]])


@pytest.mark.parametrize(("says", "threads"), [(True, 2), (False, 1)])
def test_a_scorer_that_says_so_is_asked_by_several_threads(says, threads, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    seen = set()
    together = threading.Barrier(threads, timeout=600)  # broken unless so many come at once

    class Slow:
        n_users, n_items, thread_safe = 40, 5, says

        def scores(self, user_rows, item_rows=None):
            seen.add(threading.get_ident())
            together.wait()
            return np.zeros((len(user_rows), 5))

    rank(Slow(), (np.arange(40), np.zeros(40, int)), batch_size=20)
    assert len(seen) == threads
