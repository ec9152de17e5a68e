"""Designs as text and in files, and designs of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from fullrank.designs import Adaptive, Design, Exact, Rounds, Uniform, design, register
from fullrank.errors import InputError
from fullrank.ranking import sample_ranks
from fullrank.samples import RankSample, sample_files, simulate

DESIGNS = [
    ("exact", Exact()),
    ("exact:10", Exact(10)),
    ("exact:10,order=popularity", Exact(10, order="popularity")),
    ("exact:ties=best", Exact(ties="best")),
    ("sampled", Uniform()),
    ("sampled:50", Uniform(50)),
    ("sampled:50,replacement=true,pool=unseen", Uniform(50, replacement=True, pool="unseen")),
    ("sampled:50,ties=worst,excluded=false", Uniform(50, ties="worst", excluded=False)),
    ("adaptive:25", Adaptive()),
    ("adaptive:25,limit=40", Adaptive(limit=40)),
    ("adaptive:25,growth=1.2345678,limit=400", Adaptive(growth=1.2345678, limit=400)),
    ("adaptive:10,limit=40,refine_rank=3", Adaptive(10, limit=40, refine_rank=3)),
    ("adaptive:10,limit=50,levels=10/15/50", Adaptive(levels=(10, 15, 50))),
]


@pytest.mark.parametrize(("text", "one"), DESIGNS)
def test_text_is_read_and_written_back(text: str, one: Design) -> None:
    assert str(one) == repr(one) == text
    assert Design.of(text) == one
    assert Design.of(one) is one
    assert Design.from_dict(json.loads(json.dumps(one.to_dict()))) == one


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("adaptive", Adaptive(25)),
        ("adaptive:limit=40", Adaptive(25, limit=40)),
        ("adaptive:levels=10/20/40", Adaptive(10, limit=40)),
        ("adaptive:levels=25", Adaptive(25, limit=25)),
        ("sampled:sample_size=50", Uniform(50)),
        ("exact:max_rank=10", Exact(10)),
        ("exact:10,order=norms", Exact(10, order="norms")),
        ("exact:10,ties=random,order=random", Exact(10, order="random", ties="random")),
    ],
)
def test_other_spellings(text: str, one: Design) -> None:
    assert Design.of(text) == one
    assert str(Design.of(text)) == str(one)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exakt", r"`design`.*'exact', 'adaptive', 'sampled'.*'exakt'"),
        ("sampled:size=3", r"`design`.*sample_size.*'size'"),
        ("sampled:5,sample_size=3", r"`design`.*'sampled:5,sample_size=3'"),
        ("exact:0", r"^`design`.*'exact:0': max_rank must.*\b0\b"),
        ("exact:10,order=size", r"^`design`.*order must.*'popularity'.*'size'"),
        ("exact:order=norms", r"^`design`.*max_rank must.*order"),
        ("sampled:0", r"^`design`.*'sampled:0': sample_size must.*\b0\b"),
        ("sampled:a", r"^`design`.*'sampled:a': sample_size must.*'a'"),
        ("sampled:ties=mean", r"^`design`.*: ties must.*'best', 'worst', 'random'.*'mean'"),
        ("adaptive:stop_rank=2", r"`design`.*refine_rank.*'stop_rank'"),
        (3, r"`design`.*'sampled:100'.*\b3\b"),
    ],
)
def test_texts_that_are_no_design(text: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Design.of(text)


def test_the_argument_is_named() -> None:
    with pytest.raises(InputError, match=r"`designs`.*'drawn'"):
        Design.of("drawn:3", argument="designs")


@pytest.fixture
def registry() -> Iterator[None]:
    """What a test registers is forgotten."""
    known = set(design.names())
    yield
    for name in set(design.names()) - known:
        design.unregister(name)


@dataclass(frozen=True)
class TwoStage(Design):
    """A design of one's own: three numbers and one method."""

    name: ClassVar[str] = "two_stage"
    main: ClassVar[str | None] = "first"
    first: int = 5
    second: int = 20
    last: int = 3

    def rounds(self, n_items: int, sample_size: int | None = None) -> Rounds:
        return Rounds((self.first, self.second), (self.last,), self.replacement)


@pytest.mark.usefixtures("registry")
def test_a_design_of_ones_own_goes_everywhere() -> None:
    register(TwoStage)
    text = "two_stage:5,last=2"
    assert str(Design.of(text)) == text
    same = Adaptive(levels=(5, 20), refine_rank=2)
    settings: dict[str, Any] = {"ties": "best", "rng": 0}
    scores = np.random.default_rng(0).normal(size=(50, 60))
    targets = (np.arange(50), np.argsort(-scores, axis=1)[:, 15])
    drawn, expected = (
        sample_ranks(scores, targets, design=one, **settings) for one in (text, same)
    )
    np.testing.assert_array_equal(drawn.rows.rank, expected.rows.rank)  # type: ignore[union-attr]
    np.testing.assert_array_equal(drawn.sample_size, expected.sample_size)
    assert np.unique(drawn.sample_size).tolist() == [5, 20]
    again = sample_files.from_json(sample_files.to_json(drawn))
    assert again.design == drawn.design  # type: ignore[union-attr]
    rank, size = Design.of(text).possible(60)
    np.testing.assert_array_equal(
        Design.of(text).probabilities_at([1, 7, 60], rank, size, n_items=60),
        same.probabilities_at([1, 7, 60], rank, size, n_items=60),
    )
    both = [simulate(range(1, 61), n_items=60, design=one, rng=1) for one in (text, same)]
    np.testing.assert_array_equal(both[0].rank, both[1].rank)
    assert isinstance(both[0] + both[0], RankSample)


@pytest.mark.usefixtures("registry")
def test_names_that_cannot_be_registered() -> None:
    register(TwoStage)
    register(TwoStage)  # a module that is loaded again
    other = type("Other", (TwoStage,), {})
    with pytest.raises(InputError, match=r"`name` must be unused.*'two_stage'"):
        register(other)
    with pytest.raises(InputError, match=r"`design`.*`name`"):
        register(type("Nameless", (TwoStage,), {"name": "two stage"}))
    with pytest.raises(InputError, match=r"`design`.*`name`"):
        register(int)  # type: ignore[arg-type]
