"""Figures of true ranks, of what a sample cannot show, and of what its levels cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from fullrank._lib.text import enumerated
from fullrank.reporting.escaping import number, outward
from fullrank.reporting.figures.figure import (
    EXACT,
    Axis,
    Figure,
    Series,
    dash_of,
    numbers,
    without_gaps,
)
from fullrank.reporting.measurement import Measurement, distribution_of
from fullrank.samples import RankDistribution, RankSample, sampling_efficiency

_FEW = 4  # models drawn at first where there are many; the others wait for their button
_SPREAD, _LEAST = 1.5, 1.15  # from the first whisker to the last, as a ratio of K, and at least
_COUNTS = ("no", "one", "two", "three", "four", "five")


def rank_figure(models: Sequence[Measurement], order: Sequence[int], metric: str) -> Figure | None:
    """The share of targets in ranks 1, 2-3, 4-7, 8-15, …; None where no model has one P(R).

    `order` has the rows of the models, the best at the metric first.
    """
    series, black, drawn = [], [], []
    columns: list[tuple[str, RankDistribution]] = []
    first = _first(order)
    many = len(models) > 2  # black outlines that nobody can tell apart
    for place in order:
        model = models[place]
        found = _distribution(model)
        if found is None:
            continue
        outline = _outline(found, model.name, place, model.name)
        series.append(replace(outline, hidden=place not in first))
        drawn.append(place)
        columns.append((model.name, found))
        known = distribution_of(model.exact) if model.sampled else None
        if known is not None:
            outline = _outline(known, f"{model.name}, exact", EXACT, "exact ranks")
            black.append(replace(outline, hidden=many))
            columns.append((f"{model.name}, exact", known))
    if not series:
        return None
    items = max(found.n_items for _, found in columns)
    edges = _doublings(items)
    shares = [_shares(found, edges) for _, found in columns]
    middles = [f"{name} {int(found.quantile(0.5)):,}" for name, found in columns]
    exact = " Dotted: exact ranks." if black and not many else ""
    estimated = all(models[place].sampled for place in drawn)
    live = ['Click "exact ranks" to show them as dotted lines.'] if black and many else []
    return Figure(
        name="ranks",
        section="ranks",
        title="Estimated distribution of ranks" if estimated else "Distribution of ranks",
        reading=f"The {'estimated ' if estimated else ''}share of held-out items at rank 1, 2–3, "
        "4–7, 8–15 and so on. Each bin covers twice as many ranks as the one before; the last may "
        "cover fewer, and its height is scaled accordingly. The further left, the better."
        f"{exact}{_shown(order, first, metric)}",
        live=" ".join(_press(order, first) + live),
        alternative=f"Outlines of histograms of ranks. Median ranks: {'; '.join(middles)}.",
        x=Axis(title="rank in the full catalogue (log scale)", log=True, low=1, high=items),
        y=Axis(title="share of held-out items", low=0.0, percent=True),
        series=(*series, *black),
        head=("ranks", *(name for name, _ in columns)),
        rows=tuple(
            (_span(low, high), *(f"{100 * column[row]:.2f} %" for column in shares))
            for row, (low, high) in enumerate(pairwise(edges))
        ),
    )


def blind_figure(models: Sequence[Measurement], order: Sequence[int], metric: str) -> Figure | None:
    """Bounds on recall at some K, over the ranks that the sample cannot distinguish."""
    bounded = [(place, models[place]) for place in order if models[place].whiskers]
    if not bounded:
        return None
    series, black, rows = [], [], []
    first = _first(order)
    reach = [model.resolution for _, model in bounded]
    blind = max(reach)
    spread = spread_at({k for _, model in bounded for k, _ in model.whiskers}, blind)
    turns = {place: turn for turn, place in enumerate(p for p, _ in bounded if p in first)}
    for place, model in bounded:
        turn = turns.get(place, len(turns) // 2)  # one that is shown later is in the middle
        aside = spread ** ((turn + 0.5) / max(len(turns), 1) - 0.5)
        series.append(
            Series(
                name=model.name,
                kind="whisker",
                x=numbers(k * aside for k, _ in model.whiskers),
                y=numbers(one.estimate for _, one in model.whiskers),
                low=numbers(one.least for _, one in model.whiskers),
                high=numbers(one.most for _, one in model.whiskers),
                colour=place,
                legend=model.name,
                hidden=place not in first,
            )
        )
        if model.exact and place in first:
            black.append(
                Series(
                    name=f"{model.name}, exact",
                    kind="points",
                    x=numbers(k * aside for k, _ in model.whiskers),
                    y=numbers(one.exact for _, one in model.whiskers),
                    colour=EXACT,
                    legend="exact ranks",
                )
            )
        rows += [
            (
                model.name,
                f"{k:,}",
                *outward(one.least, one.most, 4),  # type: ignore[arg-type]
                *map(number, (one.estimate, one.exact)),
            )
            for k, one in model.whiskers
        ]
    ranks = _span_of(reach)
    level = bounded[0][1].bounds.confidence_level  # type: ignore[union-attr]
    exact = " Short horizontal strokes: exact values." if black else ""
    if all(model.first_exact for _, model in bounded):
        seen = "Rank 1 of the sample, at its largest size, is rank 1 of the catalogue."
    elif blind > 1.5:
        seen = f"Rank 1 of the sample covers about {ranks} ranks of the catalogue (shaded)."
    else:
        seen = f"Rank 1 of the sample covers about {blind:.1f} ranks of the catalogue."
    found = Figure(
        name="blind-spot",
        section="blind",
        title="Bounds without assumptions",
        reading=f"Lines: bounds on recall@K, which hold jointly at a confidence level of "
        f"{100 * level:g} %, with no assumption about the ranks. Points: estimates.{exact} {seen}"
        f"{_shown(order, first, metric)}",
        live=" ".join(_press(order, first)),
        alternative=f"Lines: bounds on recall at several K. {seen}",
        x=Axis(title="cut-off K (log scale)", log=True, low=0.8, high=_end(bounded)),
        y=Axis(title="recall@K", low=-0.01, high=_top(bounded)),
        series=(*series, *black),
        shade=(0.8, blind, "blind spot") if blind > 1.5 else None,
        head=("model", "K", "at least", "at most", "estimate", "exact"),
        rows=tuple(rows),
    )
    return without_gaps(found)


def spread_at(cuts: Iterable[int], blind: float) -> float:
    """How far apart the first whisker and the last are: never on two sides of the shade's end."""
    near = min(max(k / blind, blind / k) for k in cuts)
    return min(_SPREAD, max(_LEAST, near**2))


