"""Modules and functions that score all items for a batch of users (extra `torch`)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks
from fullrank._lib.text import counted
from fullrank._lib.types import Ints
from fullrank.errors import InputError
from fullrank.scorers.arguments import item_argument, user_argument
from fullrank.scorers.carried_ids import CarriesIds, ids_argument
from fullrank.scorers.modules import module_calls as calls
from fullrank.scorers.modules import module_inputs
from fullrank.scorers.modules.outputs import block_scores

_CELLS = 1 << 26  # numbers that a module may return at once: 256 MB as float32


class BlockScorer(CarriesIds):
    """Score with a PyTorch module or function that scores all items for a batch of users.

    Parameters
    ----------
    module : torch.nn.Module, also compiled, scripted or within DataParallel; or a function
        ``module(users)`` receives a tensor of user rows, or their `inputs`, and returns (batch,
        n_items) scores of any float type. It may return them in a tuple, a mapping or an object:
        the member named ``logits`` or ``scores``, or the only tensor of that shape. If it returns
        (batch, length, n_items), as sequence models do, the scores at `position` are used. It is
        called in evaluation mode, without gradients, on the device of its parameters, and its mode
        is restored afterwards; the same holds for every module that a function calls.
    n_items : int, optional
        The number of items. Default: the width of the first block.
    n_users : int, optional
        Default: the number of rows of `inputs`, or an attribute of the module.
    inputs : array, tensor, sparse matrix, tuple or mapping of these, or function, optional
        What the module receives instead of rows: an array with a row for each user, such as padded
        histories, or a function of an array of user rows. A tuple is passed as positional
        arguments, a mapping as keyword arguments. Arrays are moved to the device.
    padding_item : int or list of int, optional
        Columns that are not items, such as 0 if the module numbers items from 1. Item rows are the
        other columns, in their order, as in the data; -1 is the last column.
    position : int or array (n_users,), default -1
        The position whose scores are used from (batch, length, n_items); -1 is the last.
    batch_size : int, default 256
        Users per call of the module; fewer if their scores would take more than 256 MB.
    user_ids, item_ids : arrays, optional
        The id of each row, as in `FactorScorer`. The module still receives rows.

    Notes
    -----
    Scores are float32, or float64 if the module returns float64 or whole numbers; float16 and
    bfloat16 are converted to float32. Scores on a GPU are counted there, and blocks are not copied
    to the host.

    For `fullrank.rank`, an item with a score of -inf is a candidate like any other: it ranks last,
    and it counts in the number of candidates and in AUC. In `fullrank.torch.RankMetric`, -inf masks
    an item.

    Examples
    --------
    >>> import torch
    >>> from fullrank.scorers import BlockScorer
    >>> scorer = BlockScorer(torch.nn.Embedding.from_pretrained(torch.eye(3)))
    >>> scorer
    BlockScorer(Embedding, 3 items)
    >>> scorer.scores([2, 0])
    array([[0., 0., 1.],
           [1., 0., 0.]], dtype=float32)
    """

    thread_safe = False
    whole_rows = True
    own_threads = True

    def __init__(
        self,
        module: Any,
        n_items: int | None = None,
        *,
        n_users: int | None = None,
        inputs: Any = None,
        padding_item: int | Sequence[int] | None = None,
        position: int | ArrayLike = -1,
        batch_size: int = 256,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
    ) -> None:
        calls.load_torch()
        if not callable(module):
            raise InputError(
                "`module` must be a PyTorch module or a function that returns (batch, n_items) "
                f"scores, not {checks.shown(module)}."
            )
        module = calls.unwrapped(module)
        if calls.is_module(module):
            calls.check_forward(module)
        if n_users is None and inputs is None:
            n_users = calls.size_of(module, "n_users")
        self.user_ids = ids_argument("user_ids", user_ids, n_users)
        self.item_ids = ids_argument("item_ids", item_ids, n_items)
        n_users = n_users if self.user_ids is None else self.user_ids.size
        n_items = n_items if self.item_ids is None else self.item_ids.size
        if n_users is not None:
            n_users = checks.integer("n_users", n_users, low=1)
        inputs, self._n_users = module_inputs.checked(inputs, n_users)
        self._network = _Network(
            module,
            inputs=inputs,
            n_items=None if n_items is None else checks.integer("n_items", n_items, low=1),
            padding=_padding(padding_item),
            position=_position(position, self._n_users),
            batch_size=checks.integer("batch_size", batch_size, low=1),
        )
        self._user_rows: Ints | None = None
        self._item_rows: Ints | None = None

    @property
    def module(self) -> Any:
        """The module or function."""
        return self._network.module

    @property
    def n_users(self) -> int | None:
        return self._n_users if self._user_rows is None else int(self._user_rows.size)

    @property
    def n_items(self) -> int:
        return self._network.n_items

    @property
    def device(self) -> Any:
        """The device of the scores: that of the parameters, or of the module's output."""
        return self.device_for(np.zeros(1, np.int64))

    def device_for(self, users: Ints) -> Any:
        """The device, seen by the scores of the first of these users if nothing else tells."""
        rows = users if self._user_rows is None else self._user_rows[users]
        return self._network.device(rows[:1])

    @property
    def users_at_once(self) -> int:
        """The number of users per call of the module."""
        return self._network.users_at_once

    def scores(self, user_rows: ArrayLike, item_rows: ArrayLike | None = None) -> NDArray[Any]:
        """Return scores of users for all items, the same items (1-D) or their own items (2-D)."""
        users = user_argument(user_rows, self.n_users)
        items = None if item_rows is None else item_argument(item_rows, self.n_items, users.size)
        found: NDArray[Any] = self.tensor_scores(users, items).cpu().numpy()
        return found

    def tensor_scores(
        self, users: Ints, items: NDArray[Any] | None = None, *, fresh: bool = False
    ) -> Any:
        """Return the `scores` as a tensor on the device; with `fresh`, it may be overwritten."""
        torch = calls.load_torch()
        rows = users if self._user_rows is None else self._user_rows[users]
        if rows.size == 0:
            return torch.empty((0, self.n_items if items is None else items.shape[-1]))
        out, start = None, 0
        with self._network.ready(torch):
            while start < rows.size:
                stop = min(start + self.users_at_once, rows.size)
                here = slice(start, stop)
                own = items[here] if items is not None and items.ndim == 2 else items
                block = self._chosen(torch, self._network.block(torch, rows[here]), own)
                if block.shape[0] == rows.size and not fresh:
                    return block
                if out is None:
                    shape = rows.size, block.shape[1]
                    out = torch.empty(shape, dtype=block.dtype, device=block.device)
                out[here] = block
                start = stop
        return out

    def _chosen(self, torch: Any, block: Any, items: NDArray[Any] | None) -> Any:
        """The columns of all items in their order, of some, or of each user's own."""
        columns = self._network.columns
        if self._item_rows is not None:
            columns = self._item_rows if columns is None else columns[self._item_rows]
        if items is not None:
            columns = items if columns is None else columns[items]
        if columns is None:
            return block.contiguous()
        if columns.ndim == 1 and columns.size and columns[-1] - columns[0] == columns.size - 1:
            first = int(columns[0])
            if np.array_equal(columns, np.arange(first, first + columns.size)):
                return block[:, first : first + columns.size].contiguous()
        index = torch.from_numpy(columns.astype(np.int64)).to(block.device)
        return block[:, index] if index.ndim == 1 else block.gather(1, index)

    def torch_blocks(self) -> BlockScorer:
        """Return what ranking on a GPU needs: the scorer itself."""
        return self

    def reordered(self, user_rows: Ints | None, item_rows: Ints | None) -> Self:
        """Return the scorer with these rows in this order; None leaves a side unchanged."""
        other = copy.copy(self.with_ids(None, None))
        if user_rows is not None:
            own = self._user_rows
            other._user_rows = user_rows if own is None else own[user_rows]
        if item_rows is not None:
            own = self._item_rows
            other._item_rows = item_rows if own is None else own[item_rows]
        return other

    def __repr__(self) -> str:
        name = calls.name_of(self.module)
        return f"BlockScorer({name}, {self.n_items} items{self._ids_shown()})"


