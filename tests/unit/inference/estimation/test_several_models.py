"""Several models in one table, and further metrics from one fit."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.designs import Uniform
from fullrank.errors import InputError
from fullrank.inference import Estimates, estimate
from fullrank.samples import RankSample, simulate

TRUE = np.ceil(3000 * np.random.default_rng(0).random(600) ** 3).astype(int)
SAMPLES = {
    name: simulate(TRUE, n_items=3000, design=Uniform(size, excluded=True), rng=0)
    for name, size in (("few", 100), ("many", 500))
}


def test_a_mapping_gives_each_model_what_it_gets_alone() -> None:
    found = estimate(SAMPLES, metrics="recall@100, ndcg@10")
    assert isinstance(found, Estimates)
    assert list(found) == ["few", "many"]
    assert len(found) == 2
    for name, sample in SAMPLES.items():
        assert found[name].values == estimate(sample, metrics="recall@100, ndcg@10").values
    assert str(found).startswith(
        "few: 600 targets ranked among 100 of 3,000 items, target included"
    )
    assert found.to_markdown().splitlines()[0].startswith("| model | recall@100 | 95 % CI | ndcg")
    assert found.to_latex().count(r"\\") == 3
    assert "<td>many</td>" in found._repr_html_()
    assert [one["model"] for one in found.to_dict()["models"]] == ["few", "many"]
    with pytest.raises(InputError, match=r"`model`.*'few', 'many'.*'none'"):
        found["none"]


def test_one_model_is_printed_as_its_estimate() -> None:
    alone = estimate(SAMPLES["few"], metrics="recall@10")
    assert str(estimate({"few": SAMPLES["few"]}, metrics="recall@10")) == str(alone)


def test_arrays_by_name() -> None:
    found = estimate(
        {"a": [1, 2, 30], "b": [4, 5, 6]}, design="sampled:100,replacement=true", n_items=3000
    )
    assert found["b"].n_targets == 3


@pytest.mark.parametrize("given", [{}, {3: SAMPLES["few"]}])
def test_names_are_needed(given: dict[str, RankSample]) -> None:
    with pytest.raises(InputError, match=r"`ranks`.*model names"):
        estimate(given)


def test_further_metrics_change_nothing_and_come_from_the_same_fit() -> None:
    plain = estimate(SAMPLES["few"], metrics="recall@100")
    found = estimate(SAMPLES["few"], metrics="recall@100", also="recall@50, recall@100, ndcg@20")
    assert list(found.values) == ["recall@100"]
    assert found.values == plain.values
    assert str(found) == str(plain)
    assert list(found.also) == ["recall@50", "ndcg@20"]
    value, ends = found.also["recall@50"]
    assert found.distribution is not None
    assert value == found.distribution.metric("recall@50")
    assert ends.low < value < ends.high


def test_further_metrics_of_several_targets_have_no_intervals() -> None:
    user = np.repeat(np.arange(40), 2)
    sample = RankSample.from_ranks(
        np.sort(np.random.default_rng(0).integers(1, 60, (40, 2)), axis=1).ravel() + user % 2,
        sample_size=100,
        n_items=500,
        design="sampled:replacement=true",
        user=user,
        n_targets=np.full(80, 2),
        offset=np.tile([0, 1], 40),
    )
    found = estimate(sample, metrics="recall@50", also="recall@100")
    value, ends = found.also["recall@100"]
    assert value >= found["recall@50"]
    assert np.isnan(ends.low)
    assert np.isfinite(found.confidence_interval["recall@50"].low)


def test_bounds_beside_an_estimate() -> None:
    found = estimate(SAMPLES, metrics="recall@100").with_bounds()
    assert "Bounds: the smallest and largest values consistent with" in found.to_latex()
    for row in found.to_arrow().to_pylist():
        assert row["bound_low"] <= row["estimate"] <= row["bound_high"]
    assert "bounds" in str(found).splitlines()[3]
    assert found.to_dict()["models"][0]["contradicted"] is None
