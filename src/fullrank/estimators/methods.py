"""Every estimator by name: how it is fitted, how it moves with its sample, which to take."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from types import MappingProxyType
from typing import Any

from fullrank._lib import checks
from fullrank._lib.types import Floats
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.estimators.multi_target import Mean, own_catalogues, several_targets
from fullrank.estimators.system import Sensitivity
from fullrank.estimators.uniform.entropy import mes, mes_sensitivity
from fullrank.estimators.uniform.exact import exact, exact_sensitivity
from fullrank.estimators.uniform.least_squares import cls, cls_sensitivity
from fullrank.estimators.uniform.likelihood import mle, mle_sensitivity
from fullrank.estimators.uniform.linear import bv, bv_sensitivity, mn, mn_sensitivity
from fullrank.estimators.uniform.smoothed import best_penalty, smoothed, smoothed_sensitivity
from fullrank.estimators.uniform.weighted import weighted_mle, weighted_sensitivity
from fullrank.metrics import Metric
from fullrank.samples import RankDistribution, RankSample


@dataclass(frozen=True, kw_only=True)
class Method:
    """One estimator: what it is, and how it is called."""

    says: str
    fit: Callable[..., RankDistribution]
    sensitivity: Callable[..., Sensitivity]
    recovers: bool  # whether a sample of every item gives back the exact distribution
    signed: bool = False
    settle: Callable[..., Mapping[str, Any]] | None = None  # settings that the data decide


def _cls(sample: RankSample, *, grid: RankGrid | None = None) -> RankDistribution:
    found = cls(sample, grid=grid)
    assert isinstance(found, RankDistribution)
    return found


def _method(
    says: str,
    fit: Callable[..., RankDistribution],
    sensitivity: Callable[..., Sensitivity],
    recovers: bool,
    signed: bool = False,
    prior: str | None = None,
    settle: Callable[..., Mapping[str, Any]] | None = None,
) -> Method:
    if prior is not None:
        fit, sensitivity = partial(fit, prior=prior), partial(sensitivity, prior=prior)
    return Method(
        says=says,
        fit=fit,
        sensitivity=sensitivity,
        recovers=recovers,
        signed=signed,
        settle=settle,
    )


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "exact": _method("ranks among all items, as they are", exact, exact_sensitivity, True),
        "smoothed": _method(
            "penalised likelihood, the penalty chosen from the data",
            smoothed,
            smoothed_sensitivity,
            False,
            settle=best_penalty,
        ),
        "MLE": _method("EM from the uniform start, 100 or 50 steps", mle, mle_sensitivity, True),
        "WMLE": _method(
            "weighted likelihood, tilted back", weighted_mle, weighted_sensitivity, False
        ),
        "MES": _method("maximal entropy with squared distance", mes, mes_sensitivity, False),
        "BV": _method("bias and variance traded by γ", bv, bv_sensitivity, True, True),
        "BV_MLE": _method("BV with the MLE as its prior", bv, bv_sensitivity, True, True, "mle"),
        "BV_MES": _method("BV with MES as its prior", bv, bv_sensitivity, True, True, "mes"),
        "MN": _method("least mean squared error, bounded", mn, mn_sensitivity, True, True),
        "MN_MLE": _method("MN with the MLE as its prior", mn, mn_sensitivity, True, True, "mle"),
        "MN_MES": _method("MN with MES as its prior", mn, mn_sensitivity, True, True, "mes"),
        "CLS": _method("least squares, falling with r", _cls, cls_sensitivity, True, True),
    }
)


_TRAINING = {
    True: "training items excluded",
    False: "training items kept",
    None: "training items excluded or not",
}


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A method with its settings, and why it is this one."""

    name: str
    reason: str
    settings: Mapping[str, Any]

    @property
    def method(self) -> Method:
        return METHODS[self.name]

    def settled(self, sample: RankSample, grid: RankGrid) -> Chosen:
        """With the settings that the data decide decided, so that they are found once only."""
        if self.method.settle is None or sample.several:
            return self
        found = self.method.settle(sample, grid=grid, **self.settings)
        return replace(self, settings={**self.settings, **found})

    def fit(self, sample: RankSample, grid: RankGrid) -> RankDistribution:
        return self.method.fit(sample, grid=grid, **self.settings)

    def sensitivity(self, sample: RankSample, values: Floats, grid: RankGrid) -> Sensitivity:
        return self.method.sensitivity(sample, values, grid=grid, **self.settings)


def choose(method: str, sample: RankSample, settings: Mapping[str, Any]) -> Chosen:
    """The method by name, or for "auto" by the sample's design."""
    name, reason = _choose(method, sample)
    _check_settings(name, settings)
    return Chosen(name=name, reason=reason, settings=settings)


def values_of(
    sample: RankSample, metrics: tuple[Metric, ...], chosen: Chosen, grid: RankGrid
) -> list[float]:
    """The estimates alone: CLS, which fits each metric by itself, is spared its P(R)."""
    if chosen.name == "CLS" and not sample.several and not (sample.pool != grid.n_items).any():
        return [float(cls(sample, metric, grid=grid)) for metric in metrics]  # type: ignore[arg-type]
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
        if chosen.name == "CLS":  # each metric is a fit of its own
            return {metric.name: float(cls(one, metric, grid=grid)) for metric in metrics}  # type: ignore[arg-type]
        return (distribution if one is sample else chosen.fit(one, grid)).metrics(metrics)

    values = fitted(sample, metrics)
    if (sample.pool != grid.n_items).any():
        values |= own_catalogues(sample, metrics, grid.n_items, fitted)
    return values, distribution


def _choose(method: str, sample: RankSample) -> tuple[str, str]:
    """The method's name, and why: chosen by the caller, or by the design."""
    names = {name.lower(): name for name in ("auto", *METHODS)}
    name = names.get(method.lower(), method) if isinstance(method, str) else method
    if checks.choice("method", name, tuple(names.values())) != "auto":
        return name, "as requested"
    if sample.exhausted:
        return "exact", "every target was ranked among all its items"
    kind = "adaptive" if sample.design.adaptive else "fixed"
    shape = "" if sample.anchor is None else ", with the shape of other models on the same data"
    return "smoothed", (
        f"{kind} sample, {_TRAINING[sample.design.excluded]}; smoothing chosen by marginal "
        f"likelihood{shape}"
    )


def _check_settings(name: str, settings: Mapping[str, Any]) -> None:
    """A method is given only what it takes, and nothing that its name says already."""
    fit = METHODS[name].fit
    fixed = fit.keywords if isinstance(fit, partial) else {}
    takes = [key for key in signature(fit).parameters if key not in ("sample", "grid", *fixed)]
    for key in settings:
        if key in fixed:
            raise InputError(
                f'`{key}` must not be given to {name}, which fixes it at "{fixed[key]}".'
            )
        if key not in takes:
            can = f"it takes {', '.join(takes)}" if takes else "it takes no settings"
            raise InputError(f"`{key}` must not be given to {name}; {can}.")
