"""Rows of tables by their numbers, and their products, with gradients (extra `torch`).

With hundreds of negatives per pair, the gathered rows dominate memory and time: plain operations
store them three times, whereas here they are read and used at once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from fullrank.models.training.torch_use import load_torch


def take(table: Any, index: Any) -> Any:
    """table[index] for a vector of row numbers, whose gradient is added up by rows.

    Parameters
    ----------
    table : float32 tensor, shape (n_rows, d)
    index : int64 tensor, shape (n,)

    Returns
    -------
    tensor, shape (n, d)
    """
    return _functions().take.apply(table, index)


def dots(users: Any, table: Any, items: Any) -> Any:
    """Each user's vector times rows of a table: users[b] · table[items[b, j]].

    Parameters
    ----------
    users : float32 tensor, shape (n, d)
    table : float32 tensor, shape (n_rows, d)
    items : int64 tensor, shape (n, m)
        Not checked: numbers must lie in 0..n_rows − 1.

    Returns
    -------
    tensor, shape (n, m)
    """
    return _functions().dots.apply(users, table, items)


def mean_square(table: Any, index: Any) -> Any:
    """The mean over `index`, of any shape, of the squared lengths of the table's rows.

    Where there are more numbers than rows, each row's length is taken once.
    """
    if index.numel() < table.shape[0]:
        return take(table, index.reshape(-1)).square().sum(1).mean()
    torch = load_torch()
    counts = torch.zeros(table.shape[0], device=table.device)
    flat = index.reshape(-1)
    counts.index_add_(0, flat, torch.ones(flat.shape, device=table.device))
    return (table.square().sum(1) @ counts) / flat.shape[0]


class _Functions:
    take: Any
    dots: Any


@lru_cache(maxsize=1)
def _functions() -> _Functions:
    """The operations as autograd knows them; made here because torch is loaded late."""
    torch = load_torch()
    function: Any = torch.autograd.Function

    class Take(function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, table: Any, index: Any) -> Any:
            ctx.save_for_backward(index)
            ctx.shape = table.shape
            return table.index_select(0, index)

        @staticmethod
        def backward(ctx: Any, slopes: Any) -> Any:
            (index,) = ctx.saved_tensors
            out = torch.zeros(ctx.shape, device=slopes.device)
            if slopes.is_cuda:
                return out.index_add_(0, index, slopes), None
            from fullrank.models.neural.learners import gather_kernels as kernels

            kernels.add_rows(index.numpy(), slopes.contiguous().numpy(), out.numpy())
            return out, None

    class Dots(function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, users: Any, table: Any, items: Any) -> Any:
            users, table, items = users.contiguous(), table.contiguous(), items.contiguous()
            ctx.save_for_backward(users, table, items)
            out = torch.empty(items.shape, device=users.device)
            _call("dots", users, table, items, out)
            return out

        @staticmethod
        def backward(ctx: Any, slopes: Any) -> Any:
            users, table, items = ctx.saved_tensors
            by_user, by_row = torch.zeros_like(users), torch.zeros_like(table)
            _call("dots_backward", users, table, items, slopes.contiguous(), by_user, by_row)
            return by_user, by_row, None

    found = _Functions()
    found.take, found.dots = Take, Dots
    return found


def _call(name: str, *tensors: Any) -> None:
    """Run a kernel where the tensors are."""
    if tensors[0].is_cuda:
        from fullrank.models.neural.learners import gather_cuda

        getattr(gather_cuda, name)(*(tensor.detach() for tensor in tensors))
    else:
        from fullrank.models.neural.learners import gather_kernels

        getattr(gather_kernels, name)(*(tensor.detach().numpy() for tensor in tensors))