def efficiency_figure(models: Sequence[Measurement], order: Sequence[int]) -> Figure | None:
    """What each level of an adaptive sample costs for each target that it settles."""
    series, rows = [], []
    for place, model in ((place, models[place]) for place in order):
        given = model.given
        if not isinstance(given, RankSample) or not given.design.adaptive:
            continue
        found = sampling_efficiency(given)
        costs = numbers(found.cost.tolist())
        shares = found.level / found.n_items
        series.append(
            Series(
                name=model.name,
                kind="line",
                x=numbers(shares.tolist()),
                y=costs,
                colour=place,
                legend=model.name,
            )
        )
        rows += [
            (model.name, f"{level:,}", f"{share:.1%}", f"{reached:,}", f"{settled:,}",
             number(cost, 1))
            for level, share, reached, settled, cost in zip(
                found.level, shares, found.n_reached, found.n_settled, costs, strict=True
            )
        ]  # fmt: skip
    if not any(value is not None for one in series for value in one.y):
        return None
    last = [f"{one.name} {number(next(v for v in reversed(one.y) if v is not None), 0)}"
            for one in series if any(v is not None for v in one.y)]  # fmt: skip
    return Figure(
        name="efficiency",
        section="efficiency",
        title="Items drawn per settled target",
        reading="An adaptive sample draws more candidates for targets that are still near the top. "
        "A target is settled once no more are drawn for it. Where the curve rises, settling "
        "one more target costs more items.",
        alternative=f"Lines of cost against sample size. At the last level: {enumerated(last)}.",
        x=Axis(title="share of items drawn (log scale)", log=True, percent=True),
        y=Axis(title="items per settled target (log scale)", log=True),
        series=tuple(series),
        head=("model", "level", "share of items", "reached", "settled", "items per settled target"),
        rows=tuple(rows),
    )


def _first(order: Sequence[int]) -> set[int]:
    """The rows of the models that are drawn at first."""
    return set(order if len(order) <= _FEW + 1 else order[:_FEW])


def _shown(order: Sequence[int], first: set[int], metric: str) -> str:
    if len(first) == len(order):
        return ""
    return f" The {_COUNTS[len(first)]} models with the highest {metric} are shown."


def _press(order: Sequence[int], first: set[int]) -> list[str]:
    return [] if len(first) == len(order) else ["Click the name of another model to show it."]


def _distribution(model: Measurement) -> RankDistribution | None:
    if model.estimate is not None:
        return model.estimate.distribution
    return distribution_of(model.given)


def _doublings(items: int) -> list[int]:
    """0, 1, 3, 7, …: the last ranks of stretches that double; the last ends with the catalogue.

    It is a doubling within a factor of √2: what is left over is too little for one of its own.
    """
    edges = [0]
    while 2**1.5 * (edges[-1] + 1) <= items + 1:
        edges.append(2 * edges[-1] + 1)
    return [*edges, items]


def _shares(found: RankDistribution, edges: Sequence[int]) -> list[float]:
    reach = np.minimum(np.asarray(edges[1:]), found.n_items)
    share: list[float] = np.diff(found.cdf(reach), prepend=0.0).tolist()
    return share


def _outline(found: RankDistribution, name: str, colour: int | str, legend: str) -> Series:
    edges = _doublings(found.n_items)
    shares = _shares(found, edges)
    # the last stretch is no whole doubling: drawn at the density that it has
    shares[-1] /= np.log2((found.n_items + 1) / (edges[-2] + 1))
    return Series(
        name=name,
        kind="step",
        x=numbers([*(edge + 1 for edge in edges[:-1]), found.n_items]),
        y=numbers([*shares, shares[-1]]),
        colour=colour,
        legend=legend,
        dash=dash_of(colour),
    )


def _span(low: int, high: int) -> str:
    return f"{high:,}" if high == low + 1 else f"{low + 1:,}–{high:,}"


def _end(bounded: Sequence[tuple[int, Measurement]]) -> float:
    return 1.6 * max(k for _, model in bounded for k, _ in model.whiskers)


def _top(bounded: Sequence[tuple[int, Measurement]]) -> float:
    seen = [one.most for _, model in bounded for _, one in model.whiskers if one.most is not None]
    return min(1.0, 1.1 * max(seen))


def _span_of(reach: Sequence[float]) -> str:
    low, high = f"{min(reach):,.0f}", f"{max(reach):,.0f}"
    return high if low == high else f"{low} to {high}"
