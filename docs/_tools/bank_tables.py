"""Tables and numbers of the rank bank and of the study of a hundred candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reproduction.common.kept import RESULTS, stored
from reproduction.tables import table

_HUNDRED = "fixed 100"


def bank_megabytes() -> str:
    """The size of all files of the rank bank."""
    size = sum(path.stat().st_size for path in (RESULTS / "bank").glob("*.npz"))
    return f"{size / 1e6:.1f} MB"


def bank_intervals(name: str) -> str:
    """Coverage, width and warnings of each data set and protocol, the lowest coverage first."""
    rows = [
        [
            one["data"], one["protocol"], f"{one['coverage']:.1%}", f"{one['coverage_before']:.1%}",
            f"{one['width']:.2f}", f"{one['width'] / one['width_before']:.2f}",
            f"{one['warned']:.1%}", f"{one['unwarned_coverage']:.1%}",
        ]
        for one in stored(name)["intervals"]["cells"]
    ]  # fmt: skip
    head = ["data", "training items", "coverage", "before", "width / exact value", "width / before",
            "warned", "coverage without a warning"]  # fmt: skip
    return table(head, rows)


def bank_low_metrics(name: str, limit: float = 0.8) -> str:
    """The metrics of a data set and protocol whose coverage is below a limit, the lowest first."""
    low = sorted((v, *what) for v, *what in _by_metric(name) if v < limit)
    rows = [[data, items, metric, f"{value:.1%}"] for value, data, items, metric in low]
    return table(["data", "training items", "metric", "coverage"], rows)


def bank_low_counts(name: str, limit: float = 0.8) -> str:
    """How many of them there are, of how many."""
    values = [value for value, *_ in _by_metric(name)]
    return f"{sum(value < limit for value in values)} of {len(values)}"


def bank_error_of(name: str, protocol: str, method: str, models: Sequence[str]) -> str:
    """The mean error over data sets of some models, whose errors are averaged geometrically."""
    each = [
        np.exp(np.mean([np.log(one["by_model"][method][model]) for model in models]))
        for one in _errors(name, protocol)
    ]
    return f"{np.mean(each):.1f} %"


def bank_difference(name: str, protocol: str, method: str) -> str:
    """How much more a method errs than the estimate from its own sample, over data sets."""
    errors = [one["error"] for one in _errors(name, protocol)]
    more = [one[method] - one["auto"] for one in errors]
    return f"{np.mean(more):+.1f} ± {np.std(more, ddof=1) / np.sqrt(len(more)):.1f}"


def bank_worse(name: str, protocol: str, method: str, model: str) -> str:
    """On how many data sets a method errs more for a model than the sample alone."""
    cells = [one["by_model"] for one in _errors(name, protocol)]
    worse = sum(one[method][model] > one["auto"][model] for one in cells)
    return f"{worse} of {len(cells)}"


def bank_gap(name: str, design: str) -> str:
    """By how many points the stated probability of being best is off at most, in a tenth."""
    tenths = stored(name)["probability"][design]["tenths"]
    return f"{max(abs(100 * (one['right'] - one['said'])) for one in tenths):.0f}"


def _errors(name: str, protocol: str) -> list[dict[str, Any]]:
    cells = stored(name)["cells"]
    some = [one for one in cells if one["protocol"] == protocol and one["design"] == _HUNDRED]
    return [one for one in some if "by_model" in one]


def _by_metric(name: str) -> list[tuple[float, str, str, str]]:
    return [
        (value, one["data"], one["protocol"], metric)
        for one in stored(name)["cells"]
        if one["design"] == _HUNDRED and "by_metric" in one
        for metric, value in one["by_metric"].items()
        if value is not None
    ]


FUNCTIONS = {
    function.__name__: function
    for function in (
        bank_difference, bank_error_of, bank_gap, bank_intervals, bank_low_counts,
        bank_low_metrics, bank_megabytes, bank_worse,
    )
}  # fmt: skip
