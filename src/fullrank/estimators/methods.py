"""The method for a sample: by name, by the sample's design, or a function of the caller's."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fullrank._lib.types import Floats
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.estimators.multi_target import Mean, own_catalogues, several_targets
from fullrank.estimators.numerical import numerical_sensitivity
from fullrank.estimators.registry import METHODS, Method, method_of
from fullrank.estimators.system import Sensitivity, check_sample
from fullrank.metrics import Metric
from fullrank.samples import RankDistribution, RankSample

__all__ = ["METHODS", "Chosen", "choose", "point", "values_of"]

Named = str | Callable[..., Any]  # what `method` may be
_TRAINING = {
    True: "training items excluded",
    False: "training items kept",
    None: "treatment of training items unknown",
}


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A method with its settings, and why it is this one."""

    name: str
    reason: str
    settings: Mapping[str, Any]
    method: Method

    @property
    def analytic(self) -> bool:
        """Whether its derivative is known, so that its errors follow from one fit."""
        return self.method.sensitivity is not None

    def settled(self, sample: RankSample, grid: RankGrid) -> Chosen:
        """With the settings that the data decide decided, so that they are found once only."""
        if self.method.settle is None or sample.several:
            return self
        found = self.method.settle(sample, grid=grid, **self.settings)
        return replace(self, settings={**self.settings, **found})

    def fit(self, sample: RankSample, grid: RankGrid) -> RankDistribution:
        check_sample(sample)
        return self.method.fit(sample, grid=grid, **self.settings)

    def value(self, sample: RankSample, metric: Metric, grid: RankGrid) -> float:
        """One metric, where each is a fit of its own."""
        assert self.method.value is not None
        return self.method.value(sample, metric, grid=grid, **self.settings)

    def sensitivity(self, sample: RankSample, values: Floats, grid: RankGrid) -> Sensitivity:
        """How the estimate moves with the sample: by its derivative, or else by trying."""
        if self.method.sensitivity is None:
            return numerical_sensitivity(partial(self.fit, grid=grid), sample, values, grid)
        return self.method.sensitivity(sample, values, grid=grid, **self.settings)


def choose(method: Named, sample: RankSample, settings: Mapping[str, Any]) -> Chosen:
    """The method by name, or for "auto" by the sample's design."""
    asked, reason = _choose(method, sample)
    name, entry = method_of(asked)
    _check_settings(name, entry, settings)
    return Chosen(name=name, reason=reason, settings=settings, method=entry)


def values_of(
    sample: RankSample, metrics: tuple[Metric, ...], chosen: Chosen, grid: RankGrid
) -> list[float]:
    """The estimates alone: one that fits each metric by itself is spared its P(R)."""
    common = not sample.several and not (sample.pool != grid.n_items).any()
    if chosen.method.value is not None and common:
        return [chosen.value(sample, metric, grid) for metric in metrics]
    return list(point(sample, metrics, chosen, grid)[0].values())


def point(
    sample: RankSample, metrics: tuple[Metric, ...], chosen: Chosen, grid: RankGrid
) -> tuple[dict[str, float], RankDistribution | None]:
    """The estimates of metrics, and the P(R) behind them where it is a single one."""
    if sample.several:
        known: dict[Hashable, RankDistribution] = {}

        def mean(key: Hashable, one: RankSample, gain: Floats) -> Mean:
            if key not in known:
                known[key] = chosen.fit(one, grid)
            return Mean(float(known[key].mass @ gain))

        parts = several_targets(sample, metrics, mean, grid)
        return {name: float(part.each.sum()) for name, part in parts.items()}, None
    distribution = chosen.fit(sample, grid)

    def fitted(one: RankSample, metrics: tuple[Metric, ...]) -> dict[str, float]:
        if chosen.method.value is not None:
            return {metric.name: chosen.value(one, metric, grid) for metric in metrics}
        return (distribution if one is sample else chosen.fit(one, grid)).metrics(metrics)

    values = fitted(sample, metrics)
    if (sample.pool != grid.n_items).any():
        values |= own_catalogues(sample, metrics, grid.n_items, fitted)
    return values, distribution


def _choose(method: Named, sample: RankSample) -> tuple[Named, str]:
    """The method, and why: chosen by the caller, or by the design."""
    if not isinstance(method, str) or method.lower() != "auto":
        return method, "as requested"
    if sample.exhausted:
        return "exact", "every target was ranked among all items in its user's pool"
    kind = "adaptive" if sample.design.adaptive else "fixed"
    shape = (
        "" if sample.anchor is None else "; informed by the ranks of other models on the same data"
    )
    return "smoothed", (
        f"{kind} sample, {_TRAINING[sample.design.excluded]}; penalty chosen by marginal "
        f"likelihood{shape}"
    )


def _check_settings(name: str, method: Method, settings: Mapping[str, Any]) -> None:
    """A method is given only what it takes, and nothing that its name says already."""
    takes, fixed = method.settings()
    for key in settings:
        if key in fixed:
            raise InputError(
                f'`{key}` must not be given to {name}, which fixes it at "{fixed[key]}".'
            )
        if key not in takes and not method.takes_anything:
            can = f"it takes {', '.join(takes)}" if takes else "it takes no settings"
            raise InputError(f"`{key}` must not be given to {name}; {can}.")
