import re

import numpy as np
import pytest

from fullrank import metrics
from fullrank.errors import InputError


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("ndcg@10", "ndcg@10"),
        ("NDCG@10", "ndcg@10"),
        (" recall @ 5 ", "recall@5"),
        ("hr@10", "hit_rate@10"),
        ("hit-rate@10", "hit_rate@10"),
        ("MRR", "rr"),
        ("map@20", "ap@20"),
        ("capped recall@3", "capped_recall@3"),
        ("AUC", "auc"),
    ],
)
def test_text_is_read_and_written_back(text: str, canonical: str) -> None:
    metric = metrics.parse(text)
    assert str(metric) == metric.name == canonical
    assert metrics.parse(str(metric)) == metric
    assert metrics.parse(metric) is metric


def test_several_metrics_from_one_text() -> None:
    assert [m.name for m in metrics.parse_all("recall@1, ndcg@2")] == ["recall@1", "ndcg@2"]


def test_unknown_metric_lists_the_known_ones() -> None:
    with pytest.raises(InputError) as error:
        metrics.parse("f1@10")
    assert str(error.value) == (
        "`metric` must be one of recall, capped_recall, hit_rate, precision, ndcg, ap, rr, auc, "
        "with or without @K as in \"ndcg@10\", not 'f1@10'."
    )


@pytest.mark.parametrize("text", ["ndcg@", "ndcg@x", "ndcg@-1", "ndcg@1.5"])
def test_cut_off_must_be_a_number(text: str) -> None:
    with pytest.raises(InputError, match="`metric` must"):
        metrics.parse(text)


def test_cut_off_must_be_positive() -> None:
    with pytest.raises(
        InputError, match=r"^`metric` must have a cut-off of at least 1, not 'ap@0'\.$"
    ):
        metrics.parse("ap@0")


def test_metrics_must_not_be_empty() -> None:
    with pytest.raises(
        InputError, match=r"^`metrics` must name at least one metric; it is empty\.$"
    ):
        metrics.parse_all([])


def test_metrics_must_be_names() -> None:
    with pytest.raises(InputError, match=r'^`metrics` must be names such as "ndcg@10", not 7\.$'):
        metrics.parse_all(7)  # type: ignore[arg-type]


def test_factor_times_shape_is_the_gain() -> None:
    for name in metrics.names():
        metric = metrics.parse(f"{name}@7")
        rank, offset = np.array([1, 4, 7]), np.array([0, 1, 2])
        product = metric.factor(3, 50) * metric.shape(rank, 50, n_targets=3, offset=offset)
        if metric.first_only:
            product = np.where(offset == 0, product, 0.0)
        np.testing.assert_allclose(metric.gains(rank, 50, n_targets=3, offset=offset), product)


def test_recall_and_capped_recall_differ_only_where_there_are_more_targets_than_k() -> None:
    ranks, user = [1, 2, 3, 9], [0, 0, 0, 1]
    values = metrics.evaluate(
        ranks, ["recall@2", "capped_recall@2"], n_items=20, user=user, weight=[1, 0]
    )
    assert values == {"recall@2": pytest.approx(2 / 3), "capped_recall@2": 1.0}


def test_half_ranks_of_mean_ties_are_allowed() -> None:
    assert metrics.evaluate([10.5], "recall@10", n_items=20) == {"recall@10": 0.0}
    assert metrics.evaluate([2.5], "rr", n_items=20) == {"rr": 0.4}


def test_zero_based_ranks_are_named() -> None:
    ranks = np.arange(1, 6)
    ranks[3] = 0
    with pytest.raises(InputError) as error:
        metrics.evaluate(ranks, "recall@1", n_items=100)
    assert str(error.value) == (
        "`ranks` must lie in 1..100; 1 of 5 does not, the first being ranks[3] = 0.0. "
        "Ranks are 1-based."
    )


@pytest.mark.parametrize(
    ("ranks", "says"),
    [
        ([], "`ranks` must hold at least one rank; it is empty."),
        ([1.0, np.nan], "`ranks` must be finite; 1 of 2 is not, the first being ranks[1] = nan."),
        (["1"], "`ranks` must hold numbers, not <U1. Text must be parsed first."),
        ([[1], [2]], "`ranks` must be one-dimensional, not of shape (2, 1)."),
    ],
)
def test_bad_ranks(ranks: object, says: str) -> None:
    with pytest.raises(InputError) as error:
        metrics.evaluate(ranks, "recall@1", n_items=10)  # type: ignore[arg-type]
    assert str(error.value) == says


def test_bad_users_and_weights() -> None:
    with pytest.raises(InputError, match=r"^`user` must have one label for each rank, 2 in all"):
        metrics.evaluate([1, 2], "recall@1", n_items=10, user=[1])
    with pytest.raises(InputError, match=r"^`weight` must have 2 entries, not 1\.$"):
        metrics.evaluate([1, 2], "recall@1", n_items=10, weight=[1.0])
    with pytest.raises(InputError, match=r"^`weight` must be at least 0\.0; 1 of 2 is not"):
        metrics.evaluate([1, 2], "recall@1", n_items=10, weight=[1.0, -1.0])
    with pytest.raises(InputError, match=r"^`weight` must have a positive sum; all are 0\.$"):
        metrics.evaluate([1, 2], "recall@1", n_items=10, weight=[0.0, 0.0])


def test_offsets_count_the_other_targets_above() -> None:
    assert metrics.offsets([5, 1, 3, 2], [7, 7, 7, 8]).tolist() == [2, 0, 1, 0]


@pytest.mark.parametrize("ranks", [[1, 1], [10, 10], [2, 1, 2]])
def test_targets_of_a_user_need_places_of_their_own(ranks):
    with pytest.raises(InputError, match=r"^`ranks` must leave a place for every target of a user"):
        metrics.evaluate(ranks, "ap", n_items=10, user=[0] * len(ranks))


def test_targets_that_tie_share_the_mean_of_their_places():
    values = metrics.evaluate([1.5, 1.5], "ap, auc", n_items=10, user=["a", "a"])
    assert values == {"ap": 1.0, "auc": 1.0}


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ([[1], [2, 3]], "`user` must have one label for each rank, 2 in all, in one dimension."),
        ([None, 1], "`user` must hold whole numbers throughout, or text throughout."),
        ([1.0, np.nan], "`user` must be labels; 1 of 2 is not, the first being user[1] = nan."),
    ],
)
def test_bad_users(user, message):
    with pytest.raises(InputError, match=re.escape(message)):
        metrics.evaluate([1, 2], "ap", n_items=10, user=user)
