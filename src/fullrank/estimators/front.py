"""From a sample to the full-catalogue metrics: one function in front of every estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from html import escape
from inspect import signature
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fullrank import _checks
from fullrank.errors import InputError
from fullrank.estimators.entropy import mes
from fullrank.estimators.least_squares import cls
from fullrank.estimators.likelihood import mle
from fullrank.estimators.linear import bv, mn
from fullrank.estimators.several import own_catalogues, several_targets
from fullrank.estimators.smoothed import smoothed
from fullrank.estimators.weighted import weighted_mle
from fullrank.metrics import Metric, parse_all
from fullrank.sampling import RankDistribution, RankGrid, RankSample

METRICS = ("recall@10", "ndcg@10", "ap@10")
_FINE = 50.0  # fixed samples coarser than this are not smoothed (docs/studies/smoothing.md)
_APPROXIMATE = "Even with every item sampled this method would not give the exact metrics."


@dataclass(frozen=True, kw_only=True)
class Method:
    """One estimator: what it is, and how it is called."""

    says: str
    fit: Callable[..., RankDistribution]
    recovers: bool  # whether a sample of every item gives back the exact distribution
    signed: bool = False


def _exact(sample: RankSample, *, grid: RankGrid | None = None) -> RankDistribution:
    """The distribution of ranks that the sample itself shows."""
    if not sample.exhausted:
        raise InputError('`method` must not be "exact": the sample does not hold every item.')
    grid = grid if grid is not None else RankGrid.default(int(sample.pool.max()))
    mass = np.bincount(grid.bin_of(sample.rank), sample.weight, grid.n_bins)
    return RankDistribution(grid=grid, mass=mass / mass.sum(), method="exact")


def _cls(sample: RankSample, *, grid: RankGrid | None = None) -> RankDistribution:
    found = cls(sample, grid=grid)
    assert isinstance(found, RankDistribution)
    return found


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "exact": Method(says="ranks among all items, as they are", fit=_exact, recovers=True),
        "smoothed": Method(
            says="penalised likelihood, the penalty chosen from the data",
            fit=smoothed,
            recovers=False,
        ),
        "MLE": Method(says="EM from the uniform start, 100 or 50 steps", fit=mle, recovers=True),
        "WMLE": Method(says="weighted likelihood, tilted back", fit=weighted_mle, recovers=False),
        "MES": Method(says="maximal entropy with squared distance", fit=mes, recovers=False),
        "BV": Method(says="bias and variance traded by γ", fit=bv, recovers=True, signed=True),
        "BV_MLE": Method(
            says="BV with the MLE as its prior",
            fit=partial(bv, prior="mle"),
            recovers=True,
            signed=True,
        ),
        "BV_MES": Method(
            says="BV with MES as its prior",
            fit=partial(bv, prior="mes"),
            recovers=True,
            signed=True,
        ),
        "MN": Method(says="least mean squared error, bounded", fit=mn, recovers=True, signed=True),
        "MN_MLE": Method(
            says="MN with the MLE as its prior",
            fit=partial(mn, prior="mle"),
            recovers=True,
            signed=True,
        ),
        "MN_MES": Method(
            says="MN with MES as its prior",
            fit=partial(mn, prior="mes"),
            recovers=True,
            signed=True,
        ),
        "CLS": Method(says="least squares, falling with r", fit=_cls, recovers=True, signed=True),
    }
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """Full-catalogue metrics estimated from a sample.

    Attributes
    ----------
    values : metric name to estimate
    naive : metric name to the sampled metric as it is, for contrast; None where there is none
    method, reason : which estimator, and why it was picked
    distribution : the estimated P(R); None where users have several targets
    recovers_exact : whether this estimator gives back the exact distribution (of the ranks that
        the grid keeps one by one) from a sample of every item; smoothers do not
    n_targets, n_users, n_items, average_size : of the sample; n_items is None where users have
        catalogues of their own
    blind_share : share of the targets at rank 1 of a sample that did not hold all their items
    resolution : how many ranks of the catalogue rank 1 stands for, about: N / n
    """

    values: Mapping[str, float]
    naive: Mapping[str, float] | None
    method: str
    reason: str
    distribution: RankDistribution | None
    recovers_exact: bool
    n_targets: int
    n_users: int
    n_items: int | None
    average_size: float
    blind_share: float
    resolution: float
    sample: RankSample = field(repr=False)

    def __getitem__(self, metric: str) -> float:
        (parsed,) = parse_all(metric)
        _checks.choice("metric", parsed.name, self.values)
        return self.values[parsed.name]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version."""
        naive = self.naive or {}
        return {
            "format": 1,
            "kind": "Estimate",
            "method": self.method,
            "reason": self.reason,
            "recovers_exact": self.recovers_exact,
            "metrics": [
                {"metric": name, "naive": naive.get(name), "estimate": value}
                for name, value in self.values.items()
            ],
            "n_targets": self.n_targets,
            "n_users": self.n_users,
            "n_items": self.n_items,
            "average_size": self.average_size,
            "blind_share": self.blind_share,
            "resolution": self.resolution,
        }

    def to_arrow(self) -> Any:
        """A pyarrow Table, one row for each metric."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.to_dict()["metrics"])

    def to_frame(self) -> Any:
        """A pandas DataFrame, one row for each metric."""
        return self.to_arrow().to_pandas()

    def to_latex(self) -> str:
        """A LaTeX tabular."""
        rows = [" & ".join(row).replace("_", r"\_") + r" \\" for row in self._rows()]
        head = r"metric & naive & full catalogue \\"
        return "\n".join(
            [r"\begin{tabular}{lrr}", head, r"\hline", *rows, r"\end{tabular}"]
        ).replace("–", "--")

    def _repr_html_(self) -> str:
        """A table for notebooks; every text in it is ours or escaped."""
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
            for row in self._rows()
        )
        head = "<tr><th>metric</th><th>naive</th><th>full catalogue</th></tr>"
        return f"<table><caption>{escape(self.method)}</caption>{head}{rows}</table>"

    def to_markdown(self) -> str:
        """A Markdown table."""
        lines = ["| metric | naive | full catalogue |", "|---|---|---|"]
        lines += [f"| {' | '.join(row)} |" for row in self._rows()]
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Draw the estimated recall curve. Returns the axes."""
        if self.distribution is None:
            raise InputError("`plot` must be asked of samples with one target for each user.")
        return self.distribution.plot(ax)

    def __str__(self) -> str:
        head = f"{self.sample}\n{self.method}: {self.reason}"
        rows = [("metric", "naive", "full catalogue"), *self._rows()]
        width = max(len(row[0]) for row in rows)
        body = [f"{name:<{width}}  {naive:>8}  {value:>14}" for name, naive, value in rows]
        tail = [] if self.recovers_exact else [_APPROXIMATE]
        return "\n".join([head, "", *body, *tail])

    def _rows(self) -> list[tuple[str, str, str]]:
        naive = self.naive or {}
        return [
            (name, f"{naive[name]:.4f}" if name in naive else "–", f"{value:.4f}")
            for name, value in self.values.items()
        ]


