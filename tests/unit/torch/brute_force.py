"""Counts by their definition, one candidate at a time."""

from __future__ import annotations

import numpy as np


def count(scores, target, excluded=()):
    """Above, equal and candidates of one target in one row of scores (numpy, float64)."""
    if target < 0:
        return [0, 0, 0]
    if target >= len(scores) or any(e >= len(scores) for e in excluded):
        return [-2] * 3
    own = scores[target]
    above = equal = 0
    candidates = 1
    for j, score in enumerate(scores):
        if j == target or j in excluded or score == -np.inf:
            continue
        if np.isnan(score) or np.isnan(own):
            return [-1] * 3
        candidates += 1
        above += score > own
        equal += score == own
    return [-1] * 3 if np.isnan(own) else [int(above), int(equal), candidates]


def count_rows(scores, targets, excluded=None):
    """The counts of some rows: targets (B,) or (B, T), a set of columns for each row."""
    excluded = [()] * len(scores) if excluded is None else excluded
    return np.array(
        [
            [count(row, t, set(e)) for t in np.atleast_1d(ts)]
            for row, ts, e in zip(scores, targets, excluded, strict=True)
        ]
    ).reshape(*np.shape(targets), 3)
