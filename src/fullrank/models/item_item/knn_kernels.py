"""Nearest items, one row of the item–item similarity at a time: no pair of items is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib.jit import jit
from fullrank._lib.types import Array

DOT, COSINE, JACCARD = 0, 1, 2


@jit
def nearest(
    start: int,
    stop: int,
    users_indptr: Array,
    users: Array,
    items_indptr: Array,
    items: Array,
    user_weight: Array,
    item_weight: Array,
    size: Array,
    kind: int,
    shrinkage: float,
    neighbours: Array,
    similarities: Array,
    counts: Array,
) -> None:
    """The most similar items of items start..stop−1, in no order.

    The users of item i are users[users_indptr[i]:users_indptr[i + 1]], the items of user u
    items[items_indptr[u]:items_indptr[u + 1]]; unsigned, which spares every look-up the
    question whether an index counts from the end. With weights a_i·b_u, of which `user_weight`
    has the b_u², the product of two items is a_i·a_j·Σ b_u² over the users of both; `size` is
    an item's length for the cosine, and the square of it for Jaccard.
    """
    n_items = users_indptr.size - 1
    total = np.zeros(n_items)
    touched = np.empty(n_items, np.uint32)
    for i in range(start, stop):
        work: Any = 0
        for a in range(users_indptr[i], users_indptr[i + 1]):
            work += np.int64(items_indptr[users[a] + 1] - items_indptr[users[a]])
        # few pairs: remember which sums they reach; many: look at all sums afterwards
        few = 4 * work < n_items
        n_touched = n_items
        if few:
            n_touched = _add_few(
                i, users_indptr, users, items_indptr, items, user_weight, total, touched
            )
        else:
            for a in range(users_indptr[i], users_indptr[i + 1]):
                weight = user_weight[users[a]]
                for b in range(items_indptr[users[a]], items_indptr[users[a] + 1]):
                    total[items[b]] += weight
        n_kept = 0
        least = 0.0
        for t in range(n_touched):
            j = np.int64(touched[t]) if few else t
            product = total[j] * (item_weight[i] * item_weight[j])
            total[j] = 0
            below = 1.0
            if kind == COSINE:
                below = size[i] * size[j] + shrinkage
            elif kind == JACCARD:
                below = size[i] + size[j] - product + shrinkage
            # one question that nearly always gets the same answer: no division, no zeros
            if product > least * below and j != i:
                value = np.float32(product / below)
                n_kept = keep(neighbours[i], similarities[i], n_kept, j, value)
                if n_kept == neighbours.shape[1]:  # a little less, lest rounding decides
                    least = np.float64(similarities[i, 0]) * (1.0 - 1e-6)
        counts[i] = n_kept


@jit
def _add_few(
    i: int,
    users_indptr: Array,
    users: Array,
    items_indptr: Array,
    items: Array,
    user_weight: Array,
    total: Array,
    touched: Array,
) -> int:
    """Add the pairs of item i and list the sums they reach; gives how many."""
    n_touched = 0
    for a in range(users_indptr[i], users_indptr[i + 1]):
        weight = user_weight[users[a]]
        if weight > 0:
            for b in range(items_indptr[users[a]], items_indptr[users[a] + 1]):
                if total[items[b]] == 0:
                    touched[n_touched] = items[b]
                    n_touched += 1
                total[items[b]] += weight
    return n_touched


@jit
def keep(labels: Array, values: Array, size: int, label: Any, value: Any) -> int:
    """Put one more into a heap of the best, worst on top; gives the new size.

    Of equal values the smaller label is the better, so the order of arrival does not matter.
    """
    if size < labels.size:
        at = size
        while at > 0:  # rises above those that are better
            above = (at - 1) // 2
            if values[above] < value or (values[above] == value and labels[above] > label):
                break
            values[at], labels[at] = values[above], labels[above]
            at = above
        values[at], labels[at] = value, label
        return size + 1
    if value < values[0] or (value == values[0] and label > labels[0]):
        return size
    at = 0
    while 2 * at + 1 < size:  # sinks below those that are worse
        below = 2 * at + 1
        other = below + 1
        if other < size and (
            values[other] < values[below]
            or (values[other] == values[below] and labels[other] > labels[below])
        ):
            below = other
        if values[below] > value or (values[below] == value and labels[below] < label):
            break
        values[at], labels[at] = values[below], labels[below]
        at = below
    values[at], labels[at] = value, label
    return size
