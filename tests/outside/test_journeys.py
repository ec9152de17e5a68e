"""What is registered from outside goes everywhere: from ranks to estimates, files and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank as fr
from fullrank.data import Split, simulate
from fullrank.evaluation import Evaluation, make_model
from fullrank.samples import RankSample

SETTINGS = {
    "design": {"design": "two_stage:20,second=150"},
    "estimator": {"method": "short_em"},
    "metric": {"metric": "rbp@20"},
    "model": {"models": ["cooccurrence:discount=0.3", "popularity"]},
    "scorer": {"models": ["exported:path={path}", "popularity"]},
}
USUAL: dict[str, Any] = {
    "design": "sampled:50", "method": "MLE", "metric": "ndcg@20", "models": ["ease", "popularity"],
}  # fmt: skip


@pytest.fixture(scope="module")
def split() -> Split:
    return simulate(n_users=150, n_items=200, mean_interactions=15).split("leave-one-out", rng=0)


@pytest.fixture(scope="module")
def exported(split: Split, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exported") / "factors.npz"
    random = np.random.default_rng(0)
    users, items = split.train.n_users, split.train.n_items
    np.savez(path, users=random.normal(size=(users, 4)), items=random.normal(size=(items, 4)))
    return path


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize("kind", SETTINGS)
def test_through_every_function(kind: str, split: Split, exported: Path, tmp_path: Path) -> None:
    how = USUAL | SETTINGS[kind]
    texts = [text.format(path=exported) for text in how["models"]]
    found = fr.evaluate(
        dict(zip("ab", texts, strict=True)), split, how["metric"], design=how["design"],
        method=how["method"], out=tmp_path / "run",
    )  # fmt: skip
    assert set(found.estimates) == {"a", "b"}
    again = Evaluation.read(tmp_path / "run")
    assert again.method == how["method"]
    assert again.estimates["a"].values == found.estimates["a"].values
    assert (tmp_path / "run" / "report.html").exists()

    made = make_model(texts[0])
    scorer = made.fit(split.train) if hasattr(made, "fit") else made
    design = how["design"]
    sample = fr.sample_ranks(scorer, split.test, exclude=split.train, design=design, rng=0)
    np.testing.assert_array_equal(sample.rank, found.samples["a"].rank)  # type: ignore[union-attr]

    metric, method = how["metric"], how["method"]
    one = fr.estimate(sample, metrics=metric, method=method, rng=0)
    assert one[metric] == pytest.approx(found.estimates["a"][metric], rel=1e-12)
    low, high = one.confidence_interval[metric]
    assert low < one[metric] < high
    assert metric in str(one)

    compared = fr.compare(found.samples, metric, method=method, rng=0)
    assert compared.estimate[0, 0] == pytest.approx(one[metric])
    assert compared.p_best.sum() == pytest.approx(1.0)

    planned = fr.plan(metric, pilot=sample, n_users=150, margin="50%", designs=[design, "exact"])
    assert design in {option.design.label for option in planned.options}
    for option in planned.options:  # which run as they are
        ran = fr.evaluate({"a": texts[0]}, split, metric, design=option.design, method=method)
        if option.design.label == design:
            assert ran.estimates["a"][metric] == pytest.approx(one[metric], rel=1e-12)
        else:
            assert ran.estimates["a"].method == "exact"

    sample.write(tmp_path / "sample.parquet")
    read = RankSample.read(tmp_path / "sample.parquet")
    assert read.design == sample.design
    assert fr.estimate(read, metrics=metric, method=method, rng=0)[metric] == one[metric]


@pytest.mark.usefixtures("loaded")
def test_bounds_of_a_metric_from_outside(split: Split) -> None:
    made = make_model("cooccurrence").fit(split.train)
    sample = fr.sample_ranks(made, split.test, exclude=split.train, design="sampled:50", rng=0)
    exact = fr.rank(made, split.test, exclude=split.train).metrics("rbp@20")["rbp@20"]
    low, high = fr.bounds(sample, "rbp@20")["rbp@20"]
    assert low <= exact <= high


@pytest.mark.usefixtures("loaded")
def test_a_model_from_outside_is_ranked_as_one_of_fullrank(split: Split) -> None:
    """Its item-item matrix is found by what it offers, and its ids are those of the data."""
    made = make_model("cooccurrence").fit(split.train)
    direct = fr.ItemItemScorer(split.train, made.weights_)
    ranks = [fr.rank(one, split.test, exclude=split.train).ranks for one in (made, direct)]
    np.testing.assert_array_equal(*ranks)
