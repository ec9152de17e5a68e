"""Exact ranks: small cases worked by hand, and what is refused."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy.sparse import csr_array

from fullrank.data import Interactions
from fullrank.errors import InputError
from fullrank.ranking import rank
from fullrank.ranking.cpu import exact_kernels
from fullrank.ranking.cpu.factors import exact_factors
from fullrank.scorers import CallableScorer, FactorScorer, ItemItemScorer, MissingIdsError

SCORES = np.array([[0.9, 0.1, 0.5, 0.3, 0.7], [0.2, 0.4, 0.6, 0.8, 1.0]])


def test_one_target_per_user():
    result = rank(SCORES, ([0, 1], [2, 0]))
    assert result.ranks.tolist() == [3.0, 5.0]
    assert result.above.tolist() == [2, 4]
    assert result.equal.tolist() == [0, 0]
    assert result.candidates.tolist() == [5, 5]
    assert result.above.dtype == np.int64
    assert (result.ties, result.precision, result.pool) == ("mean", "exact", "all")
    assert result.seed is None


def test_results_come_in_the_order_of_the_targets():
    result = rank(SCORES, ([1, 0, 1], [0, 2, 3]))
    assert result.user.tolist() == [1, 0, 1]
    assert result.ranks.tolist() == [5.0, 3.0, 2.0]
    assert result.n_targets.tolist() == [2, 1, 2]
    assert result.offset.tolist() == [1, 0, 0]


def test_interactions_as_targets_and_as_exclude():
    test = Interactions.from_arrays([0, 1], [2, 0], user_ids=[0, 1], item_ids=[0, 1, 2, 3, 4])
    train = Interactions.from_arrays([0, 1], [0, 4], user_ids=[0, 1], item_ids=[0, 1, 2, 3, 4])
    result = rank(SCORES, test, exclude=train)
    assert result.ranks.tolist() == [2.0, 4.0]
    assert result.candidates.tolist() == [4, 4]
    assert result.pool == "unseen"


def test_a_target_in_exclude_stays_a_target_for_its_own_user_only():
    exclude = csr_array(np.array([[1, 0, 1, 0, 0], [0, 0, 1, 0, 0]]))
    result = rank(SCORES, ([0, 1], [2, 0]), exclude=exclude)
    assert result.candidates.tolist() == [4, 4]
    assert result.ranks.tolist() == [2.0, 4.0]
    both = rank(SCORES, ([0, 0], [2, 3]), exclude=exclude)
    assert both.ranks.tolist() == [2.0, 3.0]  # the target 2 still stands above the target 3


def test_exclude_may_be_unsorted_repeated_and_short():
    exclude = csr_array((np.ones(3), np.array([4, 0, 4]), np.array([0, 3])), shape=(1, 5))
    result = rank(SCORES, ([0, 1], [2, 0]), exclude=exclude)
    assert result.ranks.tolist() == [1.0, 5.0]
    assert result.candidates.tolist() == [3, 5]


@pytest.mark.parametrize("items", [[4, 0, 2], [True, False, True, False, True]])
def test_catalogue_restricted_to_given_items(items):
    result = rank(SCORES, ([0, 1], [2, 0]), items=items)
    assert result.ranks.tolist() == [3.0, 3.0]
    assert result.candidates.tolist() == [3, 3]
    exclude = csr_array(np.array([[1, 1, 0, 0, 0]]))  # 1 is not in the catalogue anyway
    assert rank(SCORES, ([0], [2]), items=items, exclude=exclude).candidates.tolist() == [2]


def test_infinite_scores_compare_as_usual():
    scores = np.array([[np.inf, -np.inf, 0.0, np.inf, -np.inf]])
    result = rank(scores, ([0, 0, 0], [0, 1, 2]), ties="worst")
    assert result.above.tolist() == [0, 1, 1]  # and the targets above are in `offset`
    assert result.equal.tolist() == [1, 1, 0]
    assert result.offset.tolist() == [0, 2, 1]


def test_metrics_of_several_targets_against_whole_lists():
    result = rank(SCORES, ([0, 0, 1], [2, 0, 3]))  # ranks 3 and 1; 2
    assert result.metrics("recall@1, precision@2, hit_rate@1") == {
        "recall@1": 0.25,
        "precision@2": 0.5,
        "hit_rate@1": 0.5,
    }
    assert result.metrics("ap")["ap"] == pytest.approx(((1 + 2 / 3) / 2 + 1 / 2) / 2)
    assert result.gains("rr").tolist() == [0.0, 1.0, 0.5]


def test_sample_of_exact_ranks():
    exclude = csr_array(np.array([[0, 1, 0, 0, 0]]))
    sample = rank(SCORES, ([0, 1, 1], [2, 4, 1]), exclude=exclude, ties="best").sample()
    rows = sample.rows
    assert rows.rank.tolist() == [3, 1, 3]  # of user 1's items above 1 two are no targets
    assert rows.sample_size.tolist() == [4, 4, 4]
    assert rows.n_items.tolist() == [4, 5, 5]
    assert rows.offset.tolist() == [0, 0, 1]
    assert (sample.design.pool, sample.design.replacement, sample.design.ties) == (
        "unseen", False, "best",
    )  # fmt: skip


def test_mean_ranks_make_no_sample():
    with pytest.raises(InputError, match=r'`ties`.*"best", "worst".*"random"'):
        rank([[1.0, 1.0, 0.0]], ([0], [0])).sample()


def test_result_is_frozen_and_prints_a_table():
    result = rank(SCORES, ([0, 1], [2, 0]))
    with pytest.raises(ValueError, match="read-only"):
        result.ranks[0] = 1
    assert str(result).splitlines() == [
        "exact ranks for 2 targets of 2 users among 5 items (ties: mean)",
        "median rank        4.0",
        "recall@10       1.0000",
        "ndcg@10         0.4434",
        "ap@10           0.2667",
        "auc             0.2500",
    ]
    assert result.to_dict()["columns"]["rank"] == [3.0, 5.0]
    assert result.to_arrow().column_names[:3] == ["user", "item", "rank"]


def test_result_is_a_frame(need):
    need("pandas")
    result = rank(SCORES, ([0, 1], [2, 0]))
    assert result.to_frame()["above"].tolist() == [2, 4]


def test_progress_counts_users():
    seen = []
    rank(SCORES, ([0, 1], [2, 0]), batch_size=1, progress=lambda *x: seen.append(x))
    assert seen == [(1, 2), (2, 2)]
    factors = FactorScorer(np.ones((7, 2)), np.ones((9, 2)))
    seen.clear()
    rank(factors, (np.arange(7), np.arange(7)), batch_size=3, progress=lambda *x: seen.append(x))
    assert [x[0] for x in seen][-1] == 7
    assert len(seen) == 3


def test_a_foreign_scorer_is_called_from_one_thread_unless_told_otherwise():
    import threading

    names = set()

    def scores(users):
        names.add(threading.current_thread().name)
        return SCORES[users]

    scorer = CallableScorer(scores, n_items=5)
    rank(scorer, ([0, 1], [2, 0]), batch_size=1)
    assert names == {threading.main_thread().name}


def test_nan_in_a_target_or_elsewhere_names_the_user():
    for column in (2, 4):
        scores = np.zeros((9, 5))
        scores[7, column] = np.nan
        with pytest.raises(InputError, match=rf"user row 7\b.*item row {column}\b.*NaN"):
            rank(scores, (np.arange(9), np.full(9, 2)))


@pytest.mark.parametrize("progress", [None, lambda done, total: None])
def test_the_first_user_is_named_whichever_thread_is_done_first(progress, monkeypatch):
    import threading

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    later = threading.Event()

    class Nothing:
        n_users, n_items, thread_safe = 40, 5, True

        def scores(self, user_rows, item_rows=None):
            if user_rows[0] > 0:
                later.set()
            later.wait()  # the first users come last
            return np.full((len(user_rows), 5), np.nan)

    with pytest.raises(InputError, match=r"user row 0\b.*item row 0\b.*NaN"):
        rank(Nothing(), (np.arange(40), np.zeros(40, int)), batch_size=20, progress=progress)


def test_nan_of_an_excluded_item_is_nobodys_business():
    scores = SCORES.copy()
    scores[0, 4] = np.nan
    exclude = csr_array(np.array([[0, 0, 0, 0, 1]]))
    assert rank(scores, ([0], [2]), exclude=exclude).ranks.tolist() == [2.0]
    with pytest.raises(InputError, match=r"user row 0\b.*item row 4\b.*NaN"):
        rank(scores, ([0], [2]))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_factors_that_are_not_finite(value):
    users, items = np.ones((3, 2), np.float32), np.ones((6, 2), np.float32)
    items[4] = value, 0.0
    users[1] = 0.0  # 0 × inf is NaN
    if np.isnan(value):
        with pytest.raises(InputError, match=r"user row 0\b.*item row 4\b.*NaN"):
            rank(FactorScorer(users, items), ([0], [2]))
    else:
        result = rank(FactorScorer(users, items), ([0, 2], [2, 4]), ties="best")
        assert result.ranks.tolist() == [2, 1]
        with pytest.raises(InputError, match=r"user row 1\b.*item row 4\b.*NaN"):
            rank(FactorScorer(users, items), ([0, 1, 2], [2, 2, 2]))


def test_double_precision_factors_of_lengths_below_one():
    """They need no scale, and are no float32 factors for all that."""
    users, items = np.array([[0.5, 0.25]]), np.array([[0.5, 0.5], [0.75, 0.25], [0.5, 0.75]])
    assert rank(FactorScorer(users, items), ([0], [0])).ranks.tolist() == [3.0]


@pytest.mark.parametrize("unit", [1.0, 2.0**600], ids=["ordinary", "huge"])
def test_biases_of_users_change_no_rank_whatever_the_order(unit):
    """Scores of up to 10 beside 10¹⁶ are rounded to even numbers; `unit` leaves the filter."""
    random = np.random.default_rng(1)
    users, items = random.normal(size=(60, 4)) / unit, random.normal(size=(90, 4)) * unit
    at = np.repeat(np.arange(60), 2), random.integers(0, 45, 120) + np.tile([0, 45], 60)
    full = rank(FactorScorer(users, items), at)
    scorer = FactorScorer(users, items, user_bias=np.full(60, 1e16))
    np.testing.assert_array_equal(rank(scorer, at).ranks, full.ranks)
    for order in (None, random.permutation(90), random.integers(0, 90, (60, 20))):
        found = rank(scorer, at, max_rank=30, order=order)
        np.testing.assert_array_equal(found.ranks, full.up_to(30).ranks)


@pytest.mark.parametrize("kind", ["integers", "singles"])
def test_biases_whose_product_with_a_length_vanishes(kind, monkeypatch):
    monkeypatch.setattr(exact_factors, "FILTER", kind)
    users, items = np.full((2, 3), 0.1, np.float32), np.zeros((5, 3), np.float32)
    items[4] = 1e-3
    scorer = FactorScorer(users, items, item_bias=[0, 5e-324, 5e-324, 1e-323, 0])
    assert rank(scorer, ([0, 1], [1, 0])).ranks.tolist() == [3.5, 5.0]


@pytest.mark.parametrize("size", [1e300, 1e-300, 5e-324])
@pytest.mark.parametrize("kind", ["integers", "singles"])
def test_biases_of_any_size_rank_items_whose_vectors_are_zero(kind, size, monkeypatch):
    monkeypatch.setattr(exact_factors, "FILTER", kind)
    for user in (0.0, 0.5):
        users, items = np.full((4, 3), user, np.float32), np.zeros((4, 3), np.float32)
        scorer = FactorScorer(users, items, item_bias=np.array([3, 2, 1, 0]) * size)
        assert rank(scorer, (np.arange(4), np.arange(4))).ranks.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_float32_factors_whose_scale_is_no_float32():
    users, items = np.full((2, 3), 1e-44, np.float32), np.ones((4, 3), np.float32)
    items[2] = 2
    with np.errstate(all="raise"):
        assert rank(FactorScorer(users, items), ([0, 1], [2, 0])).ranks.tolist() == [1.0, 3.0]


def test_lengths_are_not_too_short_where_squares_vanish():
    rows = np.full((3, 64), 2.0**-538)
    rows[0, 0] = 2.0**-537  # whose square is the least number, and those of the others are 0
    rows[2] = 0.0
    found = exact_kernels.lengths(rows, np.arange(3))
    exact = np.sqrt(np.sum((rows * 2.0**538) ** 2, axis=1)) * 2.0**-538
    assert (found >= exact).all()
    assert found[2] == 0.0


def test_item_item_matrices_that_are_not_finite():
    matrix = np.ones((6, 6), np.float32)
    matrix[0, 3], matrix[1, 3] = np.inf, -np.inf
    history = csr_array(np.array([[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]]))
    scorer = ItemItemScorer(history, matrix)
    assert rank(scorer, ([0, 0], [3, 5]), ties="best").ranks.tolist() == [1, 2]
    for target in (3, 5):
        with pytest.raises(InputError, match=r"user row 1\b.*item row 3\b.*NaN"):
            rank(scorer, ([0, 1], [5, target]))
    without = rank(scorer, ([1], [5]), items=[0, 1, 5])
    assert without.equal.tolist() == [2]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"targets": 3}, r"`targets`.*Interactions.*user_rows, item_rows.*\bint\b"),
        ({"targets": ([], [])}, r"`targets`.*empty"),
        ({"targets": ([0, 2], [1, 1])}, r"= 2. The values are row numbers of the scorer's users"),
        ({"targets": ([0, 1], [1, 5])}, r"= 5. The values are row numbers of the scorer's items"),
        ({"targets": ([0, 1], [1])}, r"`targets`.*\b2\b.*\b1\b"),
        (
            {"targets": ([0, 1, 0], [1, 2, 1])},
            "once per user; 1 of 3 is a repeat: item row 1 of user row 0",
        ),
        ({"exclude": [[1, 2]]}, r"`exclude`.*Interactions.*\blist\b"),
        ({"exclude": csr_array((1, 7)) + csr_array(np.eye(7)[6:])}, "`exclude`.*items.*5, not 7"),
        ({"items": [0, 1, 1, 2]}, r"`items`.*1 of 4"),
        ({"items": [0, 9]}, r"`items`.*1 of 2.*items\[1\] = 9\b"),
        ({"items": [0, 1]}, r"`targets`.*`items`.*1 of 1.*targets\[0\] = 2\b"),
        ({"items": []}, r"`items`.*empty"),
        ({"precision": "half"}, r"`precision`.*'exact', 'fast'.*'half'"),
        ({"batch_size": 0}, r"`batch_size`.*\b0\b"),
        ({"n_jobs": 0}, r"`n_jobs`.*\b0\b"),
        ({"progress": 3}, r"`progress`.*None, True.*\b3\b"),
        ({"rng": -1, "ties": "random"}, r"`rng`.*-1\b"),
    ],
)
def test_refused(arguments, text):
    call = {"targets": ([0], [2])} | arguments
    with pytest.raises(InputError, match=text):
        rank(SCORES, call.pop("targets"), **call)


def test_weights_count_users_by_what_they_stand_for() -> None:
    scores = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    at = np.array([0, 0, 1]), np.array([0, 1, 2])
    result = rank(scores, at, weight=[3.0, 3.0, 1.0], ties="best")
    # the first user has both targets in the top two, the second has none
    assert result.metrics("recall@2") == {"recall@2": 0.75}
    assert result.sample().weight.sum() == 7.0
    with pytest.raises(InputError, match=r"`weight`.*\b3\b.*\b1\b"):
        rank(scores, at, weight=[1.0])
    with pytest.raises(InputError, match=r"`weight`.*sum.*\b0\b"):
        rank(scores, at, weight=[0.0, 0.0, 0.0])


def test_a_separate_table_of_test_users_needs_ids(need):
    """Ids that are no rows are what is amiss, and not that fewer items occur in the table."""
    torch = need("torch")
    test = Interactions.from_arrays(["ann", "bob"], ["tea", "jam"])
    for model in (np.eye(3, 5), torch.nn.Embedding(3, 5)):
        with pytest.raises(MissingIdsError, match=r": use fr\.as_scorer\(model, user_ids=…"):
            rank(model, test)


def test_the_weight_that_differs_is_named_by_its_place() -> None:
    with pytest.raises(InputError, match=r"`weight` must be the same.*: weight\[2\] = 3\.?"):
        rank(np.eye(3), ([0, 1, 0], [0, 1, 2]), weight=[1.0, 2.0, 3.0])
