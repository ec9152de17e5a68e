"""Seeds: every public function takes `rng` and cleans it here."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib.checks import shown
from fullrank.errors import InputError

RandomState = None | int | np.integer[Any] | np.random.SeedSequence | np.random.Generator


def generator(rng: RandomState = None) -> np.random.Generator:
    """A numpy Generator from None, an int, a SeedSequence or a Generator."""
    if isinstance(rng, bool | np.timedelta64) or not (
        rng is None
        or isinstance(rng, int | np.integer | np.random.SeedSequence | np.random.Generator)
    ):
        raise InputError(
            f"`rng` must be None, a whole number, a SeedSequence or a Generator, not {shown(rng)}."
        )
    if isinstance(rng, int | np.integer) and rng < 0:
        raise InputError(f"`rng` must be at least 0, not {shown(rng)}.")
    return np.random.default_rng(rng)
