"""What `RankMetric` keeps per target: seven whole numbers, from which exact ranks follow.

A row is made where the scores are, and read once rows of all processes are together. Rows of the
same user come from the same list of scores, one by one or together: each was counted with the
user's other targets among the candidates, and these are taken off again by their scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank._lib.text import counted
from fullrank._lib.types import Array, Floats, Ints
from fullrank.designs import Design
from fullrank.errors import InputError
from fullrank.ranking.ties import between_rows
from fullrank.samples import ExactRanks, RankSample
from fullrank.torch.counting import NAN, OUTSIDE, BlockCounts, count_block
from fullrank.torch.exclusions import as_tensor, is_sparse
from fullrank.torch.library import torch

WIDTH = 7
USER, ITEM, ABOVE, EQUAL, CANDIDATES, SCORE, FLAGS = range(WIDTH)
# flags: the target was excluded in its own row; items were excluded in it; rows have no users of
# their own; the item is not a column
HIDDEN, UNSEEN, NUMBERED, NAMED = 1, 2, 4, 8
_LOW_BITS = 2**63 - 1
_ROUNDING = 2.0**-6  # of scores of one user and item, computed in batches of other shapes
_NOISE = 2.0**-16  # of the largest score: what float32 leaves, computed in another order
_FEW = 32  # repeats that say nothing about a whole evaluation
_SHARE = 64  # or by how many of so many candidates their ranks may differ


class NoTargetsError(InputError):
    """There is nothing to make a result of."""


def make_rows(
    scores: Any, target: Any, user: Any, exclude: Any, item: Any, *, numbered_from: int
) -> Any:
    """The rows of a block, on its device if that has float64; padding has no candidates."""
    found = _with_doubles(count_block(scores, target, exclude))
    shape = found.mark.shape
    columns = found.columns
    flags = found.hidden.long() * HIDDEN
    unseen = exclude is not None or found.counts[..., 2] < scores.shape[-1]
    flags = flags + (UNSEEN if unseen is True else unseen.long() * UNSEEN)
    if user is None:
        lists = shape if scores.ndim == 3 else shape[:1]
        users = torch.arange(int(np.prod(lists)), device=found.mark.device) + numbered_from
        users, flags = users.reshape(lists), flags + NUMBERED
    else:
        users = _whole("user", user, shape if scores.ndim == 3 else shape[:1], found.mark.device)
    if users.ndim < len(shape):
        users = users[:, None].expand(shape)
    if item is not None:
        columns, flags = _whole("item", item, shape, found.mark.device), flags + NAMED
    number = (found.mark.double() + 0.0).view(torch.int64)  # -0.0 becomes 0.0
    order = number ^ ((number >> 63) & _LOW_BITS)
    parts = (users, columns, *found.counts.unbind(-1), order, flags)
    return torch.stack([part.reshape(-1) for part in parts], -1)


def _with_doubles(found: BlockCounts) -> BlockCounts:
    """The counts where scores can be float64: Apple's GPUs have no such numbers."""
    if found.mark.device.type != "mps":
        return found
    return BlockCounts(
        found.counts.cpu(), found.columns.cpu(), found.mark.cpu(), found.hidden.cpu()
    )


def _whole(name: str, value: Any, shape: Any, device: Any) -> Any:
    if is_sparse(value):
        raise InputError(f"`{name}` must be a dense tensor of whole numbers, not a sparse one.")
    numbers = as_tensor(name, value, device)
    if numbers.is_floating_point() or numbers.is_complex() or numbers.dtype == torch.bool:
        raise InputError(f"`{name}` must hold whole numbers, not {numbers.dtype}.")
    if tuple(numbers.shape) != tuple(shape):
        raise InputError(
            f"`{name}` must have shape {tuple(shape)}, not {tuple(numbers.shape)}: one number for "
            f"each {'target' if name == 'item' else 'list of scores'}."
        )
    if numbers.dtype == torch.uint64 and (numbers.long() < 0).any():
        raise InputError(f"`{name}` must hold whole numbers below 2**63; some are not.")
    return numbers.long()


def check_counted(rows: Array) -> None:
    """Raise if a row could not be counted."""
    for value, why in (
        (NAN, "`scores` must be numbers; a score {of} is NaN"),
        (OUTSIDE, "`target` and `exclude` must hold columns of `scores`; a value {of} is not"),
    ):
        bad = rows[:, CANDIDATES] == value
        if bad.any():
            first = rows[np.argmax(bad)]
            row = "in row" if first[FLAGS] & NUMBERED else "of user"
            n_bad = np.count_nonzero(bad)
            raise InputError(
                f"{why.format(of=f'{row} {first[USER]}')} (target {first[ITEM]}; {n_bad:,} "
                f"{'target' if n_bad == 1 else 'targets'} in all)."
            )


