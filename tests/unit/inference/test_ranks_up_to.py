"""Ranks up to K in estimates and comparisons: the same bits within K, one sentence beyond it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fullrank.errors import InputError
from fullrank.estimators import anchored
from fullrank.inference import (
    Estimates,
    compare,
    estimate,
    explain,
    plan,
    pseudo_values,
    user_means,
)
from fullrank.inference.bounding.bounds import bounds
from fullrank.reporting import drawn_metrics, report
from fullrank.samples import ExactRanks, Seeds, simulate

N = 400
RANDOM = np.random.default_rng(5)
USERS = np.arange(500)
FULL = {
    name: ExactRanks.from_ranks(
        np.minimum(N, RANDOM.geometric(rate, 500)), n_items=N, user=USERS, item=0 * USERS
    )
    for name, rate in (("a", 0.04), ("b", 0.03))
}
KNOWN = {"a": FULL["a"].up_to(50), "b": FULL["b"].up_to(20)}
WITHIN = ("recall@10", "ndcg@20", "rr@5")


@pytest.mark.parametrize(
    "settings",
    [{}, {"uncertainty": "bootstrap", "n_resamples": 30, "rng": 0}, {"interval_for": "users"},
     {"confidence_level": None}],
)  # fmt: skip
def test_an_estimate_has_the_same_bits(settings: dict[str, Any]) -> None:
    for name in FULL:
        one, two = (estimate(ranks[name], WITHIN, **settings) for ranks in (KNOWN, FULL))
        assert one.values == two.values
        assert str(dict(one.standard_error)) == str(dict(two.standard_error))
        assert str(dict(one.confidence_interval)) == str(dict(two.confidence_interval))
        assert one.diagnosis.hits == two.diagnosis.hits
        assert one.distribution is None
    assert "up to rank 20" in str(one)


def test_several_models_in_one_table() -> None:
    found = estimate({**KNOWN, "c": FULL["a"]}, "recall@20")
    assert isinstance(found, Estimates)
    assert found["a"]["recall@20"] == found["c"]["recall@20"] == FULL["a"].metrics("recall@20")[
        "recall@20"
    ]  # fmt: skip


@pytest.mark.parametrize("test", ["t", "wilcoxon", "bootstrap", "randomization"])
def test_a_comparison_has_the_same_bits(test: str) -> None:
    mixed = {"a": KNOWN["a"], "b": FULL["b"]}
    found = [
        compare(ranks, WITHIN, test=test, n_resamples=100, rng=1) for ranks in (FULL, KNOWN, mixed)
    ]
    contents = [one.to_dict() for one in found]
    assert contents[0] == contents[1] == contents[2]


def test_unpaired_and_weighted() -> None:
    half = USERS < 200
    given = [{"a": ranks["a"].take(half), "b": ranks["b"].take(~half)} for ranks in (FULL, KNOWN)]
    one, two = (compare(ranks, "recall@10", rng=0).to_dict() for ranks in given)
    assert one == two


def test_users_values_and_means() -> None:
    one, two = (pseudo_values(ranks["a"], WITHIN) for ranks in (FULL, KNOWN))
    assert np.array_equal(one.values, two.values)
    means = [user_means(ranks["a"], "recall@10").to_dict() for ranks in (FULL, KNOWN)]
    assert means[0] == means[1]


def test_seeds_of_ranks_up_to_k() -> None:
    some = [Seeds({"1": ranks["a"], "2": ranks["b"]}) for ranks in (FULL, KNOWN)]
    one, two = (estimate(seeds, "recall@10") for seeds in some)
    assert one.values == two.values
    assert one.seeds == two.seeds
    assert dict(one.confidence_interval) == dict(two.confidence_interval)
    each = [compare({"s": seeds, "a": FULL["a"]}, "recall@10", rng=0).to_dict() for seeds in some]
    assert each[0] == each[1]


@pytest.mark.filterwarnings("error")
def test_all_beyond() -> None:
    none = ExactRanks.from_ranks(np.full(60, np.nan), n_items=90, max_rank=5, user=range(60))
    found = estimate(none, "recall@5")
    low, high = found.confidence_interval["recall@5"]
    assert (found["recall@5"], low) == (0.0, 0.0)
    assert 0.0 < high < 0.2
    assert found.marked("recall@5")
    both = compare({"none": none, "same": none}, "recall@5", rng=0)
    assert both.p_best.tolist() == [[0.5], [0.5]]
    one = estimate(ExactRanks.from_ranks([np.nan], n_items=90, max_rank=5), "recall@5")
    assert one["recall@5"] == 0.0


SAMPLE = simulate(FULL["a"].with_ties("worst").ranks, n_items=N, design="sampled:20", rng=0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: estimate(KNOWN["b"], "recall@21"), r"`metrics`.*20.*recall@21.*exact:21"),
        (lambda: estimate(KNOWN["b"], "recall@5", also="auc"), r"`metrics`.*20.*auc.*without"),
        (lambda: compare(KNOWN, "recall@30"), r"`metrics`.*20.*ranks of b.*recall@30.*exact:30"),
        (lambda: compare(KNOWN, "mrr"), r"`metrics`.*50.*ranks of a.*mrr.*without"),
        (lambda: user_means(KNOWN["b"], "rr"), r"`metrics`.*20.*rr.*without"),
        (lambda: pseudo_values(KNOWN["b"], "ap"), r"`metrics`.*20.*ap.*without"),
        (lambda: explain(KNOWN["b"], "hr@5"), r"`ranks`.*without a limit.*\b20\b"),
        (lambda: bounds(KNOWN["b"], "hr@5"), r"`ranks`.*sampled candidates"),
        (lambda: plan("hr@5", pilot=KNOWN["b"], n_users=90), r"`pilot`.*limit.*\b20\b"),
        (lambda: plan("hr@5", pilot=[SAMPLE, KNOWN["b"]], n_users=90), r"`pilot`.*limit.*\b20\b"),
        (lambda: plan("hr@9", n_items=90, shape=0.3, n_users=90, margin="5%",
                      designs=["exact:5"]), r"`metrics`.*exact:5.*hr@9"),
        (lambda: anchored(SAMPLE, KNOWN["b"]), r"`anchor`.*without a limit.*\b20\b"),
        (lambda: estimate(SAMPLE, "hr@5", anchor=KNOWN["b"]), r"`anchor`.*without a limit.*\b20\b"),
        (lambda: simulate(KNOWN["b"].ranks, n_items=N, design="sampled:9"), r"`true_ranks`.*nan"),
    ],
)  # fmt: skip
def test_what_needs_more_is_refused(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        call()


def test_a_plain_array_with_the_design() -> None:
    found = estimate([1, np.nan, 3, 12], "recall@10", n_items=N, design="exact:10")
    assert found["recall@10"] == 0.5


def test_default_metrics_end_at_the_smallest_max_rank() -> None:
    ranks = {"a": FULL["a"].up_to(5), "b": FULL["b"]}
    names = ["recall@5", "ndcg@5"]
    assert list(estimate(ranks["a"]).values) == list(estimate(ranks)["b"].values) == names
    assert list(compare(ranks).metrics) == names
    assert list(pseudo_values(ranks["a"]).metrics) == names
    assert [one.name for one in drawn_metrics(ranks.values())][-1] == "recall@5"
    assert "ndcg@5" in str(report(ranks))
    assert list(estimate({"b": FULL["b"]})["b"].values) == ["recall@10", "ndcg@10"]
