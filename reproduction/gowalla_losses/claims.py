"""What the dissertation's chapter 4 says in words and by its curves, and whether it is so here."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduction.gowalla_losses.settings import METRICS
from reproduction.outcome import claim, holds_for

NAMES = {
    "bpr": "BPR",
    "mse": "MSE",
    "debiased-mse": "MSE, debiased",
    "info-nce": "InfoNCE",
    "debiased-info-nce": "InfoNCE, debiased",
    "mine": "MINE",
    "ccl": "CCL",
    "debiased-ccl": "CCL, debiased",
    "mine-plus": "MINE+",
    "debiased-ccl, as published": "CCL, debiased, Table 20's weight and margin",
    "mine-plus, as published": "MINE+, Table 19's weight and temperature",
}
_PLAIN = {"debiased-ccl": "ccl", "debiased-mse": "mse", "debiased-info-nce": "info-nce"}
# what is said, whether it holds (None: in part), what is found; None without the curves it needs
Shape = tuple[str, bool | None, str] | None


def claims(content: dict[str, Any]) -> list[dict[str, Any]]:
    made = [
        *(_debiasing(content, name, plain) for name, plain in _PLAIN.items()),
        _ahead(content, "mine", "info-nce", "MINE is ahead of InfoNCE"),
        _ahead(content, "mine-plus", "info-nce", "MINE+ is ahead of InfoNCE"),
        _ahead(content, "mine-plus", "ccl", "MINE+ is on a par with CCL or ahead", slack=0.01),
        *shapes(content).values(),
    ]
    return [one for one in made if one is not None]


def _debiasing(content: dict[str, Any], name: str, plain: str) -> dict[str, Any] | None:
    made = _ahead(content, name, plain, f"{NAMES[plain]} gains from debiasing")
    if made is not None:
        scores = [content["cases"][one]["similarity"] for one in (name, plain)]
        if scores[0] != scores[1]:
            made["found"] += f", but with {scores[0]} scores against {scores[1]} ones"
        gains = _at_equal_settings(*(content["cases"][one]["search"] for one in (name, plain)))
        if gains:
            told = ", ".join(f"{100 * gain:+.1f} %" for gain in gains)
            made["found"] += f"; held-out recall@20 at equal settings: {told}"
    return made


def _at_equal_settings(debiased: list[Any], plain: list[Any]) -> list[float]:
    """Gains in Recall@20 on the held-out part of candidates that differ in the debiasing alone."""
    own = ("loss", "n_positives", "growth", "unseen")

    def rest(one: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in one["settings"].items() if key not in own}

    return [
        one["recall@20"] / other["recall@20"] - 1
        for one in debiased
        for other in plain
        if rest(one) == rest(other)
    ]


def _ahead(
    content: dict[str, Any], one: str, other: str, says: str, slack: float = 0.0
) -> dict[str, Any] | None:
    """Whether one case is above another in both metrics (in part: in one); no claim without both.

    A gain that the seeds do not tell from none is no gain.
    """
    own, others = (content["cases"].get(name, {"test": {}})["test"] for name in (one, other))
    if not all(test.get(metric) for test in (own, others) for metric in METRICS):
        return None
    found = [_gap(np.array(own[metric]), np.array(others[metric]), slack) for metric in METRICS]
    holds = holds_for(sum(sign > 0 for sign, _ in found), len(found))
    told = " and ".join(
        f"{metric} {text}" for metric, (_, text) in zip(METRICS, found, strict=True)
    )
    return claim("003", says, holds, told)


def _gap(one: Any, other: Any, slack: float) -> tuple[int, str]:
    """1 or -1 if the means differ by more than two standard errors, or 0; and the means."""
    gain = one.mean() / other.mean() - 1
    squares = sum(values.var(ddof=1) / values.size for values in (one, other) if values.size > 1)
    apart = abs(one.mean() - other.mean()) > 2 * np.sqrt(squares)
    sign = 1 if gain > -slack else -1
    told = f"{one.mean():.2f} against {other.mean():.2f} ({100 * gain:+.1f} %)"
    return sign if apart else 0, told if apart else f"{told}, within the spread of the seeds"


def shapes(content: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What the panels of Figures 13 and 14 are there to show, where there are points of them."""
    found = {}
    for name, (sweep, judge) in _SHAPES.items():
        curves = {key: one["points"] for key, one in content["sweeps"][sweep]["curves"].items()}
        if curves and (made := judge(curves, content)) is not None:
            found[name] = claim("003", *made)
    return found


