"""Ranks of modules that return blocks of scores on a GPU: the counts of the CPU."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from fullrank.data.targets import clean_exclude, clean_items, clean_targets  # noqa: E402
from fullrank.errors import InputError  # noqa: E402
from fullrank.ranking import capabilities, rank, sample_ranks  # noqa: E402
from fullrank.ranking.count import count_any  # noqa: E402
from fullrank.ranking.cuda import block_counts, module_blocks  # noqa: E402
from fullrank.ranking.cuda.module_blocks import count_blocks  # noqa: E402
from fullrank.ranking.job import Job  # noqa: E402
from fullrank.scorers import BlockScorer, aligned  # noqa: E402

NAMES = ("greater", "equal", "before", "mark")
DEVICE = torch.device("cpu" if os.environ.get("TRITON_INTERPRET") == "1" else "cuda:0")


class Table(torch.nn.Module):
    """Scores from a table, which no batch can change; dropout shows the mode."""

    def __init__(self, scores):
        super().__init__()
        self.scores = torch.nn.Parameter(scores.to(DEVICE))
        self.drop = torch.nn.Dropout(0.5)
        self.sizes = []

    def forward(self, users):
        assert not torch.is_grad_enabled()
        self.sizes.append(users.shape[0])
        return self.drop(self.scores[users])


def made_job(scorer, targets, *, exclude=None, items=None, key=None, batch=None):
    t = clean_targets(targets, n_users=scorer.n_users, n_items=scorer.n_items)
    catalogue = clean_items(items, n_items=scorer.n_items, targets=t)
    exclusion = clean_exclude(exclude, n_items=scorer.n_items, targets=t, items=catalogue)
    return Job(
        scorer=scorer, targets=t, catalogue=catalogue, exclusion=exclusion,
        random=key is not None, key=key or 0, fast=False, n_jobs=1, batch_size=batch, progress=None,
    )  # fmt: skip


def made_targets(random, n_users, n_items, several):
    items = [random.choice(n_items, several, replace=False) for _ in range(n_users)]
    return np.repeat(random.permutation(n_users), several), np.concatenate(items)


@pytest.mark.breadth
@pytest.mark.parametrize(
    ("kind", "whole", "hidden", "some", "key", "several", "padding"),
    [
        (torch.float32, False, False, False, None, 1, None),
        (torch.float32, True, True, True, 12345678901234, 2, 0),
        (torch.float64, False, True, False, None, 2, None),
        (torch.bfloat16, True, True, True, 1, 2, [0, -1]),
        (torch.float16, True, False, True, None, 1, 7),
    ],
)
def test_the_counts_of_the_cpu(monkeypatch, kind, whole, hidden, some, key, several, padding):
    random = np.random.default_rng(3)
    scores = torch.from_numpy(random.normal(size=(5, 60)))
    module = Table((scores.round() if whole else scores).to(kind))
    scorer = BlockScorer(module, n_users=5, padding_item=padding, batch_size=2)
    n_items = scorer.n_items
    assert n_items == 60 - (0 if padding is None else np.size(padding))
    targets = made_targets(random, 5, n_items, several)
    job = made_job(
        scorer,
        targets,
        exclude=sparse.random(4, n_items, 0.2, format="csr", random_state=1) if hidden else None,
        items=np.union1d(targets[1], random.choice(n_items, 20)) if some else None,
        key=key,
        batch=3,
    )
    expected = count_any(job)
    module.sizes.clear()
    monkeypatch.setattr(block_counts, "WIDTH", 32)
    monkeypatch.setattr(block_counts, "SHARD", 1)
    found = count_blocks(job, scorer, torch, DEVICE)
    for name in NAMES:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert module.sizes == [2, 1, 2]
    assert module.training
    assert (found.equal.sum() > 0) == whole
    assert (found.before.sum() > 0) == (key is not None)


def test_the_module_is_not_written_to():
    """A module may return a view of its own numbers, which what is excluded must not change."""
    random = np.random.default_rng(1)
    scores = torch.from_numpy(random.normal(size=60).astype(np.float32)).to(DEVICE)
    scorer = BlockScorer(lambda users: scores.expand(len(users), 60), n_users=5)
    targets = made_targets(random, 5, 60, 1)
    hidden = sparse.random(5, 60, 0.3, format="csr", random_state=1)
    job = made_job(scorer, targets, exclude=hidden)
    before = scores.clone()
    found = count_blocks(job, scorer, torch, DEVICE)
    assert torch.equal(scores, before)
    np.testing.assert_array_equal(found.greater, count_any(job).greater)


def test_blocks_of_users_by_memory(monkeypatch):
    module = Table(torch.from_numpy(np.random.default_rng(4).normal(size=(5, 20))))
    scorer = BlockScorer(module, 20, n_users=5)
    job = made_job(scorer, made_targets(np.random.default_rng(0), 5, 20, 1))
    scorer.scores([0, 1])
    module.sizes.clear()
    monkeypatch.setattr(module_blocks, "CELLS", 45)
    count_blocks(job, scorer, torch, DEVICE)
    assert module.sizes == [2, 2, 1]


def test_nan_is_named_unless_it_is_excluded():
    scores = torch.zeros(3, 9)
    scores[:, 0] = float("nan")  # pads
    scores[1, 7] = scores[1, 3] = scores[2, 1] = float("nan")
    scorer = BlockScorer(Table(scores), padding_item=0)
    targets = np.arange(3), np.array([1, 1, 1])
    message = "its score for user row 1 and item row 2 is NaN"
    for count in (count_any, lambda job: count_blocks(job, scorer, torch, DEVICE)):
        with pytest.raises(InputError, match=message):
            count(made_job(scorer, targets))
    hidden = sparse.csr_array(([1, 1, 1], ([1, 1, 2], [2, 6, 0])), shape=(3, 8))
    job = made_job(scorer, targets, exclude=hidden)
    assert count_blocks(job, scorer, torch, DEVICE).equal.tolist() == [7, 5, 6]


def test_a_module_elsewhere_is_not_moved():
    scorer = BlockScorer(Table(torch.zeros(2, 3)).to("meta"), 3)
    with pytest.raises(InputError, match=rf'`device`.*"meta".*"{DEVICE}"'):
        count_blocks(made_job(scorer, ([0], [1])), scorer, torch, DEVICE)


@pytest.mark.parametrize("exclude", [None, sparse.random(6, 30, 0.2, format="csr", random_state=2)])
def test_rank_on_a_device(exclude):
    random = np.random.default_rng(2)
    module = Table(torch.from_numpy(random.normal(size=(6, 30)).round()))
    named = BlockScorer(module, user_ids=random.permutation(6), item_ids=random.permutation(30))
    ordered = aligned(named, user_ids=np.arange(6), item_ids=np.arange(30))
    targets = made_targets(random, 6, 30, 2)
    for scorer in (BlockScorer(module, n_users=6), ordered):
        for how in ({"ties": "random", "rng": 7}, {"max_rank": 3}, {"ties": "worst"}):
            here, there = (
                rank(scorer, targets, exclude=exclude, device=device, **how)
                for device in ("cpu", "cuda")
            )
            for name in ("ranks", "above", "equal", "n_scored"):
                a, b = getattr(here, name), getattr(there, name)
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "design", ["sampled:10", "sampled:10,replacement=true", "adaptive:4,limit=25"]
)
@pytest.mark.parametrize("exclude", [None, sparse.random(6, 30, 0.2, format="csr", random_state=2)])
def test_sampled_ranks_on_a_device(design, exclude):
    random = np.random.default_rng(5)
    module = Table(torch.from_numpy(random.normal(size=(6, 31)).round()).float())
    scorer = BlockScorer(module, n_users=6, padding_item=0)
    targets = made_targets(random, 6, 30, 2)
    here, there = (
        sample_ranks(scorer, targets, exclude=exclude, design=design, device=device, rng=5)
        for device in ("cpu", "cuda")
    )
    for name in ("rank", "sample_size", "offset", "n_items"):
        np.testing.assert_array_equal(getattr(there.rows, name), getattr(here.rows, name))
    own = [set(targets[1][targets[0] == user]) for user in targets[0]]
    given = np.array(
        [random.permutation([i for i in range(30) if i not in one])[:8] for one in own]
    )
    given[3, 5:] = -1
    drawn = "sampled:replacement=false,pool=all"
    here, there = (
        sample_ranks(scorer, targets, negatives=given, design=drawn, device=device, rng=5)
        for device in ("cpu", "cuda")
    )
    np.testing.assert_array_equal(there.rows.rank, here.rows.rank)


def test_the_gpu_is_that_of_the_module(monkeypatch):
    module = Table(torch.zeros(2, 3))
    scorer = BlockScorer(module)
    expected = str(DEVICE) if DEVICE.type == "cuda" else None
    users = np.array([1])
    assert capabilities.gpu_of(scorer, users) == expected
    assert capabilities.gpu_of(object(), users) is None
    monkeypatch.setattr(BlockScorer, "device_for", lambda self, users: torch.device("cuda", 1))
    assert capabilities.gpu_of(scorer, users) == "cuda:1"
    monkeypatch.setattr(capabilities, "find_spec", lambda name: None)
    assert capabilities.gpu_of(scorer, users) is None


def test_only_users_with_targets_are_asked_about():
    """A function may know no others, so that it cannot be tried with the first row."""
    scores = {user: np.random.default_rng(user).random(20, np.float32) for user in (3, 5)}

    def block(users):
        return torch.stack([torch.tensor(scores[int(user)]) for user in users]).to(DEVICE)

    known = BlockScorer(block, 20)
    table = np.zeros((6, 20), np.float32)
    for user, row in scores.items():
        table[user] = row
    targets = [3, 5], [7, 0]
    expected = rank(table, targets).ranks
    for device in (None, "cpu", "cuda"):
        np.testing.assert_array_equal(rank(known, targets, device=device).ranks, expected)
        sample = sample_ranks(known, targets, device=device, design="sampled:20", rng=0)
        np.testing.assert_array_equal(sample.rows.rank, expected)


@pytest.mark.gpu
def test_many_scores_on_a_gpu():
    random = np.random.default_rng(5)
    scores = torch.from_numpy(random.normal(size=(300, 20_000)).astype(np.float32))
    scorer = BlockScorer(Table((scores * 50).round()), padding_item=0)
    targets = made_targets(random, 300, scorer.n_items, 4)
    hidden = sparse.random(300, scorer.n_items, 0.01, format="csr", random_state=2)
    job = made_job(scorer, targets, exclude=hidden, key=2**63 + 11)
    expected, found = count_any(job), count_blocks(job, scorer, torch, DEVICE)
    for name in NAMES:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert found.before.sum() > 0
    there, here = (rank(scorer, targets, exclude=hidden, device=one) for one in (None, "cpu"))
    np.testing.assert_array_equal(there.ranks, here.ranks)
    assert rank(scorer, targets, exclude=hidden, max_rank=10).metrics("recall@10") == here.metrics(
        "recall@10"
    )
