"""When a comparison of sampled metrics is valid.

In general it is not: sampled metrics need not order models as exact metrics do (Rendle 2019). They
do if one recall curve dominates the other in the full catalogue (Li et al. 2020, Theorem 2.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fullrank.errors import InputError
from fullrank.inference.comparison.aligned import Aligned, fixed
from fullrank.inference.comparison.curves import Dominance, dominance
from fullrank.metrics import parse
from fullrank.samples import Seeds

Pairs = list[tuple[int, int]]


def check_seeds(ranks: Any) -> None:
    """Refuse sampled metrics of several seeds, which are averaged as estimates only."""
    several = [name for name, one in ranks.items() if isinstance(one, Seeds)] if isinstance(
        ranks, Mapping) else []  # fmt: skip
    if several:
        raise InputError(
            f'`method` must not be "naive" for a model with several seeds, such as {several[0]}.'
        )


def check_designs(aligned: Aligned) -> None:
    """Refuse sampled metrics of models that were sampled in different ways."""
    if not fixed(aligned):
        raise InputError(
            '`method` must not be "naive" for models that were sampled differently. Sampled '
            "metrics need the same catalogue, sample size and design in every model."
        )


def curves(
    aligned: Aligned, pairs: Pairs, confidence: float, rng: np.random.Generator
) -> dict[tuple[str, str], Dominance]:
    """The sampled recall curves of each pair, where users are paired."""
    samples = fixed(aligned)
    if not aligned.paired or samples[0].exhausted:
        return {}
    depth = int(samples[0].sample_size.max())
    ranks = []
    for one in samples:
        assert one.rows is not None  # checked when it was read
        user = one.rows.user
        order = slice(None) if user is None else np.argsort(user, kind="stable")
        ranks.append(one.rows.rank[order])
    if depth < 2:
        return {}
    return {
        (aligned.models[i], aligned.models[j]): dominance(
            ranks[i],
            ranks[j],
            depth=depth,
            weight=aligned.weight[0],
            confidence_level=confidence,
            rng=rng,
        )
        for i, j in pairs
    }


def licence(aligned: Aligned, curves: Mapping[tuple[str, str], Dominance]) -> tuple[str, ...]:
    """Notes on whether the comparison is valid (Rendle 2019; Li et al. 2020, Theorem 2.1)."""
    sample = aligned.results[0]
    if sample.exhausted:
        return ("Every item was drawn, so the sampled metrics are exact.",)
    n, pool = int(sample.sample_size.max()), int(sample.pool.max())
    kept = [m for m in aligned.metrics if parse(m).promises.share_below and parse(m).k is None]
    cut = [m for m in aligned.metrics if m not in kept]
    if not cut:
        return ("On average, sampled AUC orders models as exact AUC does (Rendle 2019).",)
    notes = [
        (
            f"This is not a valid comparison: among {n:,} of {pool:,} items, {', '.join(cut)} may "
            "order the models differently from the exact metrics (Rendle 2019). Use "
            'method="auto" to compare full-catalogue metrics.'
        )
    ]
    notes += [
        f"{a} and {b}: their sampled recall curves cross ({a} above at k = {curve.above[0]:,}, {b} "
        f"at k = {curve.below[0]:,}), so neither dominates in the full catalogue and "
        "their order depends on K (Li et al. 2020, Theorem 2.1)."
        for (a, b), curve in curves.items()
        if curve.verdict == "crossing"
    ]
    higher = [
        f"for {a} than for {b}" if curve.verdict == "first" else f"for {b} than for {a}"
        for (a, b), curve in curves.items()
        if curve.verdict in ("first", "second")
    ]
    if higher:
        notes.append(
            "Sampled recall is never lower, and at some k significantly higher, "
            f"{', '.join(higher)}. If full-catalogue recall is never lower either, sampled metrics "
            "name the better model (Li et al. 2020, Theorem 2.1). The sample cannot show a "
            f"crossing below about K = {pool / n:,.0f}."
        )
    open_ = [f"{a} and {b}" for (a, b), curve in curves.items() if curve.verdict == "undecided"]
    if open_:
        notes.append(
            "The data do not show that either sampled recall curve dominates the other: "
            f"{'; '.join(open_)}."
        )
    return tuple(notes)
