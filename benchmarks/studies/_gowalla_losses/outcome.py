"""What the study of losses says of the dissertation's chapter 4: its tables, figures and claims."""

from __future__ import annotations

from typing import Any

import numpy as np
from _outcome import claim, compare, missing, nothing, shown

from _gowalla_losses.settings import CASES, METRICS

LEAST = 0.97  # of a published figure
# Table 13's other rows, Recall@20 and NDCG@20 in percent
OTHERS: dict[str, tuple[float, float]] = {
    "YouTubeNet": (17.54, 14.73),
    "NeuMF": (13.99, 12.12),
    "CML": (16.7, 12.92),
    "MultiVAE": (16.41, 13.35),
    "LightGCN": (18.3, 15.54),
    "NGCF": (15.7, 13.27),
    "GAT": (14.01, 12.36),
    "PinSage": (13.8, 11.96),
    "iALS": (13.88, 12.24),
}
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
    "debiased-ccl, as published": "CCL, debiased, at Table 20's settings",
    "mine-plus, as published": "MINE+ at Table 19's settings",
}
_PLAIN = {"debiased-ccl": "ccl", "debiased-mse": "mse", "debiased-info-nce": "info-nce"}
Shape = tuple[
    str, bool | None, str
]  # what is said, whether it holds (None: in part), what is found
_DATA = "Gowalla alone: Yelp2018 and Amazon-Books are not here"


def tables(content: dict[str, Any]) -> list[dict[str, Any]]:
    found = means(content)
    return [
        nothing("003 Table 11", "it counts users, items and interactions of the data sets"),
        _table_12(found),
        _table_13(content, found),
        _settings(content, found, "003 Table 19", "mine-plus, as published"),
        _settings(content, found, "003 Table 20", "debiased-ccl, as published"),
        _figure(content, "003 Figure 13", ("negatives", "positives")),
        _figure(content, "003 Figure 14", ("weight", "temperature")),
    ]


def claims(content: dict[str, Any]) -> list[dict[str, Any]]:
    made = [
        *(_debiasing(content, name, plain) for name, plain in _PLAIN.items()),
        _ahead(content, "mine", "info-nce", "MINE is ahead of InfoNCE"),
        _ahead(content, "mine-plus", "info-nce", "MINE+ is ahead of InfoNCE"),
        _ahead(content, "mine-plus", "ccl", "MINE+ is on a par with CCL or ahead", slack=0.01),
        *(one for name in _SHAPES if (one := shape(content, name)) is not None),
    ]
    return [one for one in made if one is not None]


def means(content: dict[str, Any]) -> dict[str, dict[str, float]]:
    """The mean over seeds of each metric, of every case that was trained on all of the data."""
    return {
        name: {metric: float(np.mean(one["test"][metric])) for metric in METRICS}
        for name, one in content["cases"].items()
        if one["seeds"]
    }


def _cells(rows: dict[str, tuple[float, float]], found: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "row": metric,
            "column": name,
            "published": published[at],
            "measured": found[name][metric] if name in found else None,
        }
        for name, published in rows.items()
        for at, metric in enumerate(METRICS)
    ]


def _published(*names: str) -> dict[str, tuple[float, float]]:
    return {name: CASES[name].published for name in names}


def _table_12(found: dict[str, Any]) -> dict[str, Any]:
    rows = _published(
        "ccl", "debiased-ccl", "mse", "debiased-mse", "info-nce", "debiased-info-nce", "mine",
        "mine-plus",
    )  # fmt: skip
    return _compared("003 Table 12", rows, found, f"{_DATA}; settings searched on a tenth")