def estimate(
    sample: RankSample | ArrayLike,
    *,
    method: str = "auto",
    metrics: str | Metric | Iterable[str | Metric] = METRICS,
    n_items: int | None = None,
    sample_size: int | None = None,
    replacement: bool | None = None,
    grid: RankGrid | None = None,
    **settings: Any,
) -> Estimate:
    """Estimate the metrics of the full catalogue from ranks among sampled candidates.

    Parameters
    ----------
    sample : a RankSample; or an array of ranks, with `n_items` and `sample_size` beside it
    method : "auto", or the name of an estimator (``METHODS`` lists them)
    metrics : names such as ``"ndcg@10"``; one fit serves them all
    n_items, sample_size, replacement : for a plain array alone, of a fixed design; drawn with
        replacement if nothing is said
    grid : rank grid; the default keeps twice the largest K one by one
    settings : of the method: ``iterations``, ``tol``, ``gamma``, ``eta``, ``prior``, …

    Notes
    -----
    "auto" takes exact ranks as they are, smooths adaptive samples and fixed ones that see at
    least every fiftieth item, and falls back on early-stopped EM where a fixed sample sees
    less: there smoothing wins on average but can lose by much (docs/studies/smoothing.md).

    Examples
    --------
    >>> from fullrank.sampling import simulate
    >>> sample = simulate(
    ...     [3, 8, 20, 50, 120, 400] * 100, n_items=2000, levels=[25, 50, 100, 200], rng=0
    ... )
    >>> round(estimate(sample, metrics="recall@100")["recall@100"], 1)
    0.7
    """
    taken = _sample(sample, n_items, sample_size, replacement)
    if grid is not None and not isinstance(grid, RankGrid):
        raise InputError(f"`grid` must be a RankGrid, not {type(grid).__name__}.")
    wanted = parse_all(metrics)
    name, reason = _choose(method, taken)
    _check_settings(name, settings)
    chosen = METHODS[name]

    def fit(one: RankSample, on: RankGrid) -> RankDistribution:
        return chosen.fit(one, grid=on, **settings)

    if taken.several:
        values = several_targets(taken, wanted, fit, grid)
        distribution = None
    else:
        on = grid if grid is not None else RankGrid.for_metrics(int(taken.pool.max()), wanted)
        distribution = fit(taken, on)

        def fitted(one: RankSample, metrics: tuple[Metric, ...]) -> dict[str, float]:
            if name == "CLS":  # each metric is a fit of its own
                return {metric.name: float(cls(one, metric, grid=on)) for metric in metrics}  # type: ignore[arg-type]
            return (distribution if one is taken else fit(one, on)).metrics(metrics)

        values = fitted(taken, wanted)
        if (taken.pool != on.n_items).any():
            values |= own_catalogues(taken, wanted, on.n_items, fitted)
    known = (taken.sample_size == taken.pool) & (not taken.design.replacement)
    return Estimate(
        values=MappingProxyType(values),
        naive=_naive(taken, wanted),
        method=name if distribution is None else distribution.method,
        reason=reason,
        distribution=distribution,
        recovers_exact=chosen.recovers,
        n_targets=taken.n_targets,
        n_users=taken.n_users or taken.n_targets,
        n_items=taken.n_items,
        average_size=taken.average_size,
        blind_share=float(taken.weight[(taken.rank == 1) & ~known].sum() / taken.weight.sum()),
        resolution=resolution(taken),
        sample=taken,
    )


