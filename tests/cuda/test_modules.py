"""Exact ranks of PyTorch modules on a GPU: the counts of the CPU on the same scores."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from fullrank.data.targets import clean_exclude, clean_items, clean_targets  # noqa: E402
from fullrank.errors import InputError  # noqa: E402
from fullrank.ranking import rank  # noqa: E402
from fullrank.ranking.count import count_any  # noqa: E402
from fullrank.ranking.cuda import block_counts, modules  # noqa: E402
from fullrank.ranking.cuda.modules import count_module  # noqa: E402
from fullrank.ranking.job import Job  # noqa: E402
from fullrank.scorers import TorchScorer, aligned  # noqa: E402

NAMES = ("greater", "equal", "before", "mark")
DEVICE = torch.device("cpu" if os.environ.get("TRITON_INTERPRET") == "1" else "cuda:0")


class Table(torch.nn.Module):
    """Scores from a table, which no batch can change; dropout shows the mode."""

    def __init__(self, scores, shape=(-1,)):
        super().__init__()
        self.scores = torch.nn.Parameter(scores.to(DEVICE))
        self.drop = torch.nn.Dropout(0.5)
        self.shape = shape
        self.calls = []

    def forward(self, users, items):
        assert not torch.is_grad_enabled()
        self.calls.append(users.shape[0])
        return self.drop(self.scores[users, items]).reshape(self.shape)


def made_job(module, targets, *, exclude=None, items=None, key=None, batch=None, progress=None):
    scorer = TorchScorer(module, n_users=module.scores.shape[0], n_items=module.scores.shape[1])
    t = clean_targets(targets, n_users=scorer.n_users, n_items=scorer.n_items)
    catalogue = clean_items(items, n_items=scorer.n_items, targets=t)
    exclusion = clean_exclude(exclude, n_items=scorer.n_items, targets=t, items=catalogue)
    return Job(
        scorer=scorer,
        targets=t,
        catalogue=catalogue,
        exclusion=exclusion,
        random=key is not None,
        key=key or 0,
        fast=False,
        n_jobs=1,
        batch_size=batch,
        progress=progress,
    )


def made_targets(random, n_users, n_items, several):
    items = [random.choice(n_items, several, replace=False) for _ in range(n_users)]
    return np.repeat(random.permutation(n_users), several), np.concatenate(items)


@pytest.mark.breadth
@pytest.mark.parametrize(
    ("kind", "whole", "hidden", "some", "key", "several"),
    [
        (torch.float32, False, False, False, None, 1),
        (torch.float32, True, True, True, 12345678901234, 2),
        (torch.float64, False, True, False, None, 2),
        (torch.bfloat16, True, True, True, 1, 2),
        (torch.float16, True, False, True, None, 1),
    ],
)
def test_the_counts_of_the_cpu(monkeypatch, kind, whole, hidden, some, key, several):
    random = np.random.default_rng(3)
    scores = torch.from_numpy(random.normal(size=(5, 60)))
    module = Table((scores.round() if whole else scores).to(kind), shape=(-1, 1))
    targets = made_targets(random, 5, 60, several)
    job = made_job(
        module,
        targets,
        exclude=sparse.random(4, 60, 0.2, format="csr", random_state=1) if hidden else None,
        items=np.union1d(targets[1], random.choice(60, 20)) if some else None,
        key=key,
        batch=3,
    )
    expected = count_any(job)
    module.calls.clear()
    monkeypatch.setattr(modules, "PAIRS", 37)
    monkeypatch.setattr(block_counts, "WIDTH", 32)
    monkeypatch.setattr(block_counts, "SHARD", 1)
    found = count_module(job, job.scorer, torch, DEVICE)
    for name in NAMES:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert max(module.calls) == 37
    assert sum(module.calls) == 5 * job.size
    assert module.training
    assert (found.equal.sum() > 0) == whole
    assert (found.before.sum() > 0) == (key is not None)


@pytest.mark.verify
def test_blocks_of_users_by_memory_and_progress(monkeypatch):
    random = np.random.default_rng(4)
    module = Table(torch.from_numpy(random.normal(size=(5, 20))))
    module.drop.eval()
    seen = []
    job = made_job(
        module,
        made_targets(random, 5, 20, 1),
        progress=lambda done, total: seen.append((done, total)),
    )
    monkeypatch.setattr(modules, "CELLS", 45)
    count_module(job, job.scorer, torch, DEVICE)
    assert module.calls == [40, 40, 20]
    assert seen == [(2, 5), (4, 5), (5, 5)]
    assert module.training
    assert not module.drop.training


def test_nan_is_named_unless_it_is_excluded():
    scores = torch.zeros(3, 8)
    scores[1, 6] = scores[1, 2] = scores[2, 0] = float("nan")
    module = Table(scores)
    targets = np.arange(3), np.array([1, 1, 1])
    job = made_job(module, targets)
    message = "its score for user row 1 and item row 2 is NaN"
    with pytest.raises(InputError, match=message):
        count_any(job)
    with pytest.raises(InputError, match=message):
        count_module(job, job.scorer, torch, DEVICE)
    assert module.training
    hidden = sparse.csr_array(([1, 1, 1], ([1, 1, 2], [2, 6, 0])), shape=(3, 8))
    job = made_job(module, targets, exclude=hidden)
    assert count_module(job, job.scorer, torch, DEVICE).equal.tolist() == [7, 5, 6]
    job = made_job(module, targets, items=[1, 3, 6])
    with pytest.raises(InputError, match=r"user row 1\b.*item row 6\b.*NaN"):
        count_module(job, job.scorer, torch, DEVICE)


def test_one_score_for_each_pair():
    class Pairs(Table):
        def forward(self, users, items):
            return torch.ones(users.shape[0], 2, device=DEVICE)

    job = made_job(Pairs(torch.zeros(2, 3)), ([0], [1]))
    with pytest.raises(InputError, match=r"\b3\b.*\(3, 2\)"):
        count_module(job, job.scorer, torch, DEVICE)


def test_a_module_elsewhere_is_not_moved():
    job = made_job(Table(torch.zeros(2, 3)).to("meta"), ([0], [1]))
    with pytest.raises(InputError, match=rf'`device`.*"meta".*"{DEVICE}"'):
        count_module(job, job.scorer, torch, DEVICE)


@pytest.mark.verify
def test_rank_on_a_device():
    random = np.random.default_rng(2)
    module = Table(torch.from_numpy(random.normal(size=(4, 30)).round()))
    scorer = TorchScorer(module, n_users=4, n_items=30)
    targets = made_targets(random, 4, 30, 2)
    here, there = (
        rank(scorer, targets, ties="random", rng=7, device=device) for device in (None, "cuda")
    )
    np.testing.assert_array_equal(there.ranks, here.ranks)
    np.testing.assert_array_equal(there.equal, here.equal)


@pytest.mark.gpu
def test_many_scores_on_a_gpu():
    random = np.random.default_rng(5)
    scores = torch.from_numpy(random.normal(size=(300, 20_000)).astype(np.float32))
    module = Table((scores * 50).round())
    targets = made_targets(random, 300, 20_000, 4)
    hidden = sparse.random(300, 20_000, 0.01, format="csr", random_state=2)
    job = made_job(module, targets, exclude=hidden, key=2**63 + 11)
    expected, found = count_any(job), count_module(job, job.scorer, torch, DEVICE)
    for name in NAMES:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert found.before.sum() > 0


def test_rows_in_another_order():
    """A module whose rows were aligned with the data is still called where it is."""
    random = np.random.default_rng(0)
    module = Table(torch.from_numpy(random.normal(size=(6, 20)).astype(np.float32)))
    users, items = (np.array([f"{c}{at}" for at in range(n)]) for c, n in (("u", 6), ("i", 20)))
    scorer = TorchScorer(module, user_ids=users, item_ids=items)
    by_user, by_item = random.permutation(6), random.permutation(20)
    found = aligned(scorer, user_ids=users[by_user], item_ids=items[by_item])
    targets = clean_targets(made_targets(random, 6, 20, 2), n_users=6, n_items=20)
    job = Job(
        scorer=found, targets=targets, catalogue=None, exclusion=None, random=False, key=0,
        fast=False, n_jobs=1, batch_size=None, progress=None,
    )  # fmt: skip
    there = count_module(job, found, torch, DEVICE)
    module.calls.clear()
    here = count_any(job)
    for name in ("greater", "equal"):
        assert np.array_equal(getattr(there, name), getattr(here, name))
    scores = module.scores.detach().cpu().numpy()[np.ix_(by_user, by_item)]
    rows, columns = targets.user_rows[targets.order], targets.item_rows[targets.order]
    above = [(scores[u] > scores[u, i]).sum() for u, i in zip(rows, columns, strict=True)]
    assert there.greater.tolist() == above
