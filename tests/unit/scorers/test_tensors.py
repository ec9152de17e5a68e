"""PyTorch tensors wherever arrays are taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fullrank as fr
from fullrank.errors import InputError
from fullrank.scorers import FactorScorer, ItemItemScorer, as_scorer

RANDOM = np.random.default_rng(0)
USERS = RANDOM.normal(size=(20, 4)).astype(np.float32)
ITEMS = RANDOM.normal(size=(50, 4)).astype(np.float32)
ROWS = (np.arange(20), RANDOM.integers(50, size=20))
RANKS = fr.rank(FactorScorer(USERS, ITEMS), ROWS).ranks


@pytest.fixture(scope="module", autouse=True)
def torch(need: Any) -> Any:
    return need("torch")


def tensor(array: Any, **settings: Any) -> Any:
    import torch

    return torch.tensor(array, **settings)


MAKE = {
    "tensor": lambda torch, one: tensor(one),
    "with a gradient": lambda torch, one: tensor(one, requires_grad=True),
    "parameter": lambda torch, one: torch.nn.Parameter(tensor(one)),
    "embedding": lambda torch, one: torch.nn.Embedding.from_pretrained(tensor(one)),
    "weight": lambda torch, one: (
        torch.nn.Embedding.from_pretrained(tensor(one), freeze=False).weight
    ),
}


@pytest.mark.parametrize("kind", MAKE)
def test_factors(kind: str, torch: Any) -> None:
    scorer = FactorScorer(MAKE[kind](torch, USERS), MAKE[kind](torch, ITEMS))
    np.testing.assert_array_equal(fr.rank(scorer, ROWS).ranks, RANKS)


def test_bfloat16_is_widened() -> None:
    users, items = (tensor(one).bfloat16() for one in (USERS, ITEMS))
    wide = FactorScorer(users.float().numpy(), items.float().numpy())
    ranks = [fr.rank(one, ROWS).ranks for one in (FactorScorer(users, items), wide)]
    np.testing.assert_array_equal(*ranks)


def test_biases_and_ids(torch: Any) -> None:
    bias, ids = RANDOM.normal(size=50), np.arange(50)[::-1].copy()
    column = torch.nn.Embedding.from_pretrained(tensor(bias)[:, None])
    for given in (tensor(bias, requires_grad=True), column):
        scorer = FactorScorer(USERS, ITEMS, item_bias=given, item_ids=tensor(ids))
        np.testing.assert_array_equal(scorer.item_bias, bias)
        np.testing.assert_array_equal(scorer.item_ids, ids)


def test_scores_and_targets() -> None:
    scores = tensor(USERS, requires_grad=True) @ tensor(ITEMS).T
    ours = scores.detach().numpy()
    targets = tuple(tensor(one) for one in ROWS)
    expected = fr.rank(ours, ROWS).ranks
    np.testing.assert_array_equal(fr.rank(scores, targets).ranks, expected)
    function = as_scorer(lambda users: scores[tensor(users)], n_items=50)
    np.testing.assert_array_equal(fr.rank(function, targets).ranks, expected)


def test_pairs_of_a_class() -> None:
    class Pairs:
        n_users, n_items = 20, 50

        def pairs(self, users: Any, items: Any) -> Any:
            table = tensor(USERS.astype(np.float64), requires_grad=True) @ tensor(ITEMS).double().T
            return table[tensor(users), tensor(items)]

    assert (fr.rank(Pairs(), ROWS).ranks == RANKS).mean() > 0.9  # but for rounding


def test_item_item_and_histories() -> None:
    history = (RANDOM.random((20, 50)) < 0.2).astype(np.float32)
    weights = RANDOM.normal(size=(50, 50)).astype(np.float32)
    first = ItemItemScorer(tensor(history), tensor(weights, requires_grad=True))
    second = ItemItemScorer(history, weights)
    np.testing.assert_array_equal(first.scores([0, 3]), second.scores([0, 3]))


def test_ranks_and_weights() -> None:
    from fullrank import metrics
    from fullrank.samples import RankSample

    ranks = tensor([3, 8, 20])
    weight = tensor([1.0, 2.0, 0.5], requires_grad=True)
    sample = RankSample.from_ranks(ranks, n_items=100, sample_size=20, weight=weight)
    assert sample.n_targets == 3
    found = metrics.evaluate(ranks, "recall@10", n_items=100, weight=weight)
    assert found["recall@10"] == pytest.approx(3.0 / 3.5)
    assert metrics.parse("rr").gains(ranks, 100)[0] == 1 / 3
    data = fr.Interactions.from_arrays(tensor([0, 1]), tensor([5, 7]))
    assert data.item_ids.tolist() == [5, 7]


def test_what_cannot_be_an_array_is_told_in_a_sentence() -> None:
    sparse = tensor(USERS).to_sparse()
    with pytest.raises(InputError, match=r"`user_factors` must be a dense tensor.*sparse"):
        FactorScorer(sparse, ITEMS)
    with pytest.raises(InputError, match=r"`item_factors` must be a dense tensor.*meta"):
        FactorScorer(USERS, tensor(ITEMS).to("meta"))
