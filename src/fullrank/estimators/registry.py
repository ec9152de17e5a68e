"""Every estimator by name: how it is fitted, how it moves with its sample, what it promises."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank._lib.names.registry import Registry
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.estimators.system import Sensitivity
from fullrank.estimators.uniform.entropy import mes, mes_sensitivity
from fullrank.estimators.uniform.exact import exact, exact_sensitivity
from fullrank.estimators.uniform.least_squares import (
    cls_distribution,
    cls_sensitivity,
    cls_value,
)
from fullrank.estimators.uniform.likelihood import mle, mle_sensitivity
from fullrank.estimators.uniform.linear import bv, bv_sensitivity, mn, mn_sensitivity
from fullrank.estimators.uniform.smoothed import best_penalty, smoothed, smoothed_sensitivity
from fullrank.estimators.uniform.weighted import weighted_mle, weighted_sensitivity
from fullrank.samples import RankDistribution, RankSample


@dataclass(frozen=True, kw_only=True)
class Method:
    """One estimator: what it is, how it is called, and what others may rely on.

    Attributes
    ----------
    says : what it does, in a few words
    fit : function of (sample, grid=, settings) that gives a RankDistribution
    sensitivity : function of (sample, values, grid=, settings) that gives its exact derivative;
        None where there is none, and the bootstrap takes its place
    value : function of (sample, metric, grid=, settings), where each metric is a fit of its own
    settle : function of (sample, grid=, settings) that gives the settings that the data decide
    recovers : whether a sample of every item gives back the exact distribution
    signed : whether probabilities may be negative
    rough : whether its bias reaches to any K
    honest : whether its interval counts what it assumes
    borrows : whether it takes the shape of other models, and what is known of training items
    exact : whether it takes ranks among all items as they are
    """

    says: str
    fit: Callable[..., RankDistribution]
    sensitivity: Callable[..., Sensitivity] | None = None
    value: Callable[..., float] | None = None
    settle: Callable[..., Mapping[str, Any]] | None = None
    recovers: bool = True
    signed: bool = False
    rough: bool = False
    honest: bool = False
    borrows: bool = False
    exact: bool = False

    def settings(self) -> tuple[list[str], Mapping[str, Any]]:
        """The settings that `fit` takes, and those that are fixed, with their values."""
        fixed = self.fit.keywords if isinstance(self.fit, partial) else {}
        first, *others = inspect.signature(self.fit).parameters.values()
        del first  # the sample
        named = [one.name for one in others if one.kind is not one.VAR_KEYWORD]
        return [name for name in named if name not in ("grid", *fixed)], fixed

    @property
    def takes_anything(self) -> bool:
        """Whether `fit` takes settings of any name."""
        parameters = inspect.signature(self.fit).parameters.values()
        return any(one.kind is one.VAR_KEYWORD for one in parameters)


def _with_prior(prior: str, says: str, fit: Any, sensitivity: Any, rough: bool = False) -> Method:
    return Method(
        says=says,
        fit=partial(fit, prior=prior),
        sensitivity=partial(sensitivity, prior=prior),
        signed=True,
        rough=rough,
    )


METHODS: Registry[Method] = Registry(
    "method",
    {
        "exact": Method(
            says="exact ranks among all items, without estimation",
            fit=exact,
            sensitivity=exact_sensitivity,
            honest=True,
            exact=True,
        ),
        "smoothed": Method(
            says="penalised likelihood with the penalty chosen from the data",
            fit=smoothed,
            sensitivity=smoothed_sensitivity,
            recovers=False,
            settle=best_penalty,
            honest=True,
            borrows=True,
        ),
        "MLE": Method(
            says="EM from a uniform start, 100 steps (adaptive designs: 50)",
            fit=mle,
            sensitivity=mle_sensitivity,
        ),
        "WMLE": Method(
            says="weighted likelihood, corrected for the weights",
            fit=weighted_mle,
            sensitivity=weighted_sensitivity,
            recovers=False,
        ),
        "MES": Method(
            says="maximum entropy with squared distance",
            fit=mes,
            sensitivity=mes_sensitivity,
            recovers=False,
        ),
        "BV": Method(
            says="trade-off between bias and variance, set by γ",
            fit=bv,
            sensitivity=bv_sensitivity,
            signed=True,
        ),
        "BV_MLE": _with_prior("mle", "BV with the MLE as its prior", bv, bv_sensitivity),
        "BV_MES": _with_prior("mes", "BV with MES as its prior", bv, bv_sensitivity),
        "MN": Method(
            says="least mean squared error, bounded",
            fit=mn,
            sensitivity=mn_sensitivity,
            signed=True,
            rough=True,
        ),
        "MN_MLE": _with_prior("mle", "MN with the MLE as its prior", mn, mn_sensitivity, True),
        "MN_MES": _with_prior("mes", "MN with MES as its prior", mn, mn_sensitivity, True),
        "CLS": Method(
            says="least squares, decreasing in r",
            fit=cls_distribution,
            sensitivity=cls_sensitivity,
            value=cls_value,
            signed=True,
            rough=True,
        ),
    },
    reserved=("auto", "naive"),
)


def register(
    name: str,
    fit: Callable[..., Any],
    *,
    sensitivity: Callable[..., Sensitivity] | None = None,
    says: str = "",
    recovers: bool = True,
    signed: bool = False,
    rough: bool = False,
    honest: bool = False,
    borrows: bool = False,
) -> None:
    """Register your own estimator under a name that `method` accepts everywhere.

    Parameters
    ----------
    name : what it is called
    fit : function of (sample, grid, settings…) that gives the probability of each bin of the grid,
        as an array that sums to 1 or a RankDistribution. `fullrank.estimators.system` has the
        probabilities of the outcomes that most estimators need.
    sensitivity : its exact derivative, as `Sensitivity`; without one, intervals are those of the
        bootstrap, and `compare` scales numerical derivatives to it
    says : what it does, in a few words; default: the first line of the docstring
    recovers : whether the exact distribution is recovered from a complete sample; if not, results
        say so
    signed : whether probabilities may be negative
    rough : whether its bias reaches to any K, so that results warn of it
    honest : whether `bias` of its sensitivity bounds what it assumes, so that results need not warn
    borrows : whether it uses `sample.anchor` and `sample.design.excluded`; others are refused an
        anchor

    Examples
    --------
    >>> from fullrank import estimators
    >>> from fullrank.inference import estimate
    >>> from fullrank.samples import simulate
    >>> def spread(sample, grid):
    ...     "Each outcome spread over the ranks that are as likely as any to give it."
    ...     table = sample.probabilities(grid) * grid.widths[:, None]
    ...     return (table / table.sum(axis=0)) @ (sample.weight / sample.weight.sum())
    >>> estimators.register("spread", spread)
    >>> sample = simulate([3, 8, 20, 50] * 50, n_items=100, design="sampled:20", rng=0)
    >>> print(f"{estimate(sample, method='spread', metrics='recall@10', rng=0)['recall@10']:.2f}")
    0.37
    >>> estimators.unregister("spread")
    """
    METHODS.register(
        name,
        Method(
            says=says or (getattr(fit, "__doc__", None) or name).strip().splitlines()[0],
            fit=Fitted(name, fit),
            sensitivity=sensitivity,
            recovers=checks.flag("recovers", recovers),
            signed=checks.flag("signed", signed),
            rough=checks.flag("rough", rough),
            honest=checks.flag("honest", honest),
            borrows=checks.flag("borrows", borrows),
        ),
    )


def unregister(name: str) -> None:
    """Remove an estimator that was registered."""
    METHODS.unregister(name)


def method_of(method: Any) -> tuple[str, Method]:
    """The name and the entry of a name in any spelling, or of a function."""
    if not callable(method):
        entry = METHODS.find(method, also=("auto",))
        return str(METHODS.name_of(method)), entry
    for name, known in METHODS.items():
        if known.fit is method:
            return name, known
    name = checks.printable(getattr(method, "__name__", type(method).__name__))
    return name, Method(says="a function given by the caller", fit=Fitted(name, method))


class Fitted:
    """A fit of the caller's, whose answers are checked and packed."""

    def __init__(self, name: str, fit: Callable[..., Any]) -> None:
        if not callable(fit):
            raise InputError(
                f"`fit` must be a function of a sample and a grid, not {checks.shown(fit)}."
            )
        self.name, self.function = name, fit
        self.__signature__ = _signature(fit)

    def __call__(self, sample: RankSample, *, grid: RankGrid, **settings: Any) -> RankDistribution:
        try:
            found = self.function(sample, grid=grid, **settings)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise  # from inside of the function
            raise InputError(
                f"`method` must be a function of a sample and `grid`; {self.name} cannot be called "
                f"with them: {checks.because(error)}."
            ) from error
        if not isinstance(found, RankDistribution):
            return self._packed(found, grid)
        if not np.array_equal(found.grid.edges, grid.edges):
            raise InputError(
                f"`method` must return P(R) on the given grid, {grid!r}; {self.name} returned it "
                f"on {found.grid!r}."
            )
        return found

    def _packed(self, mass: Any, grid: RankGrid) -> RankDistribution:
        array = np.asarray(mass)
        if array.shape != (grid.n_bins,) or array.dtype.kind not in "iuf":
            raise InputError(
                f"`method` must return a probability for each of the {grid.n_bins} bins of the "
                f"grid; {self.name} returned {array.dtype} of shape {array.shape}."
            )
        return RankDistribution(grid=grid, mass=array, method=self.name)


def _signature(fit: Callable[..., Any]) -> inspect.Signature:
    """The signature, which must have a place for the grid."""
    try:
        found = inspect.signature(fit)
    except (TypeError, ValueError):  # of a function that is not written in Python
        return inspect.Signature([
            inspect.Parameter("sample", inspect.Parameter.POSITIONAL_ONLY),
            inspect.Parameter("settings", inspect.Parameter.VAR_KEYWORD),
        ])  # fmt: skip
    kinds = {one.name: one.kind for one in found.parameters.values()}
    anything = inspect.Parameter.VAR_KEYWORD in kinds.values()
    if len(kinds) < 2 or not ("grid" in kinds or anything):
        raise InputError(
            "`method` must be a function of a sample and a grid, as f(sample, grid); "
            f"{getattr(fit, '__name__', type(fit).__name__)} takes {', '.join(kinds) or 'nothing'}."
        )
    return found
