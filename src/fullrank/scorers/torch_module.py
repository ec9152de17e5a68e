"""PyTorch modules as scorers (extra `torch`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks, extras
from fullrank.errors import InputError
from fullrank.scorers.arguments import item_argument, user_argument
from fullrank.scorers.factors import FactorScorer

_PAIRS = 1 << 18  # pairs given to a module at once


def torch_scorer(
    module: Any, *, n_items: int | None = None, n_users: int | None = None
) -> FactorScorer | TorchScorer:
    """The scorer of a module: by its factors if it offers them, else by calling it on pairs.

    A module offers factors by a method `factors()` that returns (user_factors, item_factors), or
    by attributes `user_factors` and `item_factors`; tensors, parameters and embeddings will do.
    Attributes `item_bias` and `user_bias` are used with them.
    """
    offered = _factors(module)
    if offered is None:
        return TorchScorer(module, n_items=n_items, n_users=n_users)
    return FactorScorer(
        offered[0],
        offered[1],
        item_bias=_array(getattr(module, "item_bias", None)),
        user_bias=_array(getattr(module, "user_bias", None)),
    )


class TorchScorer:
    """A PyTorch module called on pairs.

    `module(users, items)` gets two equally long tensors of row numbers and returns one score for
    each pair.

    Parameters
    ----------
    module : torch.nn.Module
        Used in evaluation mode and without gradients, on the device of its parameters; it is
        left in the mode it was in.
    n_items, n_users : int
        Read from attributes of that name where they are not given; `n_users` may be unknown.
    """

    def __init__(
        self, module: Any, *, n_items: int | None = None, n_users: int | None = None
    ) -> None:
        self._torch = extras.load("torch", extra="torch", purpose="Scoring with a PyTorch module")
        n_items = getattr(module, "n_items", None) if n_items is None else n_items
        n_users = getattr(module, "n_users", None) if n_users is None else n_users
        if n_items is None:
            raise InputError(
                "`n_items` must be given for a module that has no attribute of that name."
            )
        self.module = module
        self.n_items = checks.integer("n_items", n_items, low=1)
        self.n_users = None if n_users is None else checks.integer("n_users", n_users, low=1)

    def scores(self, user_rows: ArrayLike, item_rows: ArrayLike | None = None) -> NDArray[Any]:
        """Scores of users against all items, the same items (1-D) or their own items (2-D)."""
        users = user_argument(user_rows, self.n_users)
        items = item_argument(item_rows, self.n_items, users.size)
        if items is None:
            items = np.arange(self.n_items)
        items = np.broadcast_to(items, (users.size, items.shape[-1]))
        out = np.empty(items.shape, np.float32)
        with scoring(self._torch, self.module):
            self._fill(np.repeat(users, items.shape[1]), items, out.reshape(-1))
        return out

    def _fill(self, users: NDArray[Any], items: NDArray[Any], out: NDArray[Any]) -> None:
        torch = self._torch
        device = next((p.device for p in self.module.parameters()), torch.device("cpu"))
        for start in range(0, out.size, _PAIRS):
            pairs = slice(start, min(start + _PAIRS, out.size))
            row, column = np.divmod(np.arange(pairs.start, pairs.stop), items.shape[1])
            answer = self.module(
                torch.from_numpy(users[pairs]).to(device),
                torch.from_numpy(items[row, column].astype(np.int64)).to(device),
            )
            if answer.numel() != pairs.stop - pairs.start:
                raise InputError(
                    "`module` must return one score for each pair; for "
                    f"{pairs.stop - pairs.start} pairs it gave shape {tuple(answer.shape)}."
                )
            out[pairs] = answer.detach().reshape(-1).float().cpu().numpy()

    def __repr__(self) -> str:
        return f"TorchScorer({type(self.module).__name__}, {self.n_items} items)"


@contextmanager
def scoring(torch: Any, module: Any) -> Iterator[None]:
    """The module in evaluation mode and without gradients; every part gets its mode back.

    Some parts may be in evaluation mode within one that is not.
    """
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for part, training in modes:
            part.training = training


def _factors(module: Any) -> tuple[NDArray[Any], NDArray[Any]] | None:
    if callable(getattr(module, "factors", None)):
        users, items = module.factors()
    else:
        users, items = (getattr(module, f"{side}_factors", None) for side in ("user", "item"))
    if users is None or items is None:
        return None
    return _array(users), _array(items)


def _array(value: Any) -> Any:
    """A numpy array from a tensor, a parameter or an embedding (whose weight counts)."""
    if value is None:
        return None
    value = getattr(value, "weight", value)
    value = value.detach().cpu()
    if str(value.dtype) == "torch.bfloat16":  # numpy has no bfloat16; float32 holds it exactly
        value = value.float()
    array = value.numpy()
    return array.reshape(-1) if array.ndim == 2 and array.shape[1] == 1 else array
