"""Many tests at once: p values corrected for their number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks
from fullrank._lib.types import Floats
from fullrank.errors import InputError


def bonferroni(p_values: ArrayLike) -> Floats:
    """Each p times the number of tests: the chance of any false alarm stays below the level.

    Examples
    --------
    >>> bonferroni([0.01, 0.04, 0.03])
    array([0.03, 0.12, 0.09])
    """
    p = _p_values(p_values)
    return np.minimum(1.0, p * p.size)


def holm(p_values: ArrayLike) -> Floats:
    """Holm's step-down form of Bonferroni: the same promise, never larger p values.

    Notes
    -----
    With the p values sorted, the i-th is multiplied by m - i + 1, then none falls below the one
    before it.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = _p_values(p_values)
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return np.minimum(1.0, corrected)


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Benjamini and Hochberg: of the differences called real, the expected share that is not.

    Valid for independent tests and for positively dependent ones, as metrics of the same users
    mostly are.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.04])
    """
    p = _p_values(p_values)
    order = np.argsort(p, kind="stable")[::-1]
    corrected = np.empty_like(p)
    corrected[order] = np.minimum.accumulate(p[order] * p.size / np.arange(p.size, 0, -1))
    return np.minimum(1.0, corrected)


CORRECTIONS: Mapping[str, Callable[[ArrayLike], Floats]] = MappingProxyType(
    {"holm": holm, "bonferroni": bonferroni, "bh": benjamini_hochberg}
)


def corrected(p_values: ArrayLike, correction: str | None) -> Floats:
    """The p values as the named correction has them; as they are for None."""
    if correction is None:
        return _p_values(p_values)
    return CORRECTIONS[checks.choice("correction", correction, CORRECTIONS)](p_values)


def _p_values(p_values: ArrayLike) -> Floats:
    p = checks.reals("p_values", p_values)
    if p.size == 0:
        raise InputError("`p_values` must hold at least one; it is empty.")
    checks.reject("p_values", p, (p < 0.0) | (p > 1.0), "lie in 0..1")
    return p
