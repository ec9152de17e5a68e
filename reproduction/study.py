"""What studies share: the data set of their quick form, and means with standard deviations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

QUICK = "simulated"  # the data set of --quick, which needs no file
QUICK_REPEATS = 2


def spread(values: Iterable[float]) -> dict[str, float]:
    """Mean and standard deviation, to four digits."""
    array = np.asarray(list(values))
    return {"mean": round(float(array.mean()), 4), "sd": round(float(array.std(ddof=1)), 4)}


def table(head: list[str], rows: Iterable[Iterable[Any]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
