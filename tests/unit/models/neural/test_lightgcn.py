from typing import Any

import numpy as np
import pytest

from fullrank.data import Interactions, Split
from fullrank.errors import InputError
from fullrank.models import LightGCN
from fullrank.models.neural.learners.graph import adjacency
from fullrank.models.training.batches import PairBatch
from fullrank.ranking import rank

pytestmark = pytest.mark.usefixtures("torch")


# two users and three items, one of which nobody has; degrees 2, 1 and 1, 2, 0
TINY = Interactions.from_arrays([0, 0, 1], [0, 1, 1], item_ids=range(3))


def test_the_graph_of_a_tiny_example(torch: Any) -> None:
    edges = adjacency(TINY, torch.device("cpu")).to_dense().numpy()
    expected = np.zeros((5, 5))
    for user, item, value in [(0, 2, 1 / np.sqrt(2)), (0, 3, 1 / 2), (1, 3, 1 / np.sqrt(2))]:
        expected[user, item] = expected[item, user] = value
    np.testing.assert_allclose(edges, expected, rtol=1e-6)


@pytest.mark.parametrize("n_layers", [0, 1, 3])
def test_vectors_are_the_mean_over_layers(torch: Any, n_layers: int) -> None:
    model = LightGCN(n_factors=4, n_layers=n_layers, epochs=0, initial_scale=1.0).fit(TINY)
    learner = model._learner(TINY, torch.device("cpu"))
    edges, layer = learner.edges.to_dense().numpy(), learner.nodes.detach().numpy()
    layers = [layer]
    for _ in range(n_layers):
        layers.append(edges @ layers[-1])
    mixed = np.mean(layers, axis=0)
    np.testing.assert_allclose(model.user_factors_, mixed[:2], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(model.item_factors_, mixed[2:], rtol=1e-5, atol=1e-6)


def test_the_loss_is_bpr_of_mixed_vectors(split: Split, torch: Any) -> None:
    """Gradients through three layers, against plain operations on a dense graph."""
    model = LightGCN(n_factors=4, initial_scale=1.0, regularization=0.3)
    learner = model._learner(split.train, torch.device("cpu"))
    users, items = torch.tensor([3, 0, 3]), torch.tensor([5, 5, 7])
    negatives = torch.tensor([[0, 1], [2, 2], [79, 4]])
    found = learner.loss(PairBatch(users, items, negatives, None, 0), None)

    nodes, edges = learner.nodes, learner.edges.to_dense()
    mixed = (nodes + edges @ (nodes + edges @ (nodes + edges @ nodes))) / 4
    w, h, e = mixed[:200], mixed[200:], nodes[200:]
    gaps = (w[users][:, None] * (h[items][:, None] - h[negatives])).sum(-1)
    penalty = (
        nodes[users].square().sum(1).mean()
        + e[items].square().sum(1).mean()
        + e[negatives].square().sum(-1).mean()
    )
    expected = -torch.nn.functional.logsigmoid(gaps).sum(1).mean() + 0.15 * penalty
    torch.testing.assert_close(found, expected)
    (ours,) = torch.autograd.grad(found, nodes)
    (theirs,) = torch.autograd.grad(expected, nodes)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


def test_as_many_items_are_drawn_as_asked_for(split: Split, torch: Any) -> None:
    source = LightGCN(n_negatives=3, batch_size=64)._source(split.train, torch.device("cpu"))
    assert next(source.epoch(torch.Generator(), 0)).negatives.shape == (64, 3)


def test_it_learns(split: Split) -> None:
    def ndcg(epochs: int) -> float:
        model = LightGCN(n_factors=16, learning_rate=0.01, epochs=epochs, batch_size=512)
        ranks = rank(model.fit(split.train), split.test, exclude=split.train)
        return ranks.metrics("ndcg@20")["ndcg@20"]

    assert ndcg(8) > 1.3 * ndcg(0)


def test_users_are_found_by_their_ids(split: Split) -> None:
    model = LightGCN(n_factors=4, epochs=1).fit(split.train)
    some = Interactions.from_arrays(
        [7, 150], [1, 2], user_ids=[150, 7], item_ids=split.train.item_ids
    )
    np.testing.assert_array_equal(
        model.scorer(some).scores([0, 1]), model.scorer().scores([150, 7])
    )


def test_new_users_cannot_be_validated(split: Split) -> None:
    with pytest.raises(InputError, match=r"`valid_history`.*None"):
        LightGCN(epochs=1).fit(split.train, valid=split.test, valid_history=split.train)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_factors": 0}, r"`n_factors`.*\b0\b"),
        ({"n_layers": -1}, r"`n_layers`.*-1\b"),
        ({"n_negatives": 0}, r"`n_negatives`.*\b0\b"),
        ({"regularization": -1}, r"`regularization`.*-1\b"),
        ({"initial_scale": 0}, r"`initial_scale`.*not 0\b"),
    ],
)
def test_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LightGCN(**settings)