def ordered(rows: Ints, *, sampled: bool) -> Ints:
    """The rows of targets, by user and item, each once."""
    check_counted(rows)
    rows = rows[rows[:, CANDIDATES] > 0]
    if not rows.size:
        raise NoTargetsError("`update` must be given at least one target before a result is read.")
    numbered = rows[:, FLAGS] & NUMBERED
    if (numbered != numbered[0]).any():
        raise InputError("`user` must be given in every update or in none.")
    rows = rows[np.lexsort((rows[:, ITEM], rows[:, USER]))]
    same = (rows[1:, USER] == rows[:-1, USER]) & (rows[1:, ITEM] == rows[:-1, ITEM])
    first = np.concatenate([[True], ~same])
    _check_repeats(rows, first, sampled)
    once: Ints = rows[first]
    return once


def _check_repeats(rows: Ints, first: Array, sampled: bool) -> None:
    """Repeats of a target may differ by the rounding of scores, as in batches of other shapes."""
    if first.all():
        return
    kept = rows[first][np.cumsum(first) - 1]
    here, there = score_of(rows), score_of(kept)
    with np.errstate(invalid="ignore"):  # equal infinities
        apart = np.where(here == there, 0.0, np.abs(here - there))
    finite = np.abs(here[np.isfinite(here)])
    largest = finite.max() if finite.size else 0.0
    named = (rows[:, FLAGS] & NAMED) > 0
    if not sampled or named.all():
        _check_reset(first, apart > _NOISE * largest)
    close = apart <= _ROUNDING * np.maximum(np.abs(here), np.abs(there))
    alike = (rows[:, [ABOVE, EQUAL, CANDIDATES]] == kept[:, [ABOVE, EQUAL, CANDIDATES]]).all(1)
    if sampled:  # repeats have other candidates by design, but column 0 may be any item
        agree = np.where(named, close, alike & (apart == 0.0))
    else:
        room = kept[:, CANDIDATES] // _SHARE
        near = np.all(np.abs(rows[:, [ABOVE, EQUAL]] - kept[:, [ABOVE, EQUAL]]) <= room[:, None], 1)
        near &= apart <= _ROUNDING * largest  # scores near 0 are rounded like the others
        agree = (rows[:, CANDIDATES] == kept[:, CANDIDATES]) & (close | near)
    if agree.all():
        return
    at = int(np.argmin(agree))
    user, item = rows[at, USER], rows[at, ITEM]
    hint = (
        "Give the ids of targets as `item`"
        if sampled and not rows[at, FLAGS] & NAMED
        else "Different lists of scores need different numbers in `user`, and a new evaluation "
        "needs `reset` first"
    )
    raise InputError(
        f"`update` must be given the same scores when user {user} and item {item} occur again; "
        f"that target now has {rows[at, ABOVE]} of {rows[at, CANDIDATES]} candidates above it, and "
        f"had {kept[at, ABOVE]} of {kept[at, CANDIDATES]} before. {hint}."
    )


def _check_reset(first: Array, differ: Array) -> None:
    """Refuse an evaluation on top of another, whose targets would be dropped as repeats.

    Samplers repeat few targets, and processes that all evaluate everything repeat the scores.
    """
    again = ~first
    if again.sum() >= max(first.sum(), _FEW) and 2 * differ[again].sum() > again.sum():
        raise InputError(
            "`reset` must be called before targets are evaluated again with other scores: "
            f"{again.sum():,} repeats of {first.sum():,} targets were given."
        )


def score_of(rows: Ints) -> Floats:
    """The targets' scores, from the whole numbers that are in their order."""
    number = np.ascontiguousarray(rows[:, SCORE])
    return (number ^ ((number >> 63) & _LOW_BITS)).view(np.float64)


def exact_ranks(rows: Ints, ties: str, *, user_ids: Any = None, item_ids: Any = None) -> ExactRanks:
    """Exact ranks of blocks that hold every item."""
    rows = ordered(rows, sampled=False)
    users, starts, n_targets = _by_user(rows)
    mark, item = score_of(rows), np.ascontiguousarray(rows[:, ITEM])
    others, offset = between_rows(users, starts, item, mark, ties, 0)
    taken_above, taken_equal, missing = others.greater, others.equal, np.zeros_like(offset)
    absent = ((rows[:, FLAGS] & HIDDEN) > 0) | (mark == -np.inf)
    group = np.repeat(np.arange(users.size), np.diff(starts))
    several = np.repeat(np.logical_or.reduceat(absent, starts[:-1]), np.diff(starts))
    if several.any():  # users some of whose targets were not counted for the others
        taken_above[several], taken_equal[several], missing[several] = _among_present(
            group[several], mark[several], absent[several]
        )
    above, equal = rows[:, ABOVE] - taken_above, rows[:, EQUAL] - taken_equal
    candidates = rows[:, CANDIDATES] + missing
    _check_lists(rows, candidates, starts, group)
    above, equal = _in_range(rows, above, equal, candidates - n_targets, mark, starts, group)
    unseen = bool((rows[:, FLAGS] & UNSEEN).any())
    return ExactRanks(
        above=checks.frozen(above), equal=checks.frozen(equal),
        candidates=checks.frozen(candidates), n_targets=checks.frozen(n_targets),
        offset=checks.frozen(offset), weight=checks.frozen(np.ones(offset.size)), ties=ties,
        pool="unseen" if unseen else "all",
        user=checks.frozen(_named("user_ids", rows[:, USER], user_ids)),
        item=checks.frozen(_named("item_ids", item, item_ids)),
    )  # fmt: skip


