"""How the numbers of a comparison are printed."""

from __future__ import annotations

import math

CORRECTIONS = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "BH"}


def decimals_of(standard_error: float) -> int:
    """Digits of a difference: they show two of its standard error's, four at least."""
    if not standard_error > 0.0:
        return 4
    return min(8, max(4, 1 - math.floor(math.log10(standard_error))))


def shown_p(p: float, *, bare: bool = False) -> str:
    """A p value as text: "p = 0.021", or "p < 0.001"."""
    if p < 0.001:
        return "< 0.001" if bare else "p < 0.001"
    return f"{p:.3f}" if bare else f"p = {p:.3f}"
