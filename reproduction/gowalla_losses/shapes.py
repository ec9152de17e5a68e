"""The shapes of the curves in Figures 13 and 14 of Li (dissertation), each tested on those here."""

from __future__ import annotations

from typing import Any

from reproduction.gowalla_losses.settings import NAMES
from reproduction.outcome import holds_for

# a statement, whether it holds (None: in part), and the values; None without the curves it needs
Shape = tuple[str, bool | None, str]


def shapes(content: dict[str, Any]) -> dict[str, Shape]:
    """The statement of each panel of Figures 13 and 14, if its points were trained."""
    found = {}
    for name, (sweep, judge) in _SHAPES.items():
        curves = {key: one["points"] for key, one in content["sweeps"][sweep]["curves"].items()}
        if curves and (made := judge(curves, content)) is not None:
            found[name] = made
    return found


def _range(points: list[list[float]]) -> float:
    values = [value for _, value in points]
    return max(values) / min(values) - 1 if min(values) > 0 else float("inf")


def _top(points: list[list[float]]) -> float:
    return float(max(points, key=lambda point: point[1])[0])


def _negatives(curves: dict[str, Any], content: dict[str, Any]) -> Shape | None:
    gains = {name: points[-1][1] / points[0][1] - 1 for name, points in curves.items()}
    told = ", ".join(f"{NAMES[name]} {100 * gain:+.0f} %" for name, gain in gains.items())
    longest = max(curves.values(), key=len)
    return (
        "more negatives help",
        holds_for(sum(gain > 0 for gain in gains.values()), len(gains)),
        f"Recall@20 from {longest[0][0]:g} to {longest[-1][0]:g} negatives: {told}",
    )


def _mse(curves: dict[str, Any], content: dict[str, Any]) -> Shape | None:
    """Whether MSE is closest to its last value at the point before it, and then falls."""
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


def _positives(curves: dict[str, Any], content: dict[str, Any]) -> Shape | None:
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


def _weight(curves: dict[str, Any], content: dict[str, Any]) -> Shape | None:
    inside = [points[0][0] < _top(points) < points[-1][0] for points in curves.values()]
    told = ", ".join(f"{NAMES[name]} {_top(points):g}" for name, points in curves.items())
    return (
        "Recall@20 rises and falls with the weight of the negatives",
        holds_for(sum(inside), len(inside)),
        f"highest at: {told}",
    )


def _temperature(curves: dict[str, Any], content: dict[str, Any]) -> Shape | None:
    top = _top(curves["mine-plus"])
    return "MINE+ is best at a temperature around 0.5", 0.4 <= top <= 0.6, f"best at {top:g}"


# the curves that each statement is about
_SHAPES = {
    "negatives": ("negatives", _negatives),
    "mse": ("negatives", _mse),
    "positives": ("positives", _positives),
    "weight": ("weight", _weight),
    "temperature": ("temperature", _temperature),
}