class _Network:
    """A module, what it is given, and what the first call said of its scores."""

    def __init__(
        self,
        module: Callable[..., Any],
        *,
        inputs: Any,
        n_items: int | None,
        padding: tuple[int, ...],
        position: Any,
        batch_size: int,
    ) -> None:
        self.module, self.inputs = module, inputs
        self.padding, self.position, self.batch_size = padding, position, batch_size
        self._n_items = n_items
        self._seen = _Seen()

    @property
    def n_items(self) -> int:
        if self._n_items is not None:
            return self._n_items
        if self._seen.width is None:
            self._try(np.zeros(1, np.int64))
        return int(self._seen.width or 0) - len(self.padding)

    def device(self, rows: Ints) -> Any:
        place = calls.place_of(calls.modules_in(self.module))
        if place is None and self._seen.device is None and rows.size:
            self._try(rows)
        return self._seen.device if place is None else place

    @property
    def users_at_once(self) -> int:
        each = self._seen.returned or self._n_items or 1
        return max(1, min(self.batch_size, _CELLS // each))

    @property
    def columns(self) -> Ints | None:
        """The column of each item row; None where they are the same."""
        if not self.padding:
            return None
        width = self.n_items + len(self.padding)
        own = np.array(self.padding)
        bad = (own < -width) | (own >= width)
        if bad.any() or np.unique(own % width).size < own.size:
            raise InputError(
                f"`padding_item` must name some of the {width:,} columns that `module` returns, "
                f"each at most once, not {checks.shown(list(self.padding))}."
            )
        return np.delete(np.arange(width), own)

    def ready(self, torch: Any) -> Any:
        """The modules in evaluation mode and without gradients."""
        watched = not calls.is_module(self.module)
        return calls.scoring(torch, *calls.modules_in(self.module), watched=watched)

    def block(self, torch: Any, rows: Ints) -> Any:
        """The scores of some users, a row for each and a column for whatever has one."""
        if self._seen.returned is None and rows.size > 2:
            self._ask(torch, rows[:2])  # what a user takes is known before many are asked about
        step = self.users_at_once
        parts = [self._ask(torch, rows[a : a + step]) for a in range(0, rows.size, step)]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _try(self, row: Ints) -> None:
        """Ask about a user, twice, to see what comes."""
        torch = calls.load_torch()
        with self.ready(torch):
            self._ask(torch, np.repeat(row, 2))

    def _ask(self, torch: Any, rows: Ints) -> Any:
        rows = np.array(rows)  # that of the data must not be written to, of which torch warns
        modules = calls.modules_in(self.module)
        device, kind = calls.place_of(modules), calls.kind_of(torch, modules)
        name = calls.name_of(self.module)
        said = f"{name}(users)," if self.inputs is None else f"{name}, called with its `inputs`"
        hint = (
            "Use BlockScorer(module, inputs=…) to pass histories or other inputs to the module."
            if self.inputs is None
            else f"`inputs` must hold the arguments of {name}, with a row for each user."
        )
        beyond = (
            f"User row {rows.max()} may be out of range for an embedding table of the module."
            if self.inputs is None
            else "A number in `inputs` may be out of range for an embedding table of the module."
        )

        def ask() -> Any:
            given, named = module_inputs.taken(torch, self.inputs, rows, device, kind)
            return self.module(*given, **named)

        said = f"{said} for {counted(rows.size, 'user')},"
        output = calls.called(ask, (), {}, said=said, hint=hint, beyond=beyond)
        width = None if self._n_items is None else self._n_items + len(self.padding)
        position = self.position if np.ndim(self.position) == 0 else self.position[rows]
        scores = block_scores(
            torch, output, n_users=rows.size, width=self._seen.width if width is None else width,
            position=position, said=said, hint=self._hint(hint),
        )  # fmt: skip
        self._seen.note(scores, calls.numbers_in(output) // max(1, rows.size))
        return scores

    def _hint(self, hint: str) -> str:
        if self._seen.width is not None:
            return (
                f"The first block had {self._seen.width:,} columns, one for each item, and every "
                "block must have as many."
            )
        if self._n_items is None:
            return hint
        return (
            "Use `padding_item` to name columns that are not items, such as 0 if item numbers "
            "start at 1."
        )


class _Seen:
    """What the first call said: the width of a block, its device, and the numbers returned.

    It is no part of the scorer: a copy of it in another process, or its fingerprint, is without.
    """

    __slots__ = ("device", "returned", "width")

    def __init__(self) -> None:
        self.width: int | None = None
        self.device: Any = None
        self.returned: int | None = None  # for each user

    def note(self, scores: Any, returned: int) -> None:
        if self.width is None:
            self.width, self.device = int(scores.shape[1]), scores.device
            self.returned = max(1, returned)

    def __reduce__(self) -> Any:
        return _Seen, ()


def _padding(given: int | Sequence[int] | None) -> tuple[int, ...]:
    if given is None:
        return ()
    if np.ndim(given) == 0:
        return (checks.integer("padding_item", given),)
    return tuple(checks.integer("padding_item", one) for one in given)  # type: ignore[union-attr]


def _position(given: Any, n_users: int | None) -> Any:
    if np.ndim(given) == 0:
        return checks.integer("position", given)
    found = checks.integers("position", given)
    if n_users is not None and found.size != n_users:
        raise InputError(
            f"`position` must be a number, or one for each of the {n_users:,} users, not "
            f"{found.size:,} numbers."
        )
    return found
