"""What a sample cannot show, and which intervals are unreliable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from fullrank._lib.text import enumerated
from fullrank.designs.sizes import growing_levels
from fullrank.estimators.methods import Chosen
from fullrank.estimators.system import resolution
from fullrank.inference.estimation.doubts import size_doubts, training_notes
from fullrank.inference.estimation.uncertainty import Spread
from fullrank.metrics import ByMetric, Metric, spelled
from fullrank.samples import RankDistribution, RankSample

# where coverage was seen to fall (docs/studies/intervals.md)
FEW = 10.0  # targets in the top K below which intervals are unreliable
BLIND = 4.0  # ranks that rank 1 covers, above which an estimate depends on its uniform start
LEANING = 2.0  # standard errors from which a bias is reported
WIDE = 0.5  # standard error of the logarithm of a metric from which a warning is given
START = 25  # first level of the adaptive design that is suggested
FAR = 500.0  # ranks that rank 1 covers, above which no study has checked an estimate


@dataclass(frozen=True, kw_only=True, eq=False)
class Diagnosis:
    """The limits of a sample, in numbers and in words.

    Attributes
    ----------
    blind_share : share of the targets at rank 1 of an incomplete sample
    resolution : how many ranks of the catalogue rank 1 covers, about N / n
    hits : metric name to the estimated number of targets in its top K
    leans : metric name to the bound on the bias of smoothing, in standard errors; 0 if there is
        none
    warnings : metric name to the reasons why its interval may be unreliable; empty if there are
        none
    notes : further remarks on all metrics, doubts first
    blind : the metrics that depend on ranks that the sample hardly distinguishes: those with a
        cut-off below the number of ranks that rank 1 covers, and those without a cut-off that weigh
        the first ranks more
    doubts : signs that the sample differs from its description
    assumed : assumptions about facts that are not known
    """

    blind_share: float
    resolution: float
    hits: Mapping[str, float]
    leans: Mapping[str, float]
    warnings: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...]
    blind: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("hits", "leans", "warnings"):
            object.__setattr__(self, name, ByMetric(getattr(self, name)))

    def marks(self, metric: str) -> bool:
        """Whether a metric is one of `blind`."""
        return spelled(metric, self.blind) is not None

    def to_dict(self) -> dict[str, Any]:
        return {
            "blind_share": self.blind_share,
            "resolution": self.resolution,
            "hits": dict(self.hits),
            "leans": {name: None if np.isnan(x) else x for name, x in self.leans.items()},
            "warnings": {name: list(why) for name, why in self.warnings.items() if why},
            "notes": list(self.notes),
            "blind": list(self.blind),
            "doubts": list(self.doubts),
        }

    def lines(self) -> list[str]:
        """The notes, then each warning with its metrics; doubts and warnings are marked."""
        reasons: dict[str, list[str]] = {}
        for name, why in self.warnings.items():
            for reason in why:
                reasons.setdefault(reason, []).append(name)
        marked = len(self.doubts) + bool(self.blind)  # which come first
        notes = [f"▲ {one}" if place < marked else one for place, one in enumerate(self.notes)]
        return [*notes, *(f"▲ {', '.join(n)}: {why}" for why, n in reasons.items())]


def diagnose(
    sample: RankSample,
    metrics: tuple[Metric, ...],
    found: Spread,
    chosen: Chosen,
    distribution: RankDistribution | None,
    interval_for: str,
    *,
    counts_smoothing: bool = True,
) -> Diagnosis:
    """Look at the sample's size, its resolution, and how far the estimate depends on smoothing."""
    unseen = below(sample, metrics)
    known = sample.design.exhausted(sample.sample_size, sample.pool)
    blind = float(sample.weight[(sample.rank == 1) & ~known].sum() / sample.weight.sum())
    hits = {metric.name: _hits(sample, metric, distribution) for metric in metrics}
    errors = found.sampling_error(interval_for)
    leans = found.bias / np.where(errors > 0.0, errors, np.inf)
    method = chosen.method
    honest = method.honest and (counts_smoothing or method.exact)
    smooth, spreads = method.borrows, found.standard_error(interval_for)
    values = [float("nan") if distribution is None else distribution.metric(m) for m in metrics]
    vague = [
        _vague(metric, value, error, resolution(sample)) if smooth else []
        for metric, value, error in zip(metrics, values, spreads, strict=True)
    ]
    warnings = {
        metric.name: tuple(
            reasons(
                metric,
                ranks=resolution(sample),
                hits=hits[metric.name],
                honest=honest,
                rough=method.rough and counts_smoothing,
                computed=bool(np.isfinite(errors[place])),
            )
            + _flat(sample, errors[place], hits[metric.name], method.exact, interval_for)
            + vague[place]
        )
        for place, metric in enumerate(metrics)
    }
    doubts = size_doubts([sample])
    return Diagnosis(
        blind_share=blind,
        resolution=resolution(sample),
        hits=hits,
        leans=dict(zip(hits, leans.tolist(), strict=True)),
        warnings=warnings,
        notes=(
            *doubts,
            *_blind(sample, unseen, blind),
            *_leaning(dict(zip(hits, leans.tolist(), strict=True))),
            *found.notes.get(interval_for, ()),
            *(_remedy(sample, distribution) if any(vague) else ()),
        ),
        blind=unseen,
        doubts=doubts,
        assumed=training_notes([sample], chosen.name),
    )


