"""The learner of LightGCN: vectors of the nodes of a graph, averaged over neighbours."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.data.interactions import Interactions
from fullrank.losses import bpr
from fullrank.models.neural.learners import gather
from fullrank.models.training.adam import to_array
from fullrank.models.training.batches import PairBatch
from fullrank.models.training.torch_use import load_torch
from fullrank.models.training.validation import only_learned_users

if TYPE_CHECKING:
    from fullrank.scorers import FactorScorer


class Graph:
    """Vectors of users, then items, and the graph between them."""

    def __init__(
        self, nodes: Any, edges: Any, *, n_users: int, n_layers: int, regularization: float
    ) -> None:
        self.nodes, self.edges, self.n_users = nodes, edges, n_users
        self.n_layers, self.regularization = n_layers, regularization

    def parameters(self) -> dict[str, Any]:
        """One table of all vectors."""
        return {"nodes": self.nodes}

    def loss(self, batch: PairBatch, generator: Any) -> Any:
        """BPR of the mixed vectors, and the penalty of those that the batch starts from."""
        torch = load_torch()
        mixed = _propagation().apply(self.nodes, self.edges, self.n_layers)
        items = torch.cat([batch.items[:, None], batch.negatives], 1) + self.n_users
        scores = gather.dots(gather.take(mixed, batch.users), mixed, items)
        value = bpr(scores[:, 0], scores[:, 1:])
        if self.regularization:
            rows = (batch.users, items[:, 0], items[:, 1:])
            penalty = sum(gather.mean_square(self.nodes, one) for one in rows)
            value = value + 0.5 * self.regularization * penalty
        return value

    def mixed(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The mixed vectors of users and of items."""
        torch = load_torch()
        with torch.no_grad():
            nodes = to_array(propagate(self.nodes, self.edges, self.n_layers))
        return nodes[: self.n_users].copy(), nodes[self.n_users :].copy()

    def scorer(self, history: Interactions | None = None) -> FactorScorer:
        """The scorer of the vectors as they are."""
        from fullrank.scorers import FactorScorer

        only_learned_users(history)
        return FactorScorer(*self.mixed())


def propagate(nodes: Any, edges: Any, n_layers: int) -> Any:
    """The mean of the vectors and of n_layers averages over neighbours."""
    total, layer = nodes.detach().clone(), nodes.detach()
    for _ in range(n_layers):
        layer = edges @ layer
        total += layer
    return total.div_(n_layers + 1)


@lru_cache(maxsize=1)
def _propagation() -> Any:
    """`propagate` with its gradient; made here because torch is loaded late."""
    function: Any = load_torch().autograd.Function

    class Propagation(function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, nodes: Any, edges: Any, n_layers: int) -> Any:
            ctx.edges, ctx.n_layers = edges, n_layers
            return propagate(nodes, edges, n_layers)

        @staticmethod
        def backward(ctx: Any, slopes: Any) -> Any:
            return propagate(slopes, ctx.edges, ctx.n_layers), None, None  # it is symmetric

    return Propagation


def adjacency(data: Interactions, device: Any) -> Any:
    """D^-½·A·D^-½ of the graph of users and items, a sparse tensor of compressed rows."""
    from scipy.sparse import block_array, diags_array

    torch = load_torch()
    seen = data.matrix(np.float32)
    counts = np.concatenate([data.user_counts(), data.item_counts()])
    scale = diags_array(np.maximum(counts, 1) ** -0.5)  # nodes without edges have only zeros
    edges = (scale @ block_array([[None, seen], [seen.T, None]], format="csr") @ scale).tocsr()
    parts = (edges.indptr.astype(np.int64), edges.indices.astype(np.int64))
    with warnings.catch_warnings():  # torch calls its compressed rows a beta; their product is not
        warnings.filterwarnings("ignore", "Sparse CSR", UserWarning)
        warnings.filterwarnings("ignore", "Sparse invariant checks", UserWarning)
        return torch.sparse_csr_tensor(
            *(torch.from_numpy(part) for part in parts),
            torch.from_numpy(edges.data.astype(np.float32)),
            size=edges.shape,
            check_invariants=False,
        ).to(device)
