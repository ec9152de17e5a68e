"""Ranks up to K of PyTorch modules on a GPU: those of all scores, from the pairs that it takes."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from fullrank.errors import InputError  # noqa: E402
from fullrank.ranking import rank  # noqa: E402
from fullrank.ranking.cuda import module_early_stop, modules  # noqa: E402
from fullrank.scorers import ScoreArray, TorchScorer  # noqa: E402

DEVICE = torch.device("cpu" if os.environ.get("TRITON_INTERPRET") == "1" else "cuda:0")


class Table(torch.nn.Module):
    """Scores from a table, which no batch can change."""

    def __init__(self, scores):
        super().__init__()
        table = torch.from_numpy(np.asarray(scores, np.float32))
        self.scores = torch.nn.Parameter(table.to(DEVICE))
        self.calls = []

    def forward(self, users, items):
        assert not torch.is_grad_enabled()
        assert not self.training
        self.calls.append(users.shape[0])
        return self.scores[users, items][:, None]


def scorer_of(module):
    return TorchScorer(module, n_users=module.scores.shape[0], n_items=module.scores.shape[1])


def made_targets(random, n_users, n_items, several):
    items = [random.choice(n_items, several, replace=False) for _ in range(n_users)]
    return np.repeat(random.permutation(n_users), several), np.concatenate(items)


@pytest.mark.parametrize("ties", ["mean", "best", "worst", "random"])
@pytest.mark.parametrize("order", ["random", "popularity", "proxy", "lists"])
@pytest.mark.parametrize("several", [1, 3])
def test_the_ranks_of_the_cpu(monkeypatch, ties, order, several):
    random = np.random.default_rng(several)
    scores = random.integers(0, 12, (30, 400)).astype(np.float32)
    module, targets = Table(scores), made_targets(random, 30, 400, several)
    given = {
        "proxy": ScoreArray(scores + random.normal(size=scores.shape)),
        "lists": random.integers(-1, 400, (30, 50)),
    }
    hidden = sparse.random(30, 400, 0.1, format="csr", random_state=1)
    arguments = {
        "exclude": hidden, "items": np.union1d(targets[1], random.choice(400, 300)), "ties": ties,
        "rng": 7, "max_rank": 9, "order": given.get(order, order),
    }  # fmt: skip
    expected = rank(scorer_of(module), targets, **arguments)
    module.calls.clear()
    monkeypatch.setattr(modules, "PAIRS", 300)
    monkeypatch.setattr(module_early_stop, "CELLS", 700)
    seen = []
    found = rank(
        scorer_of(module), targets, device="cuda", batch_size=11,
        progress=lambda done, total: seen.append((done, total)), **arguments,
    )  # fmt: skip
    for name in ("above", "equal", "before", "offset", "beyond", "n_scored"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    once = np.unique(targets[0], return_index=True)[1]
    assert sum(module.calls) == found.n_scored[once].sum()  # nothing twice, nothing excluded
    assert sum(module.calls) < found.candidates[once].sum()
    assert max(module.calls) <= 300
    assert seen == [(11, 30), (22, 30), (30, 30)]
    assert module.training


def test_nan_is_named_where_it_is_met():
    scores = np.arange(40.0).reshape(1, 40).repeat(2, 0)
    scores[1, 5] = np.nan
    module = Table(scores)
    arguments = {"max_rank": 3, "order": np.arange(40), "device": "cuda"}
    with pytest.raises(InputError, match=r"user row 1 and item row 5 is NaN"):
        rank(scorer_of(module), ([0, 1], [39, 39]), **arguments)
    hidden = sparse.csr_array(([1], ([1], [5])), shape=(2, 40))
    found = rank(scorer_of(module), ([0, 1], [39, 39]), exclude=hidden, **arguments)
    assert found.ranks.tolist() == [1, 1]
    with pytest.raises(InputError, match=r"user row 1 and item row 5 is NaN"):
        rank(scorer_of(module), ([1], [5]), **arguments)


def test_one_score_for_each_pair():
    class Pairs(Table):
        def forward(self, users, items):
            return torch.ones(users.shape[0], 2, device=DEVICE)

    with pytest.raises(InputError, match=r"\b2 pairs\b.*\(2, 2\)"):
        rank(scorer_of(Pairs(np.zeros((2, 9)))), ([0, 1], [1, 1]), max_rank=2, device="cuda")
