"""What a design shows of a target: one of three forms, which every sample and file can hold.

==========  =====================================================================================
rank        (r, n): the rank r among n candidates, both including the target
strata      for each stratum s of an order of the items, of which the target's pool has N_s: n_s
            candidates drawn, r_s of them above the target, and the sums of the inverse draw
            weights of both. Within a stratum draws are uniform, between strata any probability
            will do. One stratum is the first form
more than   a rank up to K, or the fact that it is beyond K: exact ranks up to K
==========  =====================================================================================

The likelihood of the second form is Π_s Hypergeometric(r_s; N_s, T_s, n_s) with T_s items of
stratum s above the target, whose true rank is R = 1 + Σ_s T_s.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks
from fullrank._lib.types import Floats, Ints
from fullrank.designs.probabilities import hypergeometric
from fullrank.errors import InputError

RANK, STRATA, MORE_THAN = "rank", "strata", "more_than"
FORMS = (RANK, STRATA, MORE_THAN)


@dataclass(frozen=True, kw_only=True, eq=False)
class Strata:
    """Draws by stratum, one row for each target and one column for each stratum.

    Parameters
    ----------
    size : items of each stratum in the target's pool, itself not counted
    drawn, above : candidates drawn of each stratum, and those of them above the target
    drawn_weight, above_weight : sums of the inverse draw weights of both; by default the counts,
        as for draws that are uniform within a stratum

    Examples
    --------
    >>> strata = Strata(size=[[10, 90]], drawn=[[10, 20]], above=[[3, 1]])
    >>> strata.rank, strata.sample_size
    (array([5]), array([31]))
    >>> float(strata.likelihood([[3, 4]])[0]) > 0.3
    True
    """

    size: Ints
    drawn: Ints
    above: Ints
    drawn_weight: Floats | None = None
    above_weight: Floats | None = None

    def __post_init__(self) -> None:
        size = _table("size", self.size)
        drawn = _table("drawn", self.drawn, size.shape)
        above = _table("above", self.above, size.shape)
        for name, part, whole, what in (
            ("drawn", drawn, size, "the number of items in its stratum"),
            ("above", above, drawn, "the number of candidates drawn from its stratum"),
        ):
            wrong = (part > whole).ravel()
            checks.reject(f"{name}", part.ravel(), wrong, f"be at most {what}")
        for name, counts in (("drawn_weight", drawn), ("above_weight", above)):
            given = getattr(self, name)
            weights = counts.astype(np.float64) if given is None else np.asarray(given, np.float64)
            if weights.shape != size.shape or not (np.isfinite(weights) & (weights >= 0.0)).all():
                raise InputError(
                    f"`{name}` must hold finite numbers of at least 0, in shape {size.shape}."
                )
            object.__setattr__(self, name, checks.frozen(weights))
        for name, values in (("size", size), ("drawn", drawn), ("above", above)):
            object.__setattr__(self, name, checks.frozen(values))

    @property
    def n_strata(self) -> int:
        """How many strata there are."""
        return int(self.size.shape[1])

    @property
    def rank(self) -> Ints:
        """1 + the candidates above: not a rank of the first form unless there is one stratum."""
        return np.asarray(1 + self.above.sum(axis=1))

    @property
    def sample_size(self) -> Ints:
        """All candidates, including the target."""
        return np.asarray(1 + self.drawn.sum(axis=1))

    def likelihood(self, above: ArrayLike) -> Floats:
        """P(outcome | T) of each target with T_s items of stratum s above it: a row each."""
        t = _table("above", above, self.size.shape)
        chance = np.ones(t.shape)
        for at in np.ndindex(*t.shape):
            chance[at] = hypergeometric(
                np.array([self.above[at]]),
                int(self.size[at]),
                np.array([t[at]]),
                int(self.drawn[at]),
            )[0, 0]
        return np.asarray(chance.prod(axis=1))

    def take(self, keep: NDArray[np.bool_]) -> Strata:
        """The targets where `keep` is true."""
        return Strata(**{name: values[keep] for name, values in self.columns().items()})

    def __add__(self, other: Strata) -> Strata:
        if self.n_strata != other.n_strata:
            raise InputError(
                f"Samples can be added only if their strata agree; one has {self.n_strata}, the "
                f"other {other.n_strata}."
            )
        theirs = other.columns()
        return Strata(**{n: np.concatenate([v, theirs[n]]) for n, v in self.columns().items()})

    def columns(self) -> dict[str, Any]:
        """The arrays by name, for files."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _table(name: str, value: ArrayLike, shape: tuple[int, ...] | None = None) -> Ints:
    array = checks.as_array(name, value)
    if array.ndim != 2 or (shape is not None and array.shape != shape):
        wanted = "targets × strata" if shape is None else f"shape {shape}"
        raise InputError(f"`{name}` must be a table of {wanted}, not of shape {array.shape}.")
    flat = checks.integers(name, array.ravel(), low=0)
    return flat.reshape(array.shape)
