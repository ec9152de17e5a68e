"""A sample size that no rank comes near is questioned, in every result, and a right one is not."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import fullrank as fr
from fullrank.designs import Uniform
from fullrank.inference import bounds, compare, estimate, explain, plan
from fullrank.inference.estimation.doubts import size_doubt, size_doubts
from fullrank.samples import RankSample, simulate

N = 18_000
TRUE = np.ceil(N * np.random.default_rng(0).random(6000) ** 2.5).astype(int).clip(1)
SAYS = "No rank exceeds 100 among 1,000 candidates: check the sample size."


def drawn(size: int, said: int, true: np.ndarray = TRUE, n_items: int = N) -> RankSample:
    """Ranks among `size` candidates that are said to be among `said`."""
    rows = simulate(true, n_items=n_items, design=Uniform(size, replacement=True), rng=0).rows
    assert rows is not None
    user = np.arange(rows.rank.size)
    return RankSample.from_ranks(
        rows.rank, sample_size=said, n_items=n_items, design="sampled:replacement=true", user=user
    )


WRONG, RIGHT = drawn(100, 1000), drawn(100, 100)


@pytest.mark.parametrize("size", [10, 20, 50, 100, 101, 500])
def test_a_size_that_is_too_large_is_questioned(size: int) -> None:
    assert size_doubt(drawn(size, 10 * size)) is not None
    assert size_doubt(drawn(size, size)) is None


def test_a_size_that_is_off_by_one_does_no_harm() -> None:
    assert size_doubt(drawn(100, 101)) is None


@pytest.mark.parametrize("size", [100, 1000])
def test_a_good_model_is_believed(size: int) -> None:
    """Its targets are in the top of the catalogue: the blur of the draws has no sharp end."""
    assert size_doubt(drawn(size, size, np.ceil(0.3 * TRUE).astype(int).clip(1))) is None


def test_a_model_that_is_nearly_perfect_looks_like_a_wrong_size() -> None:
    """Of 6,000 targets none is beyond a fifth of the candidates: that is for the user to know."""
    assert size_doubt(drawn(1000, 1000, np.ceil(0.05 * TRUE).astype(int).clip(1))) is not None
    steep = np.random.default_rng(1).geometric(0.1, 400)  # 99 at most, 1,000 said
    ranks = RankSample.from_ranks(
        steep, sample_size=1000, n_items=N, design="sampled:replacement=true"
    )
    assert size_doubt(ranks) is not None


def test_what_has_no_size_of_its_own_is_not_questioned() -> None:
    adaptive = simulate(TRUE, n_items=N, design="adaptive:levels=25/50/100", rng=0)
    assert size_doubt(adaptive) is None
    whole = RankSample.from_ranks(np.arange(1, 101).repeat(30), sample_size=1000, n_items=1000)
    assert size_doubt(whole) is None
    alike = RankSample.from_ranks(
        [50] * 90, sample_size=1000, n_items=N, design="sampled:replacement=true"
    )
    assert size_doubt(alike) is None  # too few to tell


def test_every_result_says_so() -> None:
    found = estimate(WRONG, metrics="recall@10")
    assert SAYS in found.diagnosis.notes
    assert f"▲ {SAYS}" in str(found)
    assert SAYS in str(compare({"a": WRONG, "b": WRONG}, "recall@10", rng=0))
    assert SAYS in str(bounds(WRONG, "recall@10"))
    assert SAYS in str(explain(WRONG, "recall@10"))
    planned = plan(
        "recall@10", pilot=WRONG, n_users=6000, margin="20%", designs=["sampled:100", "exact"]
    )
    assert SAYS in str(planned)
    assert planned.to_dict()["notes"] == [SAYS]
    report = fr.report({"a": found}, bounds=False)
    assert SAYS in report.notes_of(report.models[0])
    for right in (estimate(RIGHT, metrics="recall@10"), bounds(RIGHT, "recall@10")):
        assert "check the sample size" not in str(right)


def test_models_are_named_where_they_differ() -> None:
    assert size_doubts({"a": WRONG, "b": WRONG}) == (SAYS,)
    assert size_doubts({"a": RIGHT, "b": WRONG, "c": {}}) == (f"b: {SAYS}",)
    assert size_doubts([RIGHT, None]) == ()


def test_the_json_has_it() -> None:
    content: Any = json.loads(json.dumps(estimate(WRONG, metrics="recall@10").to_dict()))
    assert content["diagnosis"]["doubts"] == [SAYS]
