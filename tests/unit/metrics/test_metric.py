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
    assert metric.canonical == canonical
    assert metric == metrics.parse(canonical)
    assert str(metric) == metric.name == text.replace(" @ ", "@").strip()
    assert metrics.parse(str(metric)) == metric
    assert metrics.parse(metric) is metric


def test_several_metrics_from_one_text() -> None:
    assert [m.name for m in metrics.parse_all("recall@1, ndcg@2")] == ["recall@1", "ndcg@2"]


def test_unknown_metric_lists_the_known_ones() -> None:
    with pytest.raises(
        InputError,
        match=r"`metric`.*recall, capped_recall, hit_rate, precision, ndcg, ap, rr, auc.*'f1@10'",
    ):
        metrics.parse("f1@10")


@pytest.mark.parametrize("text", ["ndcg@", "ndcg@x", "ndcg@-1", "ndcg@1.5"])
def test_cut_off_must_be_a_number(text: str) -> None:
    with pytest.raises(InputError, match=rf"`metric`.*'{text}'"):
        metrics.parse(text)


def test_cut_off_must_be_positive() -> None:
    with pytest.raises(InputError, match=r"`metric`.*'ap@0'"):
        metrics.parse("ap@0")


def test_metrics_must_not_be_empty() -> None:
    with pytest.raises(InputError, match=r"`metrics`.*empty"):
        metrics.parse_all([])


def test_metrics_must_be_names() -> None:
    with pytest.raises(InputError, match=r'`metrics`.*"ndcg@10".*\b7\b'):
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
    with pytest.raises(InputError, match=r"`ranks`.*1 of 5.*ranks\[3\] = 0\.0\b"):
        metrics.evaluate(ranks, "recall@1", n_items=100)


@pytest.mark.parametrize(
    ("ranks", "says"),
    [
        ([], r"`ranks`.*empty"),
        ([1.0, np.nan], r"`ranks`.*1 of 2.*ranks\[1\] = nan\b"),
        (["1"], r"`ranks`.*<U1\b"),
        ([[1], [2]], r"`ranks`.*\(2, 1\)"),
    ],
)
def test_bad_ranks(ranks: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        metrics.evaluate(ranks, "recall@1", n_items=10)  # type: ignore[arg-type]


def test_bad_users_and_weights() -> None:
    with pytest.raises(InputError, match=r"`user`.*\b2\b.*\(1,\)"):
        metrics.evaluate([1, 2], "recall@1", n_items=10, user=[1])
    with pytest.raises(InputError, match=r"`weight`.*\b2\b.*\b1\b"):
        metrics.evaluate([1, 2], "recall@1", n_items=10, weight=[1.0])
    with pytest.raises(InputError, match=r"`weight`.*1 of 2.*weight\[1\] = -1\.0\b"):
        metrics.evaluate([1, 2], "recall@1", n_items=10, weight=[1.0, -1.0])
    with pytest.raises(InputError, match=r"`weight`.*sum.*\b0\b"):
        metrics.evaluate([1, 2], "recall@1", n_items=10, weight=[0.0, 0.0])


def test_offsets_count_the_other_targets_above() -> None:
    assert metrics.offsets([5, 1, 3, 2], [7, 7, 7, 8]).tolist() == [2, 0, 1, 0]


@pytest.mark.parametrize("ranks", [[1, 1], [10, 10], [2, 1, 2]])
def test_targets_of_a_user_need_places_of_their_own(ranks):
    with pytest.raises(
        InputError, match=r"`ranks`.*the targets of each user.*2 of [23].*ranks\[0\]"
    ):
        metrics.evaluate(ranks, "ap", n_items=10, user=[0] * len(ranks))


def test_targets_that_tie_share_the_mean_of_their_places():
    values = metrics.evaluate([1.5, 1.5], "ap, auc", n_items=10, user=["a", "a"])
    assert values == {"ap": 1.0, "auc": 1.0}


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ([[1], [2, 3]], r"`user`.*\b2\b.*one dimension"),
        ([None, 1], r"`user`.*only numbers or only text"),
        ([1.0, np.nan], r"`user`.*1 of 2.*user\[1\] = nan\b"),
    ],
)
def test_bad_users(user, message):
    with pytest.raises(InputError, match=message):
        metrics.evaluate([1, 2], "ap", n_items=10, user=user)


def test_values_are_found_under_any_spelling() -> None:
    values = metrics.ByMetric({"MRR@10": 0.25, "hit rate@5": 0.5})
    assert list(values) == ["MRR@10", "hit rate@5"]
    assert values["rr@10"] == values[metrics.parse("mrr@10")] == 0.25
    assert "HR@5" in values
    assert "rr@5" not in values
    assert "no metric" not in values
    assert values.get("ndcg@5") is None
    with pytest.raises(KeyError, match="ndcg"):
        values["ndcg"]
    assert metrics.named("reciprocal rank@10", values) == "MRR@10"
    with pytest.raises(InputError, match=r"`metric`.*'MRR@10'.*'ndcg'"):
        metrics.named("ndcg", values)


def test_one_metric_under_two_names_is_asked_for_once() -> None:
    (metric,) = metrics.parse_all("HR@10, hit_rate@10")
    assert metric.name == "HR@10"
    assert metric.word == "HR"


def test_a_metric_by_the_name_of_its_kind() -> None:
    assert metrics.recall(10) == metrics.parse("recall@10")
    assert metrics.auc() == metrics.parse("auc")
    with pytest.raises(AttributeError, match="f1"):
        metrics.f1  # noqa: B018
