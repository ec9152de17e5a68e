"""The form of an outcome by strata: its checks, its likelihood, and its way through samples."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fullrank.designs.outcomes import Strata
from fullrank.errors import InputError
from fullrank.inference import bounds, estimate
from fullrank.samples import RankSample

STRATA = Strata(
    size=[[5, 20, 70]] * 4,
    drawn=[[5, 4, 2]] * 4,
    above=[[0, 0, 0], [2, 1, 0], [5, 4, 2], [1, 0, 1]],
)


def sample_of(strata: Strata) -> RankSample:
    return RankSample.from_ranks(
        strata.rank, sample_size=strata.sample_size, n_items=96, user=[1, 2, 3, 4], strata=strata
    )


def test_the_likelihood_is_the_share_of_all_draws() -> None:
    """Of every way to draw 2 of 4 and 1 of 3 items, those with as many above."""
    strata = Strata(size=[[4, 3]], drawn=[[2, 1]], above=[[1, 1]])
    for t in itertools.product(range(5), range(4)):
        held = [
            (sum(i < t[0] for i in first) == 1) and (sum(i < t[1] for i in second) == 1)
            for first in itertools.combinations(range(4), 2)
            for second in itertools.combinations(range(3), 1)
        ]
        assert strata.likelihood([t])[0] == pytest.approx(np.mean(held))


def test_one_stratum_is_a_rank_among_candidates() -> None:
    from fullrank.designs import Uniform

    strata = Strata(size=[[59]], drawn=[[9]], above=[[3]])
    chance = Uniform(10).probabilities_at([21], [4], [10], n_items=60)[0, 0]
    assert strata.likelihood([[20]])[0] == pytest.approx(chance)


def test_samples_keep_strata() -> None:
    sample = sample_of(STRATA)
    assert sample.stratified
    taken = sample.take(np.array([True, False, True, False]))
    assert taken.rows is not None
    assert taken.rows.strata is not None
    assert np.array_equal(taken.rows.strata.above, STRATA.above[[0, 2]])
    other = sample.take(np.array([False, True, False, True]))
    both = taken + other
    assert both.rows is not None
    assert both.rows.strata is not None
    assert np.array_equal(both.rows.strata.above, STRATA.above[[0, 2, 1, 3]])


def test_what_needs_uniform_draws_refuses_strata() -> None:
    sample = sample_of(STRATA)
    with pytest.raises(InputError, match=r"`sample`.*strata"):
        estimate(sample, metrics="recall@10")
    with pytest.raises(InputError, match=r"`ranks`.*strata"):
        bounds(sample, "recall@10")
    with pytest.raises(InputError, match=r"`rows`.*strata"):
        sample.without_rows()
    plain = RankSample.from_ranks([1, 2], n_items=96, design="sampled:12", user=[8, 9])
    with pytest.raises(InputError, match=r"design|strata"):
        sample + plain


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"drawn": [[6, 4, 2]] * 4}, r"`drawn`.*items in its stratum"),
        ({"above": [[0, 5, 0]] * 4}, r"`above`.*drawn"),
        ({"above": [[0, 0, 0]]}, r"`above`.*\(4, 3\).*\(1, 3\)"),
        ({"size": [5, 20, 70]}, r"`size`.*targets × strata"),
        ({"drawn_weight": [[1.0, 1.0, np.nan]] * 4}, r"`drawn_weight`.*finite"),
        ({"above": [[0, -1, 0]] * 4}, r"`above`.*at least 0"),
    ],
)
def test_impossible_strata(change: dict[str, object], says: str) -> None:
    given = {"size": STRATA.size, "drawn": STRATA.drawn, "above": STRATA.above}
    with pytest.raises(InputError, match=says):
        Strata(**{**given, **change})  # type: ignore[arg-type]


def test_strata_must_add_up() -> None:
    with pytest.raises(InputError, match=r"`strata`.*`rank`"):
        RankSample.from_ranks(
            STRATA.rank[::-1], sample_size=STRATA.sample_size, n_items=96, strata=STRATA
        )
