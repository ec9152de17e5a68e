"""What studies share: the data set of their quick form, and means with standard deviations."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

QUICK = "simulated"  # the data set of --quick, which needs no file
QUICK_REPEATS = 2


def spread(values: Iterable[float]) -> dict[str, float]:
    """Mean and standard deviation, to four digits."""
    array = np.asarray(list(values))
    return {"mean": round(float(array.mean()), 4), "sd": round(float(array.std(ddof=1)), 4)}
