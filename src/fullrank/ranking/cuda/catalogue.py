"""A piece of the catalogue made ready for the count: operands in blocks, by falling length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fullrank.ranking.cpu.factors.exact_factors import Scale
from fullrank.ranking.cuda.operands import Operand, Tile, block_max, lengthened
from fullrank.ranking.cuda.streaming import Piece, to_device
from fullrank.scorers.factors import FactorScorer


@dataclass(frozen=True, kw_only=True, eq=False)
class Blocks:
    """Some items on the device: as they are, and as operands in blocks.

    `raw`, `names` and `bias` are in the order of the item rows; `operand` and `bias32` in `order`,
    that of falling lengths, or the same one where biases make lengths say little. For each block
    `largest` has the lengths of its operands (of high, of what it cut off, of low, of what both cut
    off) and `bias_size` the largest finite |bias|.
    """

    raw: Any
    names: Any
    bias: Any
    order: Any
    operand: Operand
    bias32: Any
    bias_size: Any
    largest: tuple[Any, Any, Any, Any]

    @property
    def n_blocks(self) -> int:
        return int(self.largest[0].shape[0])

    def place(self, torch: Any, items: Any) -> Any:
        """Where item rows stand in `raw`; -1 for those that are not here."""
        at = torch.searchsorted(self.names, items).clamp(max=self.names.shape[0] - 1)
        return torch.where(self.names[at] == items, at, -1)


def prepare(
    torch: Any, piece: Piece, scorer: FactorScorer, scale: Scale, tile: Tile, operands: str,
    width: int,
) -> Blocks:  # fmt: skip
    """Blocks of `tile.items` items, the last one filled up with zeros."""
    device, n = piece.rows.device, piece.rows.shape[0]
    operand = Operand.rounded(torch, piece.rows, scale.items, operands, width)
    n_blocks = -(-n // tile.items)
    if scorer.item_bias is None:
        bias = torch.zeros(1, dtype=torch.float64, device=device)
        order = torch.argsort(operand.length, descending=True)
        operand = operand.rows(order)
        bias32 = torch.zeros(1, device=device)
        bias_size = torch.zeros(n_blocks, device=device)
    else:
        bias = to_device(torch, scorer.item_bias[piece.names], device)
        order = torch.arange(n, device=device)
        scaled = bias * scale.both
        bias32 = lengthened(torch, scaled.float(), n_blocks * tile.items)
        finite = torch.where(scaled.isfinite(), scaled.abs(), 0.0).float()
        bias_size = block_max(torch, finite, n_blocks, tile.items)
    operand = operand.padded(torch, n_blocks * tile.items)
    length, rest, low_length, low_rest = (
        block_max(torch, values, n_blocks, tile.items)
        for values in (operand.length, operand.rest, operand.low_length, operand.low_rest)
    )
    return Blocks(
        raw=piece.rows,
        names=to_device(torch, piece.names, device),
        bias=bias,
        order=order,
        operand=operand,
        bias32=bias32,
        bias_size=bias_size,
        largest=(length, rest, low_length, low_rest),
    )
