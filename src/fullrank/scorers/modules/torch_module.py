"""PyTorch modules as scorers (extra `torch`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks
from fullrank._lib.types import Ints
from fullrank.errors import InputError
from fullrank.scorers.arguments import item_argument, user_argument
from fullrank.scorers.carried_ids import CarriesIds, ids_argument
from fullrank.scorers.factors import FactorScorer
from fullrank.scorers.modules import module_calls as calls
from fullrank.scorers.modules.module_calls import load_torch, scoring
from fullrank.scorers.modules.outputs import PAIRS_OR_BLOCK, pair_scores
from fullrank.scorers.modules.torch_block import BlockScorer
from fullrank.scorers.reordered import Reordered

_PAIRS = 1 << 18  # pairs given to a module at once


def torch_scorer(
    module: Any, *, n_items: int | None = None, n_users: int | None = None
) -> FactorScorer | BlockScorer | TorchScorer:
    """Return the scorer of a module: by its factors, or by the arguments of `forward`.

    A module offers factors with a method `factors()` that returns (user_factors, item_factors), or
    with attributes `user_factors` and `item_factors`, which may be tensors, parameters or
    embeddings. Attributes `item_bias` and `user_bias` are used with them. `forward(users)` returns
    a block of scores of all items, and `forward(users, items)` a score for each pair.
    """
    module = calls.unwrapped(module)
    offered = _factors(module)
    if offered is None:
        calls.check_forward(module)
        if calls.takes_users_alone(module):
            return BlockScorer(module, n_items=n_items, n_users=n_users)
        return TorchScorer(module, n_items=n_items, n_users=n_users)
    scorer = FactorScorer(
        *offered,
        item_bias=getattr(module, "item_bias", None),
        user_bias=getattr(module, "user_bias", None),
    )
    scorer.ids_advice = CarriesIds.ids_advice
    return scorer


class TorchScorer(CarriesIds):
    """Score with a PyTorch module that is called on pairs.

    `module(users, items)` receives two tensors of row numbers of equal length and returns one score
    for each pair: a tensor with one number per pair, of any type and shape, alone or in a tuple or
    mapping. Scores are float32, or float64 if the module returns float64 or whole numbers.

    Parameters
    ----------
    module : torch.nn.Module, also compiled, scripted, or within DataParallel
        It is called in evaluation mode and without gradients, on the device of its parameters, and
        its mode is restored afterwards.
    n_items, n_users : int
        Default: the attributes of the same name; `n_users` may be unknown.
    user_ids, item_ids : arrays, optional
        The id of each row, as in `FactorScorer`. The module still receives rows.
    """

    def __init__(
        self,
        module: Any,
        *,
        n_items: int | None = None,
        n_users: int | None = None,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
    ) -> None:
        load_torch()
        module = calls.unwrapped(module)
        n_items = calls.size_of(module, "n_items") if n_items is None else n_items
        n_users = calls.size_of(module, "n_users") if n_users is None else n_users
        self.user_ids = ids_argument("user_ids", user_ids, n_users)
        self.item_ids = ids_argument("item_ids", item_ids, n_items)
        n_users = n_users if self.user_ids is None else self.user_ids.size
        n_items = n_items if self.item_ids is None else self.item_ids.size
        if n_items is None:
            raise InputError(
                "`n_items` must be given for a module that scores pairs and has no attribute "
                "`n_items`. " + PAIRS_OR_BLOCK
            )
        self.module = module
        self.n_items = checks.integer("n_items", n_items, low=1)
        self.n_users = None if n_users is None else checks.integer("n_users", n_users, low=1)

    def scores(self, user_rows: ArrayLike, item_rows: ArrayLike | None = None) -> NDArray[Any]:
        """Return scores of users for all items, the same items (1-D) or their own items (2-D)."""
        users = user_argument(user_rows, self.n_users)
        items = item_argument(item_rows, self.n_items, users.size)
        if items is None:
            items = np.arange(self.n_items)
        items = np.broadcast_to(items, (users.size, items.shape[-1]))
        torch = load_torch()
        with scoring(torch, self.module):
            return self._filled(torch, np.repeat(users, items.shape[1]), items)

    def _filled(self, torch: Any, users: NDArray[Any], items: NDArray[Any]) -> NDArray[Any]:
        device = calls.place_of([self.module]) or torch.device("cpu")
        found = []  # of the type that the module gives
        for start in range(0, items.size, _PAIRS):
            pairs = slice(start, min(start + _PAIRS, items.size))
            row, column = np.divmod(np.arange(pairs.start, pairs.stop), items.shape[1])
            answer = score_pairs(
                torch,
                self.module,
                torch.from_numpy(users[pairs]).to(device),
                torch.from_numpy(items[row, column].astype(np.int64)).to(device),
            )
            found.append(answer.cpu().numpy())
        scores = np.concatenate(found) if found else np.empty(0, np.float32)
        return scores.reshape(items.shape)

    def torch_pairs(self) -> TorchScorer:
        """Return what ranking on a GPU needs: the scorer itself."""
        return self

    def reordered(self, user_rows: Ints | None, item_rows: Ints | None) -> TorchScorer:
        """Return the scorer with these rows in this order; None leaves a side unchanged."""
        return ReorderedModule(self, user_rows, item_rows)

    def __repr__(self) -> str:
        return f"TorchScorer({type(self.module).__name__}, {self.n_items} items{self._ids_shown()})"


class ReorderedModule(TorchScorer):
    """A module whose rows are in another order.

    On a GPU its `module` turns rows into those of the module within; `scores` has the module score
    as it would by itself and puts the scores in order.
    """

    def __init__(self, scorer: TorchScorer, user_rows: Ints | None, item_rows: Ints | None) -> None:
        self._by_rows = Reordered(scorer, user_rows, item_rows)
        super().__init__(
            _reordered_module(scorer, user_rows, item_rows),
            n_items=self._by_rows.n_items,
            n_users=self._by_rows.n_users,
        )

    def scores(self, user_rows: ArrayLike, item_rows: ArrayLike | None = None) -> NDArray[Any]:
        """Return scores of users for all items, the same items (1-D) or their own items (2-D)."""
        return self._by_rows.scores(user_rows, item_rows)


def _reordered_module(scorer: TorchScorer, user_rows: Ints | None, item_rows: Ints | None) -> Any:
    """A module of pairs of other rows, with the tables of rows beside the parameters."""
    torch = load_torch()
    device = calls.place_of([scorer.module]) or torch.device("cpu")

    class Renumbered(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.module = scorer.module
            for name, rows in (("user_rows", user_rows), ("item_rows", item_rows)):
                table = None if rows is None else torch.from_numpy(rows.astype(np.int64)).to(device)
                self.register_buffer(name, table)

        def forward(self, users: Any, items: Any) -> Any:
            users = users if self.user_rows is None else self.user_rows[users]
            items = items if self.item_rows is None else self.item_rows[items]
            return self.module(users, items)

    return Renumbered()


def score_pairs(torch: Any, module: Any, users: Any, items: Any) -> Any:
    """What a module gives for pairs: a vector without gradients, float32 or float64."""
    n_pairs = users.shape[0]
    output = calls.called(
        module, (users, items), {}, said=f"{calls.name_of(module)}(users, items)",
        hint=PAIRS_OR_BLOCK,
        beyond="A user row or an item row may be out of range for an embedding table of the "
        "module.",
    )  # fmt: skip
    return pair_scores(torch, output, n_pairs)


def _factors(module: Any) -> tuple[Any, Any] | None:
    if callable(getattr(module, "factors", None)):
        users, items = module.factors()
    else:
        users, items = (getattr(module, f"{side}_factors", None) for side in ("user", "item"))
    return None if users is None or items is None else (users, items)