def _table_13(content: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    rows = OTHERS | _published("bpr", "ccl", "debiased-ccl", "mine-plus")
    differs = f"{_DATA}; of the published rows of other models iALS alone was trained again"
    return _compared("003 Table 13", rows, found | content["others"], differs)


def _compared(
    item: str, rows: dict[str, tuple[float, float]], found: dict[str, Any], differs: str
) -> dict[str, Any]:
    cells = _cells(rows, found)
    if all(cell["measured"] is None for cell in cells):
        return missing(item, "nothing was trained on all of the data in this run")
    return compare(item, cells, differs=differs)


def _settings(
    content: dict[str, Any], found: dict[str, Any], item: str, name: str
) -> dict[str, Any]:
    """Published settings have come out if they reach what was published for them."""
    if name not in found:
        return missing(item, "its settings were not trained on all of the data in this run")
    published = content["cases"][name]["published"]
    shares = {metric: found[name][metric] / published[metric] for metric in METRICS}
    says = f"its settings reach {100 * LEAST:g} % of the published Recall@20 and NDCG@20"
    differs = f"Gowalla's column; {_shares(shares)} of the published figures"
    return shown(item, says, min(shares.values()) >= LEAST, differs=differs)


def _shares(shares: dict[str, float]) -> str:
    return " and ".join(f"{100 * share:.0f} %" for share in shares.values())


def _figure(content: dict[str, Any], item: str, panels: tuple[str, ...]) -> dict[str, Any]:
    made = [one for name in panels if (one := shape(content, name)) is not None]
    if len(made) < len(panels):
        return missing(item, "not all of its points were trained in this run")
    says = "; ".join(one["says"] for one in made)
    differs = "; ".join(one["found"] for one in made)
    return shown(item, says, all(one["holds"] is True for one in made), differs=differs)


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
    ahead = [sign > 0 for sign, _ in found]
    holds = True if all(ahead) else None if any(ahead) else False
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


def shape(content: dict[str, Any], name: str) -> dict[str, Any] | None:
    """What a panel is there to show, and whether it is so here."""
    curves = {key: one["points"] for key, one in content["sweeps"][name]["curves"].items()}
    if not curves:
        return None
    says, holds, told = _SHAPES[name](curves, content)
    return claim("003", says, holds, told)


def _range(points: list[list[float]]) -> float:
    values = [value for _, value in points]
    return max(values) / min(values) - 1 if min(values) > 0 else float("inf")


def _top(points: list[list[float]]) -> float:
    return float(max(points, key=lambda point: point[1])[0])


def _negatives(curves: dict[str, Any], content: dict[str, Any]) -> Shape:
    gains = {name: points[-1][1] / points[0][1] - 1 for name, points in curves.items()}
    told = ", ".join(f"{NAMES[name]} {100 * gain:+.0f} %" for name, gain in gains.items())
    own = gains.get("debiased-mse", 0.0)
    rest = [gain for name, gain in gains.items() if name != "debiased-mse"]
    longest = max(curves.values(), key=len)
    return (
        "more negatives help, and MSE needs fewer of them",
        all(gain > max(own, 0) for gain in rest),
        f"Recall@20 from {longest[0][0]:g} to {longest[-1][0]:g} negatives: {told}",
    )


def _positives(curves: dict[str, Any], content: dict[str, Any]) -> Shape:
    others = content["sweeps"]["negatives"]["curves"]
    pairs = {
        name: (_range(points), _range(others[name]["points"]))
        for name, points in curves.items()
        if name in others
    }
    told = ", ".join(
        f"{NAMES[name]} {100 * own:.1f} % against {100 * other:.1f} %"
        for name, (own, other) in pairs.items()
    )
    return (
        "the number of positives matters less than that of negatives",
        all(own < other for own, other in pairs.values()),
        f"highest over lowest Recall@20: {told}",
    )


def _weight(curves: dict[str, Any], content: dict[str, Any]) -> Shape:
    inside = [points[0][0] < _top(points) < points[-1][0] for points in curves.values()]
    told = ", ".join(f"{NAMES[name]} {_top(points):g}" for name, points in curves.items())
    return (
        "Recall@20 rises and falls with the weight of the negatives",
        True if all(inside) else None if any(inside) else False,
        f"highest at: {told}",
    )


def _temperature(curves: dict[str, Any], content: dict[str, Any]) -> Shape:
    top = _top(curves["mine-plus"])
    return "MINE+ is best at a temperature around 0.5", 0.4 <= top <= 0.6, f"best at {top:g}"


_SHAPES = {
    "negatives": _negatives,
    "positives": _positives,
    "weight": _weight,
    "temperature": _temperature,
}