def _range(points: list[list[float]]) -> float:
    values = [value for _, value in points]
    return max(values) / min(values) - 1 if min(values) > 0 else float("inf")


def _top(points: list[list[float]]) -> float:
    return float(max(points, key=lambda point: point[1])[0])


def _negatives(curves: dict[str, Any], content: dict[str, Any]) -> Shape:
    gains = {name: points[-1][1] / points[0][1] - 1 for name, points in curves.items()}
    told = ", ".join(f"{NAMES[name]} {100 * gain:+.0f} %" for name, gain in gains.items())
    longest = max(curves.values(), key=len)
    return (
        "more negatives help",
        holds_for(sum(gain > 0 for gain in gains.values()), len(gains)),
        f"Recall@20 from {longest[0][0]:g} to {longest[-1][0]:g} negatives: {told}",
    )


def _mse(curves: dict[str, Any], content: dict[str, Any]) -> Shape:
    """The nearest of three curves to its end at the last point but one, and that it falls."""
    if "debiased-mse" not in curves:
        return None
    reached = {name: points[-2][1] / points[-1][1] for name, points in curves.items()}
    own = curves["debiased-mse"]
    first = reached["debiased-mse"] == max(reached.values())
    falls = _top(own) < own[-1][0]
    told = ", ".join(f"{NAMES[name]} {100 * one:.1f} %" for name, one in reached.items())
    words = "falls" if falls else "does not fall"
    ends = f"MSE has {own[-2][1]:.2f} and then {own[-1][1]:.2f}, so that it {words}"
    return (
        "MSE is on its plateau with fewer negatives and gets worse with more",
        holds_for(first + falls, 2),
        f"at {own[-2][0]:g} of {own[-1][0]:g} negatives: {told} of the last Recall@20; {ends}",
    )


def _positives(curves: dict[str, Any], content: dict[str, Any]) -> Shape:
    others = content["sweeps"]["negatives"]["curves"]
    pairs = {
        name: (_range(points), _range(others[name]["points"]))
        for name, points in curves.items()
        if name in others
    }
    if not pairs:
        return None
    told = ", ".join(
        f"{NAMES[name]} {100 * own:.1f} % against {100 * other:.1f} %"
        for name, (own, other) in pairs.items()
    )
    return (
        "the number of positives matters less than that of negatives",
        holds_for(sum(own < other for own, other in pairs.values()), len(pairs)),
        f"highest over lowest Recall@20: {told}",
    )


def _weight(curves: dict[str, Any], content: dict[str, Any]) -> Shape:
    inside = [points[0][0] < _top(points) < points[-1][0] for points in curves.values()]
    told = ", ".join(f"{NAMES[name]} {_top(points):g}" for name, points in curves.items())
    return (
        "Recall@20 rises and falls with the weight of the negatives",
        holds_for(sum(inside), len(inside)),
        f"highest at: {told}",
    )


def _temperature(curves: dict[str, Any], content: dict[str, Any]) -> Shape:
    top = _top(curves["mine-plus"])
    return "MINE+ is best at a temperature around 0.5", 0.4 <= top <= 0.6, f"best at {top:g}"


# of each statement the curves that it is about
_SHAPES = {
    "negatives": ("negatives", _negatives),
    "mse": ("negatives", _mse),
    "positives": ("positives", _positives),
    "weight": ("weight", _weight),
    "temperature": ("temperature", _temperature),
}
