"""The design of ranks sampled elsewhere: as given, or inferred from what they show."""

from __future__ import annotations

import numpy as np

from fullrank._lib.types import Ints
from fullrank.designs.adaptive import Adaptive
from fullrank.designs.design import Design
from fullrank.designs.uniform import Uniform
from fullrank.errors import InputError

INFER = "infer"
ASSUMED = (
    'Sampling without replacement is assumed. If an item could be drawn twice, give `design="{}"`.'
)
ASSUMED_UNIFORM = ASSUMED.format("sampled:replacement=true")


def said(design: str | Design) -> Design | None:
    """The given design; None if it is to be inferred."""
    return None if isinstance(design, str) and design == INFER else Design.of(design)


def infer_design(
    rank: Ints, sample_size: Ints, n_items: Ints, *, design: str | Design = INFER
) -> tuple[Design, tuple[str, ...]]:
    """Infer the design of these outcomes, and state the assumptions.

    "infer" returns an adaptive design if there are several sample sizes and rank 1 occurs at none
    of them but the largest (or at none at all), because an adaptive design draws more candidates
    for a target at rank 1 until its last level (or until the user's items are used up). The levels
    are the sample sizes. Ranks do not show whether an item could be drawn twice, so sampling
    without replacement is assumed.

    A given adaptive design without a limit takes its levels from the sample sizes.

    Examples
    --------
    >>> import numpy as np
    >>> infer_design(np.array([2, 7, 1]), np.array([25, 25, 50]), np.full(3, 900))[0]
    adaptive:25,limit=50
    """
    given = said(design)
    if given is None:
        _check_sizes(sample_size, n_items)
    if given is None or (isinstance(given, Adaptive) and given.limit is None):
        return _from_sizes(rank, sample_size, n_items, given)
    return given, ()


def _from_sizes(
    rank: Ints, size: Ints, n_items: Ints, given: Design | None
) -> tuple[Design, tuple[str, ...]]:
    last = (size == size.max()) | (size == n_items)
    sizes = np.union1d(size[~last], size.max())
    shown = ", ".join(f"{one:,}" for one in sizes[:12]) + (", …" if sizes.size > 12 else "")
    if given is not None:
        if sizes.size == 1:
            raise InputError(
                "`design` must name its levels, as in adaptive:levels=25/50/100; all sample sizes "
                f"are {sizes[0]:,}, so the levels cannot be inferred."
            )
        levels = given.with_(levels=tuple(sizes.tolist()))
        return levels, (f"The levels were taken from the sample sizes: {shown}.",)
    if sizes.size == 1:
        return Uniform(), (ASSUMED_UNIFORM,)
    if ((rank == 1) & ~last).any():
        why = (
            "A fixed design is assumed, because rank 1 occurs at sample sizes below the largest "
            f"(sizes: {shown})."
        )
        return Uniform(), (ASSUMED_UNIFORM, why)
    where = "only at the largest" if (rank == 1).any() else "at none"
    why = (
        f"An adaptive design with levels {shown} is assumed, because rank 1 occurs {where} of the "
        "sample sizes."
    )
    found = Adaptive(levels=tuple(sizes.tolist()))
    return found, (ASSUMED.format(found.with_(replacement=True)), why)


def _check_sizes(size: Ints, n_items: Ints) -> None:
    if (size > n_items).any():
        at = int(np.argmax(size > n_items))
        raise InputError(
            f"`n_items` must be at least the sample size; it is {n_items[at]:,} where {size[at]:,} "
            "candidates were drawn. Did you swap them?"
        )
