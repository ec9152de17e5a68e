"""The models of Tables 8–10 and 18: their settings, and the users that they are fitted on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np

from fullrank.data import Interactions
from fullrank.models import (
    CDAE,
    EASE,
    EDLAE,
    IALS,
    MF,
    SLIM,
    HeadTail,
    LowRankEDLAE,
    MultiDAE,
    MultiVAE,
    Sparsified,
)
from reproduction.linear_models.data import METRICS, TUNED_BY, Problem
from reproduction.linear_models.fits import Settings, Tried, best_of, tried
from reproduction.linear_models.nearby import rescaled

TRAIN, KNOWN = "training users", "training users and fold-in parts"
MOST = 500_000  # interactions that nearby models are learned from: as in the dissertation
NEURAL: Settings = {"metric": METRICS[TUNED_BY], "patience": 5, "batch_size": 500}
BATCH = 2048


class Fixed:
    """Weights that are there, in the place of a model that would be fitted."""

    def __init__(self, weights: np.ndarray) -> None:
        self.weights_ = weights

    def fit(self, interactions: Interactions) -> Fixed:
        return self


def combinations(quick: bool, **grid: Iterable[Any]) -> list[Settings]:
    """All of them, or the first."""
    lists = [list(values)[: 1 if quick else None] for values in grid.values()]
    return [dict(zip(grid, values, strict=True)) for values in product(*lists)]


def closed_forms(problem: Problem) -> dict[str, tuple[str, list[Tried]]]:
    """The models that are solved for, but for MF and LRR."""
    train, known, quick = problem.split.train, problem.known, problem.quick

    def wmf(n_factors: int, confidence: float, penalty: float) -> IALS:
        """Hu et al.'s confidence and λ, as :class:`IALS` has them."""
        weight = 1.0 / (confidence - 1.0)
        return IALS(
            n_factors=n_factors,
            unobserved_weight=weight,
            regularization=penalty * weight / (1.0 + weight),
            frequency_scaling=0.0,
        )

    def each(name: str, grid: list[Settings], fit: Callable[..., Any]) -> list[Tried]:
        return [tried(problem, name, one, fit) for one in grid]

    found = {
        "EASE": each(
            "EASE",
            combinations(quick, regularization=(100, 200, 400, 600, 1000, 2000)),
            lambda **s: EASE(**s).fit(train),
        ),
        "EDLAE full rank": each(
            "EDLAE full rank",
            combinations(quick, dropout=(0.25, 0.33, 0.5), regularization=(100, 200, 400, 800)),
            lambda **s: EDLAE(**s).fit(train),
        ),
        "SLIM": each(
            "SLIM",
            combinations(quick, l1=(1, 5), regularization=(100, 400, 1600)),
            lambda **s: SLIM(**s).fit(train),
        ),
    }
    grid = combinations(quick, n_factors=(64, 100), confidence=(5, 10, 20), penalty=(30, 100, 200))
    both = {
        "WMF": (KNOWN, each("WMF", grid, lambda **s: wmf(**s).fit(known))),
        "WMF, users folded in": (
            TRAIN,
            each("WMF, users folded in", grid, lambda **s: wmf(**s).fit(train)),
        ),
    }
    chosen = best_of(found["EDLAE full rank"]).settings
    low = [
        {"n_factors": problem.share(1000), **chosen, "regularization": chosen["regularization"] * f}
        for f in ((1.0,) if quick else (0.5, 1.0, 2.0))
    ]
    found["EDLAE"] = each(
        "EDLAE", low, lambda **s: LowRankEDLAE(epochs=_epochs(quick), **s).fit(train)
    )
    return {name: (TRAIN, ones) for name, ones in found.items()} | both


def folded_in(problem: Problem, settings: Settings) -> Tried:
    """MF with the settings chosen, on the training users alone."""
    train, spectrum = problem.split.train, problem.spectrum
    return tried(
        problem,
        "MF, users folded in",
        settings,
        lambda **s: MF(**s).fit_from(spectrum, train),
    )


