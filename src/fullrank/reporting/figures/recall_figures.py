"""Figures of recall at every K: all models together, and each beside what a sample makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite

from fullrank._lib.text import enumerated
from fullrank.reporting.escaping import number
from fullrank.reporting.figures.figure import (
    EXACT,
    NAIVE,
    Axis,
    Figure,
    Numbers,
    Series,
    dash_of,
    numbers,
    without_gaps,
)
from fullrank.reporting.measurement import Measurement, Value

_K = "cut-off K (log scale)"
_BANDS = 3  # models whose bands can be told apart; of more, only the best model's is drawn
_NEAR = 10  # the curves are compared up to this many times the largest K asked for


def recall_figures(
    models: Sequence[Measurement], largest: int, best: int, order: Sequence[int], level: float
) -> list[Figure]:
    """One figure of all models, then one for each that has more than one curve.

    `best` is the row of the model whose band is drawn where there are many, and `order` has the
    rows of the models, the best first.
    """
    drawn = {place: model for place, model in enumerate(models) if model.curve}
    if not drawn:
        return []
    if len(drawn) == 1:
        ((place, model),) = drawn.items()
        return [_alone(model, place, "recall", f"Recall of {model.name}")]
    detailed = [
        _alone(model, place, f"recall-{place + 1}", model.name)
        for place, model in drawn.items()
        if len(_curves(model, place)) > 1
    ]
    ordered = {place: drawn[place] for place in order if place in drawn}
    return [_together(ordered, largest, models[best], f"{100 * level:g} % CI"), *detailed]


def _together(
    drawn: Mapping[int, Measurement], largest: int, leader: Measurement, ci: str
) -> Figure:
    models = list(drawn.values())
    end = min(max(model.reach for model in models), max(100, _NEAR * largest))
    all_bands = len(models) <= _BANDS
    series = [
        replace(_estimated(model, place, model.name), band=all_bands or model is leader)
        for place, model in drawn.items()
    ]
    many = len(models) > 2  # black curves that nobody can tell apart
    known = [
        _exact(model, f"{model.name}, exact", hidden=many)
        for model in models
        if model.sampled and model.exact
    ]
    says = "Estimated recall" if all(m.sampled for m in models) else "Recall"
    band = (
        ""
        if not any(map(_bounded, models))
        else f" Bands: {ci}s."
        if all_bands
        else f" Band: the {ci} of {leader.name}."
    )
    black = " Dotted: exact recall, which is known here." if known and not many else ""
    live = ["Hover over another name to see its interval."] if band and not all_bands else []
    if known and many:
        what = "dotted lines" if len(known) > 1 else "a dotted line"
        live.append(f'Click "exact ranks" to show the exact recall as {what}.')
    everywhere = set.intersection(*({k for k, _ in model.curve} for model in models))
    at = max((k for k in everywhere if k <= largest), default=1)
    shown = [f"{model.name} {number(_at(model, at).estimate, 3)}" for model in models]
    return Figure(
        name="recall",
        section="recall",
        title="Recall of all models",
        reading=f"{says} up to K = {end:,}.{band}{black}",
        live=" ".join(live),
        alternative=f"Lines of recall against K. At K = {at:,}: {enumerated(shown)}.",
        x=Axis(title=_K, log=True, low=1, high=1.02 * end),
        y=Axis(title="recall@K", low=0.0, high=_top([*series, *known], end)),
        series=(*series, *known),
        head=("K", *(head for model in models for head in _heads(model))),
        rows=_rows(models),
    )


def _alone(model: Measurement, place: int, name: str, title: str) -> Figure:
    curves = _curves(model, place)
    at = max((k for k, _ in model.curve if k <= 10), default=1)
    value = _at(model, at)
    parts = [f"estimated {number(value.estimate, 3)}" if model.sampled else
             f"recall {number(value.estimate, 3)}"]  # fmt: skip
    if model.sampled and value.naive is not None:
        parts.insert(0, f"naive {number(value.naive, 3)}")
    if model.sampled and value.exact is not None:
        parts.append(f"exact {number(value.exact, 3)}")
    found = Figure(
        name=name,
        section="recall",
        title=title,
        reading=_says(model),
        alternative=f"Lines of recall against K for {model.name}. "
        f"At K = {at:,}: {enumerated(parts)}.",
        x=Axis(title=_K, log=True, low=1, high=1.02 * model.reach),
        y=Axis(title="recall@K", low=0.0, high=1.0),
        series=curves,
        head=("K", "naive", "estimate" if model.sampled else "recall", "low", "high", "exact"),
        rows=tuple(
            (f"{k:,}", number(_naive_at(model, k, one)), *map(number, _line(one)))
            for k, one in model.curve
        ),
    )
    return without_gaps(found)


def _says(model: Measurement) -> str:
    if not model.sampled:
        return "Exact recall, with its interval." if _bounded(model) else "Exact recall."
    parts = []
    if any(series.colour == NAIVE for series in _curves(model, 0)):
        parts.append("Grey: recall among the sampled candidates, which is not recall@K.")
    if model.mapped:
        parts.append(
            "Dashed: the same values, with each sampled cut-off moved to the K it corresponds to."
        )
    parts.append(f"Solid: the estimate{' with its interval' if _bounded(model) else ''}.")
    if model.exact:
        parts.append("Dotted: exact.")
    return " ".join(parts)


def _bounded(model: Measurement) -> bool:
    """Whether its curve has intervals."""
    return any(isfinite(one.low) for _, one in model.curve)


def _curves(model: Measurement, place: int) -> tuple[Series, ...]:
    """Naive, mapped, estimated and exact, as far as there are such."""
    found = []
    naive = [(k, n) for k, one in model.curve if (n := _naive_at(model, k, one)) is not None]
    if len(naive) > 1:
        found.append(
            Series(
                name="naive",
                kind="line",
                x=_column(naive, 0),
                y=_column(naive, 1),
                colour=NAIVE,
                legend="naive",
            )
        )
    if model.mapped:
        found.append(
            Series(
                name=f"mapped by {model.mapping}",
                kind="line",
                x=_column(model.mapped, 0),
                y=_column(model.mapped, 1),
                colour=place,
                legend=f"mapped ({model.mapping})",
                dash="dash",
            )
        )
    name = "estimated" if model.sampled else "exact"
    found.append(replace(_estimated(model, place, name), dash="solid"))
    if model.sampled and model.exact:
        found.append(_exact(model, "exact"))
    return tuple(found)


def _estimated(model: Measurement, place: int, legend: str) -> Series:
    return Series(
        name=model.name,
        kind="line",
        x=numbers(k for k, _ in model.curve),
        y=numbers(one.estimate for _, one in model.curve),
        low=numbers(one.low for _, one in model.curve),
        high=numbers(one.high for _, one in model.curve),
        colour=place,
        legend=legend,
        dash=dash_of(place),
    )


def _exact(model: Measurement, name: str, hidden: bool = False) -> Series:
    known = [(k, one.exact) for k, one in model.curve if one.exact is not None]
    return Series(
        name=name,
        kind="line",
        x=_column(known, 0),
        y=_column(known, 1),
        colour=EXACT,
        legend="exact ranks",
        dash="dot",
        hidden=hidden,
    )


def _column(pairs: Iterable[tuple[float, float]], place: int) -> Numbers:
    return numbers(pair[place] for pair in pairs)


def _naive_at(model: Measurement, k: int, one: Value) -> float | None:
    """Among n candidates there is no k beyond n."""
    given = model.given
    if not model.sampled or one.naive is None:
        return None
    return one.naive if k <= int(given.sample_size.max()) else None  # type: ignore[union-attr]


def _at(model: Measurement, k: int) -> Value:
    return next((one for cut, one in reversed(model.curve) if cut <= k), model.curve[0][1])


def _line(one: Value) -> tuple[float | None, ...]:
    return one.estimate, one.low, one.high, one.exact


def _heads(model: Measurement) -> tuple[str, ...]:
    interval = f"{model.name}, low", f"{model.name}, high"
    exact = (f"{model.name}, exact",) if model.sampled and model.exact else ()
    return (model.name, *interval, *exact)


def _rows(models: Sequence[Measurement]) -> tuple[tuple[str, ...], ...]:
    curves = [dict(model.curve) for model in models]
    rows = []
    for k in sorted({k for curve in curves for k in curve}):
        cells = [f"{k:,}"]
        for model, curve in zip(models, curves, strict=True):
            one = curve.get(k)
            numbers_ = _line(one) if one is not None else (None,) * 4
            cells += map(number, numbers_[: len(_heads(model))])
        rows.append(tuple(cells))
    return tuple(rows)


def _top(series: Sequence[Series], end: float) -> float:
    """The largest value within the axis, with room above."""
    seen = [
        value
        for one in series
        for x, *values in zip(one.x, one.y, one.high or one.y, strict=True)
        for value in values
        if x is not None and x <= end and value is not None
    ]
    return min(1.0, 1.05 * max(seen, default=1.0)) or 1.0
