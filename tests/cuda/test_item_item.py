"""Exact ranks of item-item models on a GPU: the counts of the CPU, one for one."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from fullrank.data.targets import clean_exclude, clean_items, clean_targets  # noqa: E402
from fullrank.errors import InputError  # noqa: E402
from fullrank.ranking import rank  # noqa: E402
from fullrank.ranking.count import count_any  # noqa: E402
from fullrank.ranking.cpu.exact_item_item import count_item_item as count_on_cpu  # noqa: E402
from fullrank.ranking.cuda import block_counts, item_item, strips  # noqa: E402
from fullrank.ranking.cuda.item_item import count_item_item  # noqa: E402
from fullrank.ranking.job import Job  # noqa: E402
from fullrank.scorers import ItemItemScorer  # noqa: E402

NAMES = ("greater", "equal", "before", "mark")
DEVICE = torch.device("cpu" if os.environ.get("TRITON_INTERPRET") == "1" else "cuda:0")


def made_job(scorer, targets, *, exclude=None, items=None, key=None, batch=None, progress=None):
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


def made_history(random, n_users, n_items, share, *, whole=False):
    """Every third user has none."""
    there = (random.random((n_users, n_items)) < share) & (np.arange(n_users) % 3 < 2)[:, None]
    values = random.integers(1, 4, there.shape) if whole else random.normal(size=there.shape)
    return sparse.csr_array(np.where(there, values, 0.0))


def made_targets(random, n_users, n_items, several):
    items = [random.choice(n_items, several, replace=False) for _ in range(n_users)]
    return np.repeat(random.permutation(n_users), several), np.concatenate(items)


def assert_same(job):
    expected = count_any(job) if job.scorer.is_sparse else count_on_cpu(job, job.scorer)
    found = count_item_item(job, job.scorer, torch, DEVICE)
    for name in NAMES:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    return found


@pytest.mark.breadth(2)  # both kernels: dense and sparse weights
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(
    ("kind", "history_kind", "whole", "hidden", "some", "key", "several"),
    [
        (np.float32, np.float32, False, False, False, None, 1),
        (np.float32, np.float32, True, True, True, 12345678901234, 2),
        (np.float64, np.float32, False, True, False, None, 2),
        (np.float32, np.float64, False, False, True, 2**63 + 1, 1),
        (np.float64, np.float64, True, True, True, 1, 2),
    ],
)
def test_the_counts_of_the_cpu(
    monkeypatch, kind, history_kind, whole, hidden, some, key, several, is_sparse
):
    monkeypatch.setattr(item_item, "COLUMNS", 32)
    monkeypatch.setattr(block_counts, "WIDTH", 32)
    random = np.random.default_rng(several)
    weights = random.normal(size=(50, 50))
    weights = (weights.round() if whole else weights).astype(kind)
    if is_sparse:
        weights = sparse.csr_array(np.where(random.random((50, 50)) < 0.3, weights, 0))
    history = made_history(random, 4, 50, 0.2, whole=whole).astype(history_kind)
    targets = made_targets(random, 4, 50, several)
    job = made_job(
        ItemItemScorer(history, weights),
        targets,
        exclude=sparse.random(3, 50, 0.2, format="csr", random_state=1) if hidden else None,
        items=np.union1d(targets[1], random.choice(50, 25)) if some else None,
        key=key,
        batch=3 if is_sparse else None,
    )
    found = assert_same(job)
    assert found.greater.sum() > 0
    without_history = found.equal[job.targets.user_rows[job.targets.order] % 3 == 2]
    assert without_history.min() > 10  # all their scores are 0
    assert (found.before.sum() > 0) == (key is not None)


@pytest.mark.verify
def test_strips_of_columns_and_progress(monkeypatch):
    monkeypatch.setattr(item_item, "COLUMNS", 16)
    monkeypatch.setattr(item_item, "USERS", 2)
    monkeypatch.setattr(strips, "BYTES", 40 * 32 * 4 + 100)  # 32 columns and a bit
    random = np.random.default_rng(0)
    weights = random.normal(size=(40, 40)).astype(np.float32)
    weights.setflags(write=False)
    scorer = ItemItemScorer(made_history(random, 4, 40, 0.2), weights)
    assert scorer.matrix is weights
    hidden = sparse.random(4, 40, 0.3, format="csr", random_state=1)
    job = made_job(scorer, made_targets(random, 4, 40, 1), exclude=hidden)
    expected, seen = count_on_cpu(job, scorer), []
    job = replace(job, progress=lambda done, total: seen.append((done, total)))
    found = count_item_item(job, scorer, torch, DEVICE)
    np.testing.assert_array_equal(found.greater, expected.greater)
    assert seen == [(3, 4), (4, 4)]
    chosen = np.arange(0, 40, 3)
    narrow = list(strips.Strips(torch, DEVICE, weights, chosen, multiple=16))
    assert [(strip.start, strip.width) for strip in narrow] == [(0, 14)]
    np.testing.assert_array_equal(narrow[0].weights[:, :14].cpu(), weights[:, chosen])


@pytest.mark.verify
def test_infinite_weights_compare_as_usual(monkeypatch):
    monkeypatch.setattr(item_item, "COLUMNS", 16)
    random = np.random.default_rng(1)
    weights = random.normal(size=(20, 20)).astype(np.float32)
    weights[:, 3], weights[:, 7], weights[:, 8] = np.inf, -np.inf, np.inf
    scorer = ItemItemScorer(abs(made_history(random, 2, 20, 0.3)), weights)
    targets = np.zeros(3, np.int64), np.array([3, 7, 11])
    assert assert_same(made_job(scorer, targets)).equal.tolist() == [1, 0, 0]


@pytest.mark.parametrize("is_sparse", [False, True])
def test_nan_is_named_unless_it_is_excluded(monkeypatch, is_sparse):
    monkeypatch.setattr(item_item, "COLUMNS", 8)
    weights = np.ones((12, 12), np.float32)
    weights[0, 10] = np.nan
    history = sparse.csr_array(np.eye(2, 12, 1) + np.eye(2, 12, -1))  # user 1 has items 0 and 2
    scorer = ItemItemScorer(history, sparse.csr_array(weights) if is_sparse else weights)
    message = "its score for user row 1 and item row 10 is NaN"
    for targets in (([0, 1], [3, 3]), ([0, 1], [3, 10])):
        job = made_job(scorer, targets)
        with pytest.raises(InputError, match=message):
            count_item_item(job, scorer, torch, DEVICE)
        with pytest.raises(InputError, match=message):
            count_any(job)
    hidden = sparse.csr_array(([1], ([1], [10])), shape=(2, 12))
    assert assert_same(made_job(scorer, ([0, 1], [3, 3]), exclude=hidden)).equal.tolist() == [
        11,
        10,
    ]
    assert_same(made_job(scorer, ([0, 1], [3, 3]), items=np.arange(10)))


@pytest.mark.verify
@pytest.mark.parametrize("made", [np.asarray, sparse.csr_array])
def test_rank_on_a_device(monkeypatch, made):
    monkeypatch.setattr(item_item, "COLUMNS", 32)
    monkeypatch.setattr(block_counts, "WIDTH", 32)
    random = np.random.default_rng(2)
    history = made_history(random, 4, 30, 0.2, whole=True)
    scorer = ItemItemScorer(history, made(random.integers(-2, 3, (30, 30))))
    targets = made_targets(random, 4, 30, 2)
    here, there = (
        rank(scorer, targets, ties="random", rng=7, device=device) for device in (None, "cuda")
    )
    np.testing.assert_array_equal(there.ranks, here.ranks)
    np.testing.assert_array_equal(there.equal, here.equal)
    assert there.n_undecided is None


def large_case(seed, *, kind=np.float32, whole=False, is_sparse=False):
    random = np.random.default_rng(seed)
    weights = random.normal(size=(3000, 3000))
    weights = (weights.round() if whole else weights).astype(kind)
    if is_sparse:
        weights = sparse.csr_array(np.where(random.random(weights.shape) < 0.02, weights, 0))
    history = made_history(random, 500, 3000, 0.02, whole=whole)
    targets = made_targets(random, 500, 3000, 3)
    items = np.union1d(targets[1], random.choice(3000, 2000))
    scorer = ItemItemScorer(history, weights)
    return made_job(scorer, targets, exclude=history, items=items, key=2**63 + seed)


@pytest.mark.gpu
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(("kind", "whole"), [(np.float32, True), (np.float64, False)])
def test_many_scores_on_a_gpu(kind, whole, is_sparse):
    found = assert_same(large_case(3, kind=kind, whole=whole, is_sparse=is_sparse))
    assert found.before.sum() > 0


@pytest.mark.gpu
def test_a_matrix_that_does_not_stay_on_the_gpu(monkeypatch):
    made = strips.Strips.__init__

    def smaller(self, *args, **settings):
        made(self, *args, **settings)
        self.stays = False

    monkeypatch.setattr(strips.Strips, "__init__", smaller)
    monkeypatch.setattr(strips, "BYTES", 3000 * 256 * 4)
    monkeypatch.setattr(strips, "LOCKED", 100 * 256 * 4)
    assert_same(large_case(4))
