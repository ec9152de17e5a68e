"""What Figures 1-3 of Rendle 2019 show, in numbers, and the curves to draw them from."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from fullrank import expected_metric, metrics
from fullrank.cli.demonstration import RENDLE, RENDLE_ITEMS, RENDLE_METRICS
from fullrank.designs import Uniform, collapse

SIZES = (2, 11, 101, 1_001)  # Figure 3: candidates, the target among them
TOP = np.arange(1, 1_001)
ALL, TOP_METRICS = RENDLE_METRICS, RENDLE_METRICS[1:]


def curves() -> dict[str, Any]:
    """The lines of the three figures, in as many digits as can be seen."""
    ranks, sizes = _spaced(1, RENDLE_ITEMS, 150), _spaced(2, RENDLE_ITEMS, 60)
    top = _spaced(1, int(TOP[-1]), 100)
    worth = {name: _digits(metrics.parse(name).weights(ranks, RENDLE_ITEMS)) for name in ALL}
    return {
        "figure1": {"ranks": ranks.tolist(), "metrics": worth},
        "figure2": {
            "candidates": sizes.tolist(),
            "metrics": {name: _means(name, sizes) for name in ALL},
        },
        "figure3": {
            "ranks": top.tolist(),
            "metrics": {
                name: {
                    **{
                        f"n = {n:,}": _digits(
                            expected_metric(
                                top, name, n_items=RENDLE_ITEMS, design=Uniform(n, replacement=True)
                            )
                        )
                        for n in SIZES
                    },
                    "exact": _digits(metrics.parse(name).weights(top, RENDLE_ITEMS)),
                }
                for name in ALL
            },
        },
    }


def _means(name: str, sizes: np.ndarray) -> dict[str, list[float]]:
    """Of each model, by the number of candidates."""
    means = [mean(name, int(n) - 1) for n in sizes]
    return {model: _digits(np.array([one[model] for one in means])) for model in RENDLE}


def _spaced(first: int, last: int, number: int) -> np.ndarray:
    return np.unique(np.geomspace(first, last, number).round().astype(int))


def _digits(values: np.ndarray) -> list[float]:
    return [round(float(value), 5) for value in values]


def weights() -> dict[str, Any]:
    """Figure 1: what rank 1 is worth beside rank 2, and rank 100 beside 101."""
    found = {}
    for name in RENDLE_METRICS:
        first, second, hundred, next_one = metrics.parse(name).weights(
            np.array([1, 2, 100, 101]), RENDLE_ITEMS
        )
        found[name] = {
            "first_over_second": float(first / second),
            "step_at_1": float(first - second),
            "step_at_100": float(hundred - next_one),
        }
    return found


def mean(name: str, samples: int) -> dict[str, float]:
    """The expected metric of each model from so many sampled items."""
    return {
        model: float(
            expected_metric(
                ranks, name, n_items=RENDLE_ITEMS, design=Uniform(samples + 1, replacement=True)
            ).mean()
        )
        for model, ranks in RENDLE.items()
    }


def order(values: dict[str, float]) -> str:
    """The best first, "=" between those that are equal but for rounding."""
    rounded = {model: round(value, 9) for model, value in values.items()}
    ranked = sorted(rounded, key=lambda model: (-rounded[model], model))
    signs = [" > " if rounded[a] > rounded[b] else " = " for a, b in pairwise(ranked)]
    return ranked[0] + "".join(sign + model for sign, model in zip(signs, ranked[1:], strict=True))


def orders(name: str) -> dict[str, Any]:
    """Figure 2: from which numbers of sampled items on the models stand in which order."""
    sizes = np.unique(np.geomspace(1, RENDLE_ITEMS - 1, 300).astype(int)).tolist()
    values, exact = {m: mean(name, m) for m in sizes}, exact_of(name)
    steps = [{"from": 1, "order": order(values[1])}]
    for before, after in pairwise(sizes):
        if order(values[after]) != steps[-1]["order"]:
            between = {m: order(mean(name, m)) for m in range(before + 1, after + 1)}
            at = next(m for m, found in between.items() if found != steps[-1]["order"])
            steps.append({"from": at, "order": between[at]})
    right = [m for m in sizes if best(values[m]) == best(exact)]
    near = [
        m for m in sizes if all(abs(values[m][model] - exact[model]) <= 0.01 for model in RENDLE)
    ]
    return {
        "steps": steps,
        "exact": order(exact),
        "best_from": _since(sizes, right),
        "within_hundredth_from": _since(sizes, near),
    }


def equation_30(samples: int = 99) -> dict[str, float]:
    """The largest relative error of the closed form of AP as printed, and with n - 1 for n + 1."""
    ranks = np.array([2, 10, 100, 1_000, RENDLE_ITEMS])
    expected = expected_metric(
        ranks, "ap", n_items=RENDLE_ITEMS, design=Uniform(samples + 1, replacement=True)
    )
    auc = metrics.parse("auc").weights(ranks, RENDLE_ITEMS)
    form = (1.0 - auc ** (samples + 1)) / (ranks - 1) / (samples + 1)
    return {
        name: float(np.abs(form * top / expected - 1.0).max())
        for name, top in (("printed", RENDLE_ITEMS + 1), ("mended", RENDLE_ITEMS - 1))
    }


def best(values: dict[str, float]) -> str:
    return max(values, key=lambda model: values[model])


def _since(sizes: list[int], good: list[int]) -> int | None:
    """The first of the sizes from which on all are good."""
    bad = [size for size in sizes if size not in set(good)]
    after = [size for size in sizes if not bad or size > bad[-1]]
    return after[0] if after else None


def exact_of(name: str) -> dict[str, float]:
    """The exact metric of each model."""
    return {
        model: metrics.evaluate(ranks, [name], n_items=RENDLE_ITEMS)[name]
        for model, ranks in RENDLE.items()
    }


def shapes() -> list[dict[str, Any]]:
    """Figure 3: how far each expected metric is from its exact form, and from a straight line."""
    found = []
    for name in RENDLE_METRICS:
        exact = metrics.parse(name).weights(TOP, RENDLE_ITEMS)
        for size in SIZES:
            values = expected_metric(
                TOP, name, n_items=RENDLE_ITEMS, design=Uniform(size, replacement=True)
            )
            line = np.polyval(np.polyfit(TOP, values, 1), TOP)
            found.append(
                {
                    "metric": name,
                    "candidates": size,
                    "from_exact": float(np.abs(values - exact).max()),
                    "from_line": float(np.abs(values - line).max()),
                }
            )
        slope, start = collapse(name, RENDLE_ITEMS)
        whole = np.array([1, 2, 3, RENDLE_ITEMS // 2, RENDLE_ITEMS])
        two = expected_metric(
            whole, name, n_items=RENDLE_ITEMS, design="sampled:2,replacement=true"
        )
        found[-len(SIZES)]["collapse"] = float(np.abs(two - (slope * whole + start)).max())
    return found
