"""Exact ranks of factor models on a GPU: tensor cores as the filter, float64 where they fail.

The plan is that of _exact_factors.py with another filter (rounding.py): scores of the tensor cores
further from the target's than their error bound are counted and forgotten. What lies within is
multiplied again with the remainders of the rounded operands, which makes the bound a hundred times
smaller; what is still undecided is listed and summed in float64 as the score is defined. So the
counts are those of the CPU. Items come in the order of their lengths, users in the order of t/|u|,
and no block is multiplied whose longest item cannot reach the lowest target of a block of users.
With `max_rank` the items come in rounds, and who is out after one has no part in the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib.device import free_memory
from fullrank.ranking.cpu.factors.exact_factors import Scale, scale_for
from fullrank.ranking.cuda import rounding
from fullrank.ranking.cuda.catalogue import Blocks, prepare
from fullrank.ranking.cuda.exact.leaving import WORTH, Leaving, rounds
from fullrank.ranking.cuda.operands import Operand, tile_for
from fullrank.ranking.cuda.parts import parts
from fullrank.ranking.cuda.streaming import Piece, Stream, rows_of, to_device
from fullrank.ranking.cuda.target_rows import Rows, place_rows
from fullrank.ranking.job import Job
from fullrank.ranking.ties import Counts
from fullrank.scorers.factors import FactorScorer

_LISTED = 1 << 28  # places for undecided scores, 1 GB
_FEW, _MANY = 64, 1024  # places for a target, at first
_FLAGS = 1 << 29  # bytes of flags, one for each row and block of items
_ITEMS = 1 << 30  # bytes of item factors on the device at once
_USERS = 1 << 34  # bytes of users and targets on the device at once
_MOST = 1 << 17  # targets counted together
_OUT_OF_REACH = 3e38  # no finite score is as large, and its bounds are numbers
_STEP = 64  # `fast` looks for scores within the bound in every so many blocks


def count_factors(
    job: Job, scorer: FactorScorer, torch: Any, device: Any
) -> tuple[Counts, int] | None:
    """Counts as `_exact_factors.count_factors` gives them, and the number of undecided scores.

    None where the bounds do not hold (see there), or where a target's score is infinite.
    """
    # Vectors are there several times: as they are, rounded, what that cut off, and on the way to
    # it; half of the memory is enough for eight times the users' and eight times the items'.
    room = free_memory(torch, device) // 16
    _, width = tile_for(scorer.item_factors.shape[1], job.operands)
    row = scorer.item_factors.dtype.itemsize * width
    items = Stream(
        torch, device, scorer.item_factors, job.catalogue, max(1, min(_ITEMS, room) // row)
    )
    counts, undecided = Counts.empty(job.targets.order.size), 0
    for here, part in parts(job, row, min(_USERS, room)):
        found = Count(torch, device, part, scorer, items).run()
        if found is None:
            return None
        for name in ("greater", "equal", "before", "mark", "out", "scored"):
            getattr(counts, name)[here] = getattr(found[0], name)
        undecided += found[1]
    return counts, undecided


class Count:
    """One count: what is on the device, and what was counted."""

    def __init__(
        self, torch: Any, device: Any, job: Job, scorer: FactorScorer, items: Stream
    ) -> None:
        self.torch, self.device, self.job, self.scorer, self.items = (
            torch, device, job, scorer, items,
        )  # fmt: skip
        self.d = int(scorer.item_factors.shape[1])
        self.tile, self.width = tile_for(self.d, job.operands)
        t = job.targets
        self.users = self._send(scorer.user_factors[t.users])
        self.target_item = self._send(t.item_rows[t.order])
        self.target_user = self._send(np.repeat(np.arange(t.users.size), np.diff(t.starts)))
        self.tie_user = self._send(t.user_rows[t.order])
        self.target_vectors = self._send(scorer.item_factors[t.item_rows[t.order]])
        self.greater, self.equal, self.before = (
            torch.zeros(t.order.size, dtype=torch.int64, device=device) for _ in range(3)
        )
        self.excluded: tuple[Any, ...] | None = None
        self.leaving: Leaving | None = None

    def _send(self, array: Any) -> Any:
        return to_device(self.torch, array, self.device)

    def run(self) -> tuple[Counts, int] | None:
        """All items through the device, piece by piece; None where the bounds do not hold."""
        torch, job, t = self.torch, self.job, self.job.targets
        if not self.set_up():
            return None
        undecided, done = 0, 0
        for piece in self.items:
            undecided += self.count_blocks(self.blocks(piece))
            done += piece.names.size
            if job.progress is not None:
                job.progress(int(done / self.items.names.size * t.users.size), t.users.size)
        if job.fast:  # an excluded item may be on another side of a tie here than there
            others = self._others()
            self.greater = torch.minimum(self.greater.clamp(min=0), others)
            self.equal = torch.minimum(self.equal.clamp(min=0), others - self.greater)
            self.before = torch.minimum(self.before.clamp(min=0), self.equal)
        counts = Counts.empty(t.order.size)
        for name in ("greater", "equal", "before", "mark"):
            getattr(counts, name)[:] = getattr(self, name).cpu().numpy()
        if self.leaving is not None:
            self.leaving.tell(counts)
        return counts, undecided

    def set_up(self) -> bool:
        """Scale, marks and rows: what is the same for all items; False without a scale."""
        torch, t = self.torch, self.job.targets
        longest = [float(rounding.lengths(torch, piece.rows).max()) for piece in self.items]
        # numpy's maximum of a NaN and a number is NaN, wherever the NaN stands
        scale = scale_for(
            self.scorer, float(rounding.lengths(torch, self.users).max()), float(np.max(longest))
        )
        self.mark = self._marks()
        if scale is None or not bool(self.mark.isfinite().all()):
            return False
        self.scale: Scale = scale
        self.operand = Operand.rounded(
            torch, self.users, scale.users, self.job.operands, self.width
        )
        self.rows: Rows = place_rows(
            t.starts,
            self.mark.cpu().numpy() * scale.both,
            (self.operand.length.double() + self.operand.rest.double()).cpu().numpy(),
            rounding.tiny(self.d, scale.room),
        )
        self.row_user = self._send(self.rows.user)
        if self.job.max_rank is not None and not self.job.fast:
            self.leaving = Leaving(torch, self.device, self.job, self.mark.cpu().numpy())
        return True

    def blocks(self, piece: Piece) -> Blocks:
        """Items made ready for the count."""
        return prepare(
            self.torch, piece, self.scorer, self.scale, self.tile, self.job.operands, self.width
        )

    def _marks(self) -> Any:
        """The targets' true scores."""
        from fullrank.ranking.cuda.exact import decide_kernels as kernels

        torch, bias, n = self.torch, self.scorer.item_bias, self.target_item.shape[0]
        out = torch.empty(n, dtype=torch.float64, device=self.device)
        own = torch.zeros(1, dtype=torch.float64, device=self.device)
        if bias is not None:
            own = self._send(bias)[self.target_item]
        kernels.mark_scores[(-(-n // 128),)](
            self.users, self.target_vectors, own, self.target_user,
            torch.arange(n, device=self.device), out, n, self.d,
            BLOCK=128, HAS_BIAS=bias is not None, enable_fp_fusion=False,
        )  # fmt: skip
        return out

    def _others(self) -> Any:
        """How many candidates there are beside each target."""
        out = self.torch.full_like(self.greater, self.job.size - 1)
        if self.excluded is not None:
            _, first, last = self.excluded
            out -= (last - first)[self.target_user]
        return out

    def count_blocks(self, blocks: Blocks) -> int:
        """All rows against some items; gives the number of undecided scores."""
        undecided = 0
        if not self.job.fast:  # before the count, so that counts in between are not too high
            self._take_excluded(blocks)
        n_items = int(blocks.raw.shape[0])
        several = self.leaving is not None and self.rows.user.size * n_items > WORTH
        for begin, end in rounds(blocks.n_blocks, several):
            if self.rows.user.size:
                undecided += self._count_range(blocks, begin, end)
            if several and self.rows.user.size:
                self._let_leave(min(end * self.tile.items, n_items) - begin * self.tile.items)
        if self.job.fast:
            self._take_excluded(blocks)
        return undecided

    def _let_leave(self, n_items: int) -> None:
        """Drop the rows of users whose targets are all out, after a round of `n_items`."""
        assert self.leaving is not None
        self.leaving.note(n_items, self.greater, self.equal, self.before)
        left = self.leaving.left(self.rows, self.row_user)
        if left.user.size < self.rows.user.size:
            self.rows, self.row_user = left, self._send(left.user)

    def _count_range(self, blocks: Blocks, begin: int, end: int) -> int:
        """All rows against the blocks begin, begin + 1, …, end - 1."""
        n_rows, undecided, at, group = self.rows.user.size, 0, 0, self.rows.group
        # a flagged row is looked up by some sixty bytes
        flags = min(_FLAGS, free_memory(self.torch, self.device) // 128)
        fits = flags // ((end - begin) * self.tile.users) * self.tile.users
        step = widest = max(self.tile.users, min(_MOST // group, fits))
        capacity = least = max(_FEW, min(_MANY, _LISTED // (min(step, n_rows) * group)))
        while at < n_rows:
            stop = min(n_rows, at + step)
            most, listed = self._count_rows(blocks, at, stop, capacity, begin, end)
            if most > capacity:  # again, fewer at a time, with room for all of them
                capacity = 1 << (most - 1).bit_length()
                step = min(step, max(1, _LISTED // (capacity * group)))
                continue
            undecided += listed
            at = stop
            fewer = max(least, _LISTED // (2 * step * group))
            if step < widest and most <= fewer:  # users who tie with everything come first
                step, capacity = min(widest, 2 * step), min(capacity, fewer)
        return undecided

    def _count_rows(
        self, blocks: Blocks, at: int, stop: int, capacity: int, begin: int, end: int
    ) -> tuple[int, int]:
        """Count some rows: the most that one target has listed, and how many all have.

        Nothing is added to the counts if one target has listed more than `capacity`.
        """
        from fullrank.ranking.cuda.exact import count_kernels as kernels

        torch, tile, group, fast = self.torch, self.tile, self.rows.group, self.job.fast
        row_blocks = -(-(stop - at) // tile.users)
        n_rows = row_blocks * tile.users
        slots = n_rows * group
        of = self._send(self.rows.targets(at, stop, slots))
        # side by side, so that a program's rows are read as one piece
        rows = self.operand.rows(self.row_user[at:stop]).padded(torch, n_rows)
        marks = self._fast_marks(rows, of) if fast else self._slot_marks(of)
        above, within, near = (
            torch.zeros(slots, dtype=torch.int64, device=self.device) for _ in range(3)
        )
        flags = torch.zeros(
            1 if fast else n_rows * (end - begin), dtype=torch.int8, device=self.device
        )
        words = fast and self.job.random
        at_slot = of.clamp(min=0) if words else of[:0]
        ties = (
            blocks.names[blocks.order], self.tie_user[at_slot], self.target_item[at_slot],
            torch.zeros_like(above),
        )  # fmt: skip
        shards = self._shards(row_blocks, end - begin)
        shape = {
            "D": self.width, "BK": tile.factors, "BM": tile.users, "BN": tile.items,
            "GROUP": group, "HAS_BIAS": self.scorer.item_bias is not None,
            "UPCAST": self.device.type == "cpu", "num_warps": tile.warps,
        }  # fmt: skip
        rate, tiny = rounding.rate(self.width), rounding.tiny(self.d, self.scale.room)
        limit = self._limits(blocks, at, stop, row_blocks, end)
        for near_only in (False, True) if fast else (False,):
            kernels.count_scores[(row_blocks, shards)](
                rows.high, blocks.operand.high, blocks.bias32, marks, rows.length, rows.rest,
                *blocks.largest[:2], blocks.bias_size, limit, above, within, near, flags, *ties,
                self.job.key & 0xFFFFFFFF, self.job.key >> 32, n_rows, blocks.raw.shape[0],
                begin, -(-(end - begin) // shards), rate, tiny, FAST=fast, NEAR=near_only,
                STEP=_STEP if near_only else 1, RANDOM=words and not near_only,
                num_stages=tile.stages, **shape,
            )  # fmt: skip
        used = (of >= 0).nonzero()[:, 0]
        to = of[used]
        if fast:
            self.greater.index_add_(0, to, above[used])
            self.equal.index_add_(0, to, (within - above)[used])
            self.equal[to] -= (blocks.place(torch, self.target_item[to]) >= 0).long()
            self.before.index_add_(0, to, ties[-1][used])
            self.mark[to] = marks[used].double() / self.scale.both
            return 0, int(near[used].sum())
        listed = torch.zeros(slots, dtype=torch.int32, device=self.device)
        # rows that fill up the last tile have no targets and list nothing
        found = torch.empty((stop - at) * group * capacity, dtype=torch.int32, device=self.device)
        tile_blocks, tile_rows = self._flagged(flags.view(end - begin, n_rows))
        if tile_blocks.shape[0]:
            # four operands a step, in two stages, must fit beside each other
            shape["BK"] = min(tile.factors, 64 if self.job.operands == "bf16" else 32)
            kernels.count_again[(tile_blocks.shape[0],)](
                rows.high, rows.low, blocks.operand.high, blocks.operand.low, blocks.bias32, marks,
                rows.length, rows.low_length, rows.low_rest, blocks.largest[0],
                *blocks.largest[2:], blocks.bias_size, begin + tile_blocks, tile_rows, above,
                listed, found, blocks.raw.shape[0], capacity, rate, tiny, num_stages=2, **shape,
            )  # fmt: skip
        most = int(listed.max())
        if most <= capacity:
            self.greater.index_add_(0, to, above[used])
            start = (torch.arange(slots, device=self.device) * capacity)[used]
            self._decide(blocks, to, found, start, start + listed[used], sign=1, mapped=True)
        return most, int(listed[used].sum())

    def _slot_marks(self, of: Any) -> Any:
        """The targets' true scores, scaled; out of reach where there is no target."""
        marks = (self.mark[of.clamp(min=0)] * self.scale.both).float()
        return self.torch.where(of >= 0, marks, _OUT_OF_REACH)

    def _fast_marks(self, rows: Operand, of: Any) -> Any:
        """The targets' scores by the arithmetic of the others; out of reach where none is."""
        from fullrank.ranking.cuda.exact import count_kernels as kernels

        torch, tile, bias = self.torch, self.tile, self.scorer.item_bias
        n, at = of.shape[0], of.clamp(min=0)
        targets = Operand.rounded(
            torch, self.target_vectors[at], self.scale.items, self.job.operands, self.width
        ).high
        own = torch.zeros(1, device=self.device)
        if bias is not None:
            own = (self._send(bias) * self.scale.both).float()[self.target_item[at]]
        out = torch.empty(n, device=self.device)
        kernels.own_scores[(-(-n // 64),)](
            rows.high.repeat_interleave(self.rows.group, 0), targets, own, out, n,
            D=self.width, BK=tile.factors, BM=64, HAS_BIAS=bias is not None,
            UPCAST=self.device.type == "cpu",
        )  # fmt: skip
        return torch.where(of >= 0, out, _OUT_OF_REACH)

    def _flagged(self, flags: Any) -> tuple[Any, Any]:
        """Flagged rows packed into tiles, each of one block of items; -1 fills a tile up."""
        torch, size = self.torch, self.tile.users
        block, row = flags.nonzero(as_tuple=True)
        number = flags.sum(1, dtype=torch.int64)
        tiles = -(-number // size)
        starts = (torch.cumsum(tiles, 0) - tiles) * size
        packed = torch.full((int(tiles.sum()) * size,), -1, dtype=torch.int32, device=self.device)
        before = torch.cumsum(number, 0) - number
        within = torch.arange(block.shape[0], device=self.device) - before[block]
        packed[starts[block] + within] = row.int()
        blocks = torch.arange(flags.shape[0], dtype=torch.int32, device=self.device)
        return blocks.repeat_interleave(tiles), packed

    def _limits(self, blocks: Blocks, at: int, stop: int, row_blocks: int, end: int) -> Any:
        """For each block of rows how many of `end` blocks of items can reach one of its targets."""
        limit = np.full(row_blocks, end)
        if self.scorer.item_bias is None:
            length, rest = (values.double().cpu().numpy() for values in blocks.largest[:2])
            first = self.rows.needed[at : stop : self.tile.users]
            # largest first, but for the remainders: the running maximum keeps the order
            reach = np.maximum.accumulate((length + rest)[::-1])[::-1]
            limit = np.searchsorted(-reach * (1 + 2.0**-18), -first, side="right").clip(max=end)
        return self._send(limit.astype(np.int32))

    def _shards(self, row_blocks: int, n_blocks: int) -> int:
        """So many that few users fill the chip too."""
        if self.device.type != "cuda":
            return min(2, n_blocks)
        chips: int = self.torch.cuda.get_device_properties(self.device).multi_processor_count
        return max(1, min(n_blocks, -(-4 * chips // row_blocks)))

    def _decide(
        self,
        blocks: Blocks,
        of: Any,
        lists: Any,
        starts: Any,
        ends: Any,
        *,
        sign: int,
        mapped: bool,
    ) -> None:
        """Add what float64 says of listed items to the counts of the targets `of`.

        Entries of the lists are places in `blocks.order` if `mapped`, else in the piece itself.
        """
        from fullrank.ranking.cuda.exact import decide_kernels as kernels

        if of.shape[0] == 0:
            return
        torch, key, bias = self.torch, self.job.key, self.scorer.item_bias
        mine = [torch.zeros(of.shape[0], dtype=torch.int64, device=self.device) for _ in range(3)]
        users, items, added, scale = self.users, blocks.raw, blocks.bias, 1.0
        if self.job.fast:  # by the operands that were counted, in the order of the rows
            users, items = self.operand.high.float(), blocks.operand.high.float()
            items = items[torch.argsort(blocks.order)]
            added, scale = blocks.bias * self.scale.both, self.scale.both
        kernels.decide[(of.shape[0],)](
            users, items, added, self.mark[of] * scale,
            blocks.place(torch, self.target_item[of]), self.target_user[of], self.tie_user[of],
            self.target_item[of], lists, starts, ends, blocks.order, blocks.names, *mine,
            key & 0xFFFFFFFF, key >> 32, users.shape[1], sign, BL=32,
            BK=min(64, 1 << (users.shape[1] - 1).bit_length()), HAS_BIAS=bias is not None,
            RANDOM=self.job.random, MAPPED=mapped, num_warps=4, enable_fp_fusion=False,
        )  # fmt: skip
        for total, part in zip((self.greater, self.equal, self.before), mine, strict=True):
            total.index_add_(0, of, part)

    def _take_excluded(self, blocks: Blocks) -> None:
        """Take off what the excluded items of the piece have added."""
        exclusion = self.job.exclusion
        if exclusion is None:
            return
        torch = self.torch
        if self.excluded is None:
            starts, found = rows_of(exclusion, self.job.targets.users)
            self.excluded = tuple(self._send(array) for array in (found, starts[:-1], starts[1:]))
        items, first, last = self.excluded
        self._decide(
            blocks,
            torch.arange(self.target_item.shape[0], device=self.device),
            blocks.place(torch, items.long()),
            first[self.target_user],
            last[self.target_user],
            sign=-1,
            mapped=False,
        )