def _sample(
    sample: RankSample | ArrayLike,
    n_items: int | None,
    sample_size: int | None,
    replacement: bool | None,
) -> RankSample:
    if isinstance(sample, RankSample):
        given = {"n_items": n_items, "sample_size": sample_size, "replacement": replacement}
        for name, value in given.items():
            if value is not None:
                raise InputError(f"`{name}` must not be given: the RankSample carries it.")
        return sample
    for name, value in (("n_items", n_items), ("sample_size", sample_size)):
        if value is None:
            raise InputError(f"`{name}` must be given with a plain array of ranks.")
    return RankSample.from_ranks(
        sample,
        sample_size=sample_size,  # type: ignore[arg-type]
        n_items=n_items,  # type: ignore[arg-type]
        replacement=True if replacement is None else replacement,
    )


def _choose(method: str, sample: RankSample) -> tuple[str, str]:
    """The method's name, and why: chosen by the caller, or by the design."""
    names = {name.lower(): name for name in ("auto", *METHODS)}
    name = names.get(method.lower(), method) if isinstance(method, str) else method
    if _checks.choice("method", name, tuple(names.values())) != "auto":
        return name, "as asked for"
    if sample.exhausted:
        return "exact", "every target was ranked among all its items"
    if sample.design.adaptive:
        return "smoothed", "an adaptive sample, smoothed as far as its own likelihood asks"
    if resolution(sample) <= _FINE:
        return "smoothed", "a sample fine enough to be smoothed as far as its likelihood asks"
    return "MLE", f"rank 1 stands for {resolution(sample):,.0f} ranks: EM stopped early risks least"


def resolution(sample: RankSample) -> float:
    """How many ranks of the catalogue rank 1 of the largest sample stands for, about: N / n."""
    return float(sample.pool.max() / sample.sample_size.max())


def _check_settings(name: str, settings: Mapping[str, Any]) -> None:
    """A method is given only what it takes."""
    every = signature(METHODS[name].fit).parameters
    takes = [key for key in every if key not in ("sample", "grid")]
    for key in settings:
        if key not in takes:
            can = f"it takes {', '.join(takes)}" if takes else "it takes no settings"
            raise InputError(f"`{key}` must not be given to {name}; {can}.")


def _naive(sample: RankSample, metrics: tuple[Metric, ...]) -> Mapping[str, float] | None:
    if sample.design.adaptive or sample.several:
        return None
    return MappingProxyType({metric.name: sample.naive(metric) for metric in metrics})