def _hits(sample: RankSample, metric: Metric, distribution: RankDistribution | None) -> float:
    """Targets in the top K, or nearest to it where users have several."""
    if metric.k is None or distribution is None:
        return float(sample.n_targets)
    return distribution.metric(Metric("recall", metric.k)) * sample.n_targets


def reasons(
    metric: Metric,
    *,
    ranks: float,
    hits: float,
    honest: bool = False,
    rough: bool = False,
    computed: bool = True,
) -> list[str]:
    """Why the interval of a metric may be unreliable.

    Parameters
    ----------
    ranks : how many ranks rank 1 of the sample covers
    hits : targets in the top K
    honest : whether the interval counts what the estimator assumes
    rough : whether the bias of the estimator reaches to any K
    computed : whether there is an interval
    """
    why = []
    if hits < FEW:
        why.append(few("in", computed))
    top = _looks_at_the_top(metric, 2.0 * ranks)
    if not honest and ranks > BLIND and (rough or top):
        place = "the cut-off is in the blind spot; " if top and metric.k is not None else ""
        why.append(
            f"{place}the estimate depends on its starting values more than its standard error "
            "shows."
        )
    return why


def few(where: str, computed: bool) -> str:
    """That a few targets decide about a metric: those in the top K, or outside of it."""
    then = "; the interval is unreliable" if computed else ""
    return f"fewer than {FEW:.0f} targets are {where} the top K{then}."


def _looks_at_the_top(metric: Metric, ranks: float) -> bool:
    """Whether a metric tells the first ranks apart: by its cut-off, or by weighing them more."""
    return not metric.promises.even or (metric.k is not None and metric.k < ranks)


def _flat(
    sample: RankSample, error: float, hits: float, exact: bool, interval_for: str
) -> list[str]:
    """A sample in which nearly all targets are alike is not informative about the others."""
    known = exact and interval_for == "users"
    outside = sample.n_targets - hits
    alike = error == 0.0 or (sample.rank.size == 1 and np.isfinite(error))
    if not known and hits >= FEW and (alike or 0.0 < outside < FEW):
        return [few("outside", bool(np.isfinite(error)))]
    return []


def _vague(metric: Metric, value: float, spread: float, ranks: float) -> list[str]:
    """Whether the estimate is vague, by its standard error or its extrapolation."""
    if ranks > FAR and _looks_at_the_top(metric, ranks):
        return [f"rank 1 of the sample covers {ranks:,.0f} ranks; the estimate is extrapolated."]
    if value > 0.0 and spread / value > WIDE:
        return [f"the standard error is more than {100 * WIDE:.0f} % of the value."]
    return []


def _remedy(sample: RankSample, distribution: RankDistribution | None) -> list[str]:
    """A more informative design, and its cost."""
    n_items = int(sample.pool.max())
    last = n_items // 8
    if distribution is None or sample.design.adaptive or last <= START:
        return []
    levels = growing_levels(START, last)
    edges = distribution.grid.edges
    above = (np.sqrt((edges[:-1] + 1.0) * edges[1:]) - 1.0) / (n_items - 1.0)
    price = float(levels[0])
    for size, larger in pairwise(levels):  # a target at rank 1 continues
        price += (larger - size) * float(distribution.mass @ (1.0 - above) ** (size - 1))
    says = (
        f"An adaptive sample of {START} to {last:,} candidates would resolve ranks to within 8; it "
        f"would score about {price:,.0f} candidates per target."
    )
    return [says]


def _leaning(leans: Mapping[str, float]) -> list[str]:
    """Where the bias of smoothing may exceed the sampling error."""
    far = [name for name, lean in leans.items() if lean > LEANING]
    if not far:
        return []
    says = (
        f"Smoothing may bias {enumerated(far)} by more than {LEANING:.0f} standard errors; the "
        f"{'interval is' if len(far) == 1 else 'intervals are'} widened to allow for it."
    )
    return [says]


def below(sample: RankSample, metrics: tuple[Metric, ...]) -> tuple[str, ...]:
    """The metrics that are `blind` in a `Diagnosis`."""
    ranks = round(resolution(sample))
    if sample.exhausted:
        return ()
    return tuple(
        metric.name
        for metric in metrics
        if (metric.k is not None and metric.k < ranks)
        or (metric.k is None and ranks > 1 and _looks_at_the_top(metric, ranks))
    )


def _blind(sample: RankSample, below: tuple[str, ...], share: float) -> list[str]:
    """What rank 1 of the sample covers, if some cut-off is below that."""
    if not below:
        return []
    ranks = round(resolution(sample))
    says = (
        f"{100 * share:.0f} % of the targets are at rank 1 of their sample; the sample "
        f"hardly distinguishes true ranks 1–{ranks:,}. Below K = {ranks:,}, the estimate depends "
        f"on the smoothness assumption ({', '.join(below)})."
    )
    return [says]
