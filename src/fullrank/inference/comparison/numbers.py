"""How the numbers of a comparison are printed."""

from __future__ import annotations

import math

CORRECTIONS = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "BH"}


def decimals_of(standard_error: float) -> int:
    """Digits of a difference: they show two of its standard error's, four at least."""
    if not standard_error > 0.0:
        return 4
    return min(8, max(4, 1 - math.floor(math.log10(standard_error))))


def signed(number: float, digits: int) -> str:
    """A difference with its sign, a real minus; one that rounds to 0 has none.

    >>> signed(-0.0123, 4), signed(0.2, 4), signed(-0.00001, 4)
    ('−0.0123', '+0.2000', '0.0000')
    """
    shown = f"{number:+.{digits}f}"
    return shown[1:] if not shown.strip("+-0.") else shown.replace("-", "−")


def shown_chance(chance: float) -> str:
    """A probability that draws estimate: it is never shown as certain.

    >>> shown_chance(0.724), shown_chance(1.0), shown_chance(0.004)
    ('0.72', '> 0.99', '< 0.01')
    """
    if chance > 0.99:
        return "> 0.99"
    return "< 0.01" if chance < 0.01 else f"{chance:.2f}"


def shown_p(p: float, *, bare: bool = False) -> str:
    """A p value as text: "p = 0.021", or "p < 0.001"."""
    if p < 0.001:
        return "< 0.001" if bare else "p < 0.001"
    return f"{p:.3f}" if bare else f"p = {p:.3f}"