def _among_present(group: Ints, mark: Floats, absent: Array) -> tuple[Ints, Ints, Ints]:
    """How many other targets of the same user that are present score higher, or the same.

    And how many others are absent. The rows of a user are next to each other.
    """
    values, place = np.unique(mark, return_inverse=True)
    key = group * values.size + place
    present = np.sort(key[~absent])
    up_to = np.searchsorted(present, key, side="right")
    below = np.searchsorted(present, key)
    first, last = (
        np.searchsorted(present, (group + after) * values.size) for after in (0, 1)
    )  # of the user's
    _, index, size = np.unique(group, return_inverse=True, return_counts=True)
    here = (~absent).astype(np.int64)
    return last - up_to, up_to - below - here, size[index] - 1 - (last - first - here)


def rank_sample(
    rows: Ints, ties: str, design: Design, n_items: int, *, user_ids: Any = None,
    item_ids: Any = None,
) -> RankSample:  # fmt: skip
    """The sample of blocks of sampled candidates, one for each target."""
    rows = ordered(rows, sampled=True)
    users, starts, n_targets = _by_user(rows)
    item = np.ascontiguousarray(rows[:, ITEM])
    _, offset = between_rows(users, starts, item, score_of(rows), ties, 0)
    equal = rows[:, EQUAL]
    tied = {"best": 0 * equal, "mean": equal // 2 + equal % 2, "worst": equal}[ties]
    named = bool((rows[:, FLAGS] & NAMED).all())
    if design.ties == "unknown" and ties != "mean":
        design = design.with_(ties=ties)
    return RankSample.from_ranks(
        1 + rows[:, ABOVE] + tied,
        n_items=n_items,
        sample_size=rows[:, CANDIDATES],
        design=design,
        user=_named("user_ids", rows[:, USER], user_ids),
        item=_named("item_ids", item, item_ids) if named else None,
        n_targets=n_targets,
        offset=offset,
    )


def _by_user(rows: Ints) -> tuple[Ints, Ints, Ints]:
    """The users, where their rows start, and for each row the number of its user's."""
    first = np.concatenate([[True], rows[1:, USER] != rows[:-1, USER]])
    starts = np.append(np.flatnonzero(first), rows.shape[0])
    number = np.diff(starts)
    return rows[first, USER], starts, np.repeat(number, number)


def _named(name: str, rows: Ints, ids: Any) -> Array:
    """The ids of user or item numbers."""
    if ids is None:
        return rows
    shape = checks.numpy_of(name, ids).shape
    table = checks.ids(name, ids, shape[0] if shape else 1)
    bad = (rows < 0) | (rows >= table.size)
    what = f"lie in 0..{table.size - 1}, the rows of `{name}`"
    checks.reject(name.removesuffix("_ids"), rows, bad, what)
    return table[rows]


def _check_lists(rows: Ints, candidates: Ints, starts: Ints, group: Ints) -> None:
    """All targets of a user are ranked among the same candidates."""
    first = candidates[starts[:-1]][group]
    if (candidates != first).any():
        at = int(np.argmax(candidates != first))
        raise _other_list(rows, at, f"{first[at]:,} and {candidates[at]:,} candidates")
    number = np.diff(starts)[group]
    if (number > candidates).any():  # other items are -inf, so not candidates, in other rows
        at = int(np.argmax(number > candidates))
        only = counted(int(candidates[at]), "candidate")
        raise _other_list(rows, at, f"{number[at]:,} targets and {only}")


def _in_range(
    rows: Ints, above: Ints, equal: Ints, others: Ints, mark: Floats, starts: Ints, group: Ints
) -> tuple[Ints, Ints]:
    """The counts, none below 0 or above all: rounding may put two close targets either way."""
    for t in np.flatnonzero((above < 0) | (equal < 0) | (above + equal > others)):
        near = mark[starts[group[t]] : starts[group[t] + 1]]
        with np.errstate(invalid="ignore"):
            close = np.abs(near - mark[t]) <= _ROUNDING * np.maximum(np.abs(near), np.abs(mark[t]))
        if close.sum() < 2:
            raise _other_list(rows, int(t), "scores from different lists")
    above = np.clip(above, 0, others)
    return above, np.clip(equal, 0, others - above)


def _other_list(rows: Ints, at: int, what: str) -> InputError:
    return InputError(
        f"`user` must be shared only by targets of the same list of scores; those of user "
        f"{rows[at, USER]} have {what}. Different lists need different numbers."
    )
