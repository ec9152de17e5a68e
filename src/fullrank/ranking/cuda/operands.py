"""Vectors as the tensor cores take them: rounded, with what rounding cut off, in whole tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fullrank.ranking.cuda import rounding


@dataclass(frozen=True)
class Tile:
    """The shape of a program's work: users by items, so many factors at a time."""

    users: int
    items: int
    factors: int
    warps: int
    stages: int


def tile_for(d: int, operands: str) -> tuple[Tile, int]:
    """The quickest of the tiles tried on an H200, and d padded to it."""
    if operands == "bf16":
        widest, part, stages = 128, 64, 3 if d <= 64 else 2
    else:
        widest, part, stages = 64, 32, 2
    if d <= widest:
        padded = max(32, 1 << (d - 1).bit_length())
        return Tile(128, 128, padded, 8, stages), padded
    return Tile(128, 128, part, 8, 3), -(-d // part) * part


@dataclass(frozen=True, kw_only=True, eq=False)
class Operand:
    """Vectors for the tensor cores: rounded, what that cut off (rounded too), and lengths."""

    high: Any
    low: Any
    length: Any  # of high
    rest: Any  # of what high cut off
    low_length: Any  # of low
    low_rest: Any  # of what high and low together cut off

    @classmethod
    def rounded(cls, torch: Any, values: Any, scale: float, operands: str, width: int) -> Operand:
        """Of values × scale (a power of two: exact), padded by zeros to `width` columns."""
        if not 2.0**-120 < scale < 2.0**120:  # float32 has no such number
            values = values.double()
        exact = values * scale
        first = rounding.rounded(torch, exact.to(torch.float32), operands)
        left = exact - first.to(exact.dtype)
        second = rounding.rounded(torch, left.to(torch.float32), operands)
        return cls(
            high=_wide(torch, first, width),
            low=_wide(torch, second, width),
            length=rounding.lengths(torch, first),
            rest=rounding.lengths(torch, left),
            low_length=rounding.lengths(torch, second),
            low_rest=rounding.lengths(torch, left - second.to(exact.dtype)),
        )

    def rows(self, at: Any) -> Operand:
        """Some of the vectors, side by side."""
        return Operand(**{name: values[at] for name, values in vars(self).items()})

    def padded(self, torch: Any, size: int) -> Operand:
        """As many vectors of zeros behind them as make `size`."""
        return Operand(
            **{name: lengthened(torch, values, size) for name, values in vars(self).items()}
        )


def lengthened(torch: Any, values: Any, size: int, fill: float = 0.0) -> Any:
    """The values, and as many of `fill` behind them as make `size` rows."""
    if values.shape[0] >= size:
        return values
    more = (size - values.shape[0], *values.shape[1:])
    return torch.cat([values, torch.full(more, fill, dtype=values.dtype, device=values.device)])


def block_max(torch: Any, values: Any, n_blocks: int, size: int) -> Any:
    """The largest of each block of `size` values."""
    return lengthened(torch, values, n_blocks * size).view(n_blocks, size).amax(1)


def _wide(torch: Any, values: Any, width: int) -> Any:
    if values.shape[1] == width:
        return values.contiguous()
    out = torch.zeros((values.shape[0], width), dtype=values.dtype, device=values.device)
    out[:, : values.shape[1]] = values
    return out