def nearby(
    problem: Problem, lrr: Settings, edlae: Settings, low: Settings
) -> dict[str, tuple[str, list[Tried]]]:
    """A few parameters more on top of LRR and of both EDLAE."""
    train, quick = problem.split.train, problem.quick
    part = _part(train)

    def rescale(**settings: Any) -> Any:
        return rescaled(problem.spectrum, part, epochs=1, batch_size=BATCH, **settings)

    found: dict[str, list[Tried]] = {}
    for name, head_tail, own_item in (
        ("LRR + λ", False, True),
        ("LRR + λ + HT", True, True),
        ("LRR + λ + HT + RMD", True, False),
    ):
        grid = combinations(
            quick,
            head_tail=(head_tail,),
            own_item=(own_item,),
            learning_rate=(0.003, 0.01) if head_tail else (0.02,),
            scale=(10.0,) if head_tail else (10.0, 100.0),
        )
        found[name] = [
            tried(problem, name, lrr | one, rescale, extra=("penalties",)) for one in grid
        ]

    def small() -> Any:
        return LowRankEDLAE(epochs=_epochs(quick), **low).fit(train).weights()

    def full() -> Any:
        return EDLAE(**edlae).fit(train).weights_

    rates = combinations(quick, learning_rate=(0.003, 0.01))
    cuts = combinations(quick, threshold=(0.001, 0.005), learning_rate=(0.01,))
    for name, kind, base, settings, grid in (
        ("EDLAE + HT", HeadTail, small, low, rates),
        ("EDLAE full rank + HT", HeadTail, full, edlae, rates),
        ("EDLAE full rank + sparsified", Sparsified, full, edlae, cuts),
    ):
        fitted = _fitter(kind, base, part)
        found[name] = [tried(problem, name, {"base": settings} | one, fitted) for one in grid]
    return {name: (TRAIN, ones) for name, ones in found.items()}


def _fitter(
    kind: Any, make: Callable[[], Any], part: Interactions
) -> Callable[..., HeadTail | Sparsified]:
    """Fits on top of weights that are made when the first fit needs them."""
    held: list[Fixed] = []

    def fit(base: Settings, **settings: Any) -> HeadTail | Sparsified:
        if not held:
            held.append(Fixed(np.asarray(make(), np.float32)))
        found: HeadTail | Sparsified = kind(
            base=held[0], epochs=1, batch_size=BATCH, **settings
        ).fit(part)
        return found

    return fit


def _epochs(quick: bool) -> int:
    """Of low-rank EDLAE's alternation."""
    return 5 if quick else 30


def neural(problem: Problem) -> dict[str, tuple[str, list[Tried]]]:
    """Trained with early stopping on the validation users."""
    split, known, quick = problem.split, problem.known, problem.quick
    epochs: Settings = {"epochs": 2 if quick else 60}

    def held_out(kind: Any) -> Callable[..., Any]:
        return lambda **s: kind(**NEURAL, **epochs, **s).fit(
            split.train, valid=split.valid, valid_history=split.valid_history
        )

    def each(name: str, grid: Sequence[Settings], fit: Callable[..., Any]) -> list[Tried]:
        return [tried(problem, name, one, fit) for one in grid]

    return {
        # it has a vector for every user, so that it must have seen the user
        "CDAE": (
            KNOWN,
            each(
                "CDAE",
                combinations(quick, n_negatives=(1, 5), learning_rate=(0.02,)),
                lambda **s: CDAE(**NEURAL, **epochs, **s).fit(known, valid=split.valid),
            ),
        ),
        "MultiDAE": (
            TRAIN,
            each("MultiDAE", combinations(quick, learning_rate=(0.003, 0.01)), held_out(MultiDAE)),
        ),
        "MultiVAE": (
            TRAIN,
            each(
                "MultiVAE",
                combinations(quick, beta=(0.2,), learning_rate=(0.001, 0.003)),
                held_out(MultiVAE),
            ),
        ),
    }


def _part(train: Interactions) -> Interactions:
    """Of whole users, at random, at most MOST interactions."""
    order = np.random.default_rng(0).permutation(train.n_users)
    counts = train.user_counts()
    taken = np.zeros(train.n_users, bool)
    taken[order[np.cumsum(counts[order]) <= MOST]] = True
    return train.select(taken[train.pairs()[0]])
