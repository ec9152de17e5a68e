"""PyTorch modules as scorers."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.errors import InputError
from fullrank.ranking import rank
from fullrank.scorers import BlockScorer, FactorScorer, TorchScorer, as_scorer

# float32 sums of a few products near 1, which may cancel, in another order
ROUNDED = {"rtol": 1e-5, "atol": 2e-6}


@pytest.fixture(scope="module")
def torch(need):
    return need("torch")


@pytest.fixture
def pairs(torch):
    """A module that is called on pairs, with dropout that evaluation mode must turn off."""

    class Pairs(torch.nn.Module):
        n_items = 30

        def __init__(self):
            super().__init__()
            self.users = torch.nn.Embedding(6, 4)
            self.items = torch.nn.Embedding(30, 4)
            self.drop = torch.nn.Dropout(0.5)

        def forward(self, users, items):
            return (self.drop(self.users(users)) * self.items(items)).sum(-1, keepdim=True)

    torch.manual_seed(0)
    return Pairs()


def test_called_on_pairs_in_evaluation_mode(torch, pairs):
    scorer = as_scorer(pairs, n_users=6)
    assert isinstance(scorer, TorchScorer)
    assert (scorer.n_users, scorer.n_items) == (6, 30)
    assert repr(scorer) == "TorchScorer(Pairs, 30 items)"
    expected = (pairs.users.weight @ pairs.items.weight.T).detach().numpy()
    np.testing.assert_allclose(scorer.scores(np.arange(6)), expected, **ROUNDED)
    np.testing.assert_allclose(
        scorer.scores([5, 0], [3, 29]), expected[[5, 0]][:, [3, 29]], **ROUNDED
    )
    np.testing.assert_allclose(
        scorer.scores([5, 0], [[3], [29]]), [expected[5, [3]], expected[0, [29]]], **ROUNDED
    )
    assert pairs.training
    result = rank(pairs, (np.arange(6), np.arange(6)))
    own = expected[np.arange(6), np.arange(6), None]
    np.testing.assert_array_equal(result.above, (expected > own).sum(1))


def test_many_pairs_come_in_pieces(monkeypatch, pairs):
    from fullrank.scorers.modules import torch_module

    whole = as_scorer(pairs).scores(np.arange(6))
    monkeypatch.setattr(torch_module, "_PAIRS", 7)
    np.testing.assert_allclose(as_scorer(pairs).scores(np.arange(6)), whole, **ROUNDED)


def test_factors_are_used_by_attribute_and_by_method(torch):
    class ByAttribute(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.user_factors = torch.nn.Embedding(3, 4)
            self.item_factors = torch.nn.Parameter(torch.randn(5, 4))
            self.item_bias = torch.nn.Embedding(5, 1)

    class ByMethod(torch.nn.Module):
        def factors(self):
            return torch.ones(3, 2), torch.ones(5, 2, dtype=torch.bfloat16)

    torch.manual_seed(0)
    module = ByAttribute()
    scorer = as_scorer(module)
    assert isinstance(scorer, FactorScorer)
    expected = module.user_factors.weight @ module.item_factors.T + module.item_bias.weight.T
    np.testing.assert_allclose(scorer.scores([0, 1, 2]), expected.detach().numpy(), **ROUNDED)
    assert as_scorer(ByMethod()).scores([0]).tolist() == [[2.0] * 5]


@pytest.mark.parametrize("scores", [[1 + 1e-9, 1, 1 + 2e-9, 0.5], [2**24 + 1, 2**24, 2**24 + 2, 5]])
def test_no_score_is_rounded_to_another(monkeypatch, torch, scores):
    """Those of float64 and whole numbers that float32 cannot tell apart."""
    from fullrank.scorers.modules import torch_module

    table = torch.tensor(scores, dtype=torch.float64 if scores[-1] == 0.5 else torch.int64)

    class Pairs(torch.nn.Module):
        n_items = 4

        def forward(self, users, items):
            return table[items]

    assert rank(Pairs(), ([0], [1])).ranks.tolist() == [3.0]
    assert rank(BlockScorer(lambda u: table.expand(len(u), 4)), ([0], [1])).ranks.tolist() == [3.0]
    monkeypatch.setattr(torch_module, "_PAIRS", 3)
    assert np.array_equal(as_scorer(Pairs()).scores([0, 1]), [scores, scores])
    assert as_scorer(Pairs()).scores([]).shape == (0, 4)


def test_refused(torch):
    with pytest.raises(InputError, match=r"`n_items`.*module"):
        as_scorer(torch.nn.Bilinear(1, 1, 3))
    with pytest.raises(InputError, match=r"\(2, n_items\); Identity\(users\).*\(2,\).*BlockScorer"):
        as_scorer(torch.nn.Identity())
    module = torch.nn.Bilinear(1, 1, 3)
    module.forward = lambda users, items: torch.zeros(len(users), 3)
    with pytest.raises(InputError, match=r"for 4 pairs.*\(4, 3\)"):
        as_scorer(module, n_items=2).scores([0, 1])
