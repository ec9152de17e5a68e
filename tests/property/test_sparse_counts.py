"""Counts of sparse item–item models and of shared scores are those of the scores themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from fullrank.data.targets import clean_exclude, clean_items, clean_targets
from fullrank.errors import InputError
from fullrank.ranking.count import count, count_any
from fullrank.ranking.cpu import exact_item_scores, exact_sparse, tie_kernels
from fullrank.ranking.cpu.exact_kernels import stands_before
from fullrank.ranking.job import Job
from fullrank.scorers import ItemItemScorer, ItemScorer

NAMES = ("greater", "equal", "before", "mark")
SEEDS = st.integers(0, 2**32 - 1)
# zeros that are stored or come about, both signs, and what overflows or is not a number
WEIGHTS = {
    "few": [1.0, -1.0, 2.0, -2.0, 0.0, -0.0],
    "plain": [0.5, 0.25, 1.5, 3.0, 1e-30, 0.1],
    "negative": [-0.5, -1.0, -1e-45, 0.0],
    "huge": [1e38, -1e38, 3e38, 1.0, 1e-38],
    "infinite": [np.inf, 1.0, 2.0, 0.0],
    "not a number": [np.nan, np.inf, -np.inf, 0.0, 1.0, 1.0, 1.0, 1.0],
}


def made_job(scorer, targets, **settings):
    exclude, items = settings.pop("exclude"), settings.pop("items")
    t = clean_targets(targets, n_users=scorer.n_users, n_items=scorer.n_items)
    catalogue = clean_items(items, n_items=scorer.n_items, targets=t)
    exclusion = clean_exclude(exclude, n_items=scorer.n_items, targets=t, items=catalogue)
    return Job(scorer=scorer, targets=t, catalogue=catalogue, exclusion=exclusion, fast=False,
               progress=None, **settings)  # fmt: skip


def outcome(way, job):
    """The counts, or what is said of the first NaN."""
    try:
        counts = way(job)
    except InputError as error:
        return error.rows
    return [getattr(counts, name).tolist() for name in NAMES]


def assert_counted_alike(job):
    expected = outcome(count_any, job)
    assert outcome(lambda job: count(job)[0], job) == expected


def some_job(random, scorer, *, exclude, restrict, ties, batch_size, n_jobs):
    n_users, n_items = scorer.n_users, scorer.n_items
    pairs = random.choice(n_users * n_items, min(30, n_users * n_items), replace=False)
    targets = pairs // n_items, pairs % n_items
    items = None
    if restrict:
        items = np.union1d(targets[1], random.integers(0, n_items, n_items // 2 + 1))
    seen = csr_array(random.random((n_users, n_items)) < exclude) if exclude else None
    return made_job(
        scorer, targets, exclude=seen, items=items, random=ties, key=int(random.integers(2**63)),
        batch_size=batch_size, n_jobs=n_jobs,
    )  # fmt: skip


COMMON = {
    "seed": SEEDS,
    "kind": st.sampled_from(list(WEIGHTS)),
    "dtype": st.sampled_from([np.float32, np.float64]),
    "shape": st.tuples(st.integers(1, 20), st.integers(2, 90)),
    "exclude": st.sampled_from([0, 0.2, 0.9]),
    "restrict": st.booleans(),
    "ties": st.booleans(),
    "batch_size": st.sampled_from([None, 1, 3]),
    "n_jobs": st.integers(1, 3),
}


@settings(deadline=None, max_examples=300)
@given(share=st.sampled_from([0.01, 0.1, 0.6, 1.0]), weighted=st.booleans(), **COMMON)
def test_sparse_item_item_counts_are_those_of_all_scores(
    seed, kind, dtype, shape, share, weighted, **how
):
    random = np.random.default_rng(seed)
    n_items = shape[1]
    matrix = csr_array(random.random((n_items, n_items)) < share).astype(dtype)
    matrix.data[:] = random.choice(np.asarray(WEIGHTS[kind], dtype), matrix.nnz)
    history = csr_array(random.random(shape) < 0.2).astype(np.float64)
    if weighted:
        history.data[:] = random.choice([1.0, -1.0, 0.0, 0.1, 3.0], history.nnz)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_sparse, "USERS", 4)
        job = some_job(random, ItemItemScorer(history, matrix), **how)
        assert_counted_alike(job)


@settings(deadline=None, max_examples=300)
@given(**COMMON)
def test_shared_scores_are_counted_as_those_of_each_user(seed, kind, dtype, shape, **how):
    random = np.random.default_rng(seed)
    n_users, n_items = shape
    scores = random.choice(np.asarray(WEIGHTS[kind], dtype), n_items)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_item_scores, "USERS", 4)
        patch.setattr(exact_item_scores, "FEW", 10)
        job = some_job(random, ItemScorer(scores, n_users=n_users), **how)
        assert_counted_alike(job)


@settings(deadline=None, max_examples=60)
@given(
    key=st.integers(0, 2**64 - 1),
    user=st.integers(0, 2**40),
    n_items=st.integers(1, 1200),
    n_targets=st.integers(1, 5),
    listed=st.booleans(),
    seed=SEEDS,
)
def test_many_tied_items_are_placed_as_one_by_one(key, user, n_items, n_targets, listed, seed):
    random = np.random.default_rng(seed)
    items = np.arange(n_items)
    if listed:
        items = random.permutation(n_items)[: max(1, n_items // 2)]
    targets = random.integers(0, n_items, n_targets)
    found = np.empty(n_targets, np.int64)
    tie_kernels.count_before(np.uint64(key), user, 0 if listed else n_items, items, targets, found)
    expected = [
        sum(stands_before(np.uint64(key), user, i, t) for i in items if i != t) for t in targets
    ]
    assert found.tolist() == expected
