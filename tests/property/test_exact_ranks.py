"""Exact ranks equal the brute force of their definition, whatever the blocks and threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from fullrank.designs import Uniform
from fullrank.ranking import rank, sample_ranks
from fullrank.ranking.cpu import exact_item_item
from fullrank.ranking.cpu.factors import exact_factors
from fullrank.scorers import FactorScorer, ItemItemScorer, ScoreArray

SEEDS = st.integers(0, 2**32 - 1)


def defined_scores(users, items, bias=None):
    """Float64, terms in index order, the bias last, in plain numpy."""
    out = np.zeros((users.shape[0], items.shape[0]))
    for k in range(users.shape[1]):
        out += users[:, k, None].astype(np.float64) * items[None, :, k].astype(np.float64)
    return out if bias is None else out + bias


def brute_force(scores, users, items, exclude=None, catalogue=None):
    """Non-targets above and of equal score, one target at a time."""
    counts = []
    for u, i in zip(users, items, strict=True):
        candidate = np.ones(scores.shape[1], bool)
        if catalogue is not None:
            candidate[:] = False
            candidate[catalogue] = True
        if exclude is not None:
            candidate &= ~exclude[u]
        candidate[items[users == u]] = False  # targets are counted by `offset`
        row = scores[u, candidate]
        counts.append(((row > scores[u, i]).sum(), (row == scores[u, i]).sum()))
    return np.array(counts).T


def some_targets(random, n_users, n_items, n):
    pairs = random.choice(n_users * n_items, min(n, n_users * n_items), replace=False)
    return pairs // n_items, pairs % n_items


def some_factors(random, kind, n_users, n_items, d):
    """Factors of several kinds, most of them made to be hard."""
    users, items = random.normal(size=(n_users, d)), random.normal(size=(n_items, d))
    if kind == "few values":  # exact ties everywhere
        users, items = random.integers(-1, 2, users.shape), random.integers(-1, 2, items.shape)
    elif kind == "copies":
        items = items[random.integers(0, max(1, n_items // 3), n_items)]
    elif kind == "nearly equal":  # differences inside of the error of a float32 product
        items = items[:1] * (1 + 1e-7 * random.normal(size=items.shape))
    elif kind == "lengths":  # most blocks are out of reach
        items *= random.lognormal(sigma=2, size=(n_items, 1))
    elif kind == "zeros":
        users[random.random(n_users) < 0.3] = 0
        items[random.random(n_items) < 0.3] = 0
    elif kind == "denormal":
        users, items = users * 1e-22, items * 1e-22
    elif kind == "spread":  # from vanishing to near overflow in float32
        items *= 10.0 ** random.integers(-36, 30, size=(n_items, 1))
    elif kind == "huge":
        users, items = users * 1e30, items * 1e30
    return users, items


KINDS = ["plain", "few values", "copies", "nearly equal", "lengths", "zeros", "denormal", "spread",
         "huge"]  # fmt: skip


@settings(deadline=None, max_examples=120)
@given(
    seed=SEEDS,
    kind=st.sampled_from(KINDS),
    dtype=st.sampled_from([np.float16, np.float32, np.float64]),
    shape=st.tuples(st.integers(1, 20), st.integers(2, 90), st.integers(1, 19)),
    tile=st.tuples(st.integers(1, 9), st.integers(1, 40)),
    bias=st.sampled_from(["none", "plain", "infinite"]),
    exclude=st.booleans(),
    restrict=st.booleans(),
    n_jobs=st.integers(1, 3),
)
def test_factor_ranks_are_those_of_the_definition(
    seed, kind, dtype, shape, tile, bias, exclude, restrict, n_jobs
):
    random = np.random.default_rng(seed)
    n_users, n_items, _ = shape
    with np.errstate(over="ignore"):
        users, items = (x.astype(dtype) for x in some_factors(random, kind, *shape))
    users, items = (np.nan_to_num(x, posinf=6e4, neginf=-6e4) for x in (users, items))
    offset = None
    if bias != "none":
        offset = random.normal(size=n_items).round(1)
        if bias == "infinite":
            offset[random.random(n_items) < 0.2] = np.inf
            offset[random.random(n_items) < 0.2] = -np.inf
    at = some_targets(random, n_users, n_items, 30)
    seen = random.random((n_users, n_items)) < 0.2 if exclude else None
    catalogue = None
    if restrict:
        catalogue = np.union1d(at[1], random.integers(0, n_items, n_items // 2 + 1))
    expected = brute_force(defined_scores(users, items, offset), *at, seen, catalogue)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_factors, "ITEMS", tile[1])
        result = rank(
            FactorScorer(users, items, item_bias=offset),
            at,
            exclude=None if seen is None else csr_array(seen),
            items=catalogue,
            batch_size=tile[0],
            n_jobs=n_jobs,
        )
    np.testing.assert_array_equal(result.above, expected[0])
    np.testing.assert_array_equal(result.equal, expected[1])


@settings(deadline=None, max_examples=80)
@given(
    seed=SEEDS,
    kind=st.sampled_from(["plain", "few values", "copies", "nearly equal", "denormal", "huge"]),
    dtype=st.sampled_from([np.float32, np.float64]),
    shape=st.tuples(st.integers(1, 20), st.integers(2, 90)),
    width=st.integers(1, 40),
    batch_size=st.integers(1, 9),
    cached=st.booleans(),
    exclude=st.booleans(),
    restrict=st.booleans(),
    n_jobs=st.integers(1, 3),
)
def test_item_item_ranks_are_those_of_the_definition(
    seed, kind, dtype, shape, width, batch_size, cached, exclude, restrict, n_jobs
):
    random = np.random.default_rng(seed)
    n_users, n_items = shape
    matrix = some_factors(random, kind, 1, n_items, n_items)[1].T.astype(dtype)
    history = np.where(random.random(shape) < 0.3, random.choice([1, 1, 2, 0.5], shape), 0)
    at = some_targets(random, n_users, n_items, 30)
    seen = history > 0 if exclude else None
    catalogue = None
    if restrict:
        catalogue = np.union1d(at[1], random.integers(0, n_items, n_items // 2 + 1))
    expected = brute_force(defined_scores(history, matrix.T), *at, seen, catalogue)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_item_item, "NARROW" if cached else "WIDE", width)
        patch.setattr(exact_item_item, "CACHED", 1 << 26 if cached else 0)
        result = rank(
            ItemItemScorer(csr_array(history), matrix),
            at,
            exclude=None if seen is None else csr_array(seen),
            items=catalogue,
            batch_size=batch_size,
            n_jobs=n_jobs,
        )
    np.testing.assert_array_equal(result.above, expected[0])
    np.testing.assert_array_equal(result.equal, expected[1])


@settings(deadline=None, max_examples=60)
@given(
    seed=SEEDS,
    dtype=st.sampled_from([np.float16, np.float32, np.float64, np.int64]),
    shape=st.tuples(st.integers(1, 20), st.integers(2, 60)),
    batch_size=st.integers(1, 30),
    exclude=st.booleans(),
    restrict=st.booleans(),
)
def test_foreign_scores_are_counted_as_they_are(seed, dtype, shape, batch_size, exclude, restrict):
    random = np.random.default_rng(seed)
    scores = random.integers(-3, 4, shape).astype(dtype)
    if dtype != np.int64:
        scores[random.random(shape) < 0.1] = np.inf
        scores[random.random(shape) < 0.1] = -np.inf
    at = some_targets(random, *shape, 30)
    seen = random.random(shape) < 0.2 if exclude else None
    catalogue = np.union1d(at[1], random.integers(0, shape[1], 5)) if restrict else None
    expected = brute_force(scores, *at, seen, catalogue)
    result = rank(
        scores, at, exclude=None if seen is None else csr_array(seen), items=catalogue,
        batch_size=batch_size,
    )  # fmt: skip
    np.testing.assert_array_equal(result.above, expected[0])
    np.testing.assert_array_equal(result.equal, expected[1])


@settings(deadline=None, max_examples=40)
@given(seed=SEEDS, ties=st.sampled_from(["best", "worst", "random"]), exclude=st.booleans())
def test_sampling_every_item_is_exact(seed, ties, exclude):
    random = np.random.default_rng(seed)
    users, items = some_factors(random, "few values", 12, 40, 3)
    matrix = random.integers(-1, 2, (40, 40)).astype(np.float32)
    history = csr_array(random.random((12, 40)) < 0.2)
    at = np.arange(12), random.integers(0, 40, 12)
    seen = csr_array(random.random((12, 40)) < 0.2) if exclude else None
    for scorer in (
        FactorScorer(users.astype(np.float32), items.astype(np.float32)),
        ItemItemScorer(history, matrix),
        ItemItemScorer(history, csr_array(matrix)),
        ScoreArray(random.integers(0, 3, (12, 40))),
    ):
        exact = rank(scorer, at, exclude=seen, ties=ties, rng=seed)
        drawn = sample_ranks(
            scorer,
            at,
            exclude=seen,
            ties=ties,
            rng=seed,
            design=Uniform(40, pool="unseen" if exclude else "all"),
        )
        np.testing.assert_array_equal(drawn.rows.rank, exact.ranks)
        np.testing.assert_array_equal(drawn.rows.n_items, exact.candidates)


@settings(deadline=None, max_examples=30)
@given(seed=SEEDS, kind=st.sampled_from(["plain", "copies", "lengths"]))
def test_order_of_targets_and_of_items_changes_nothing(seed, kind):
    random = np.random.default_rng(seed)
    users, items = (x.astype(np.float32) for x in some_factors(random, kind, 15, 80, 6))
    at = some_targets(random, 15, 80, 40)
    result = rank(FactorScorer(users, items), at)
    shuffle, relabel = random.permutation(40), random.permutation(80)
    moved = rank(FactorScorer(users, items[relabel]), (at[0], np.argsort(relabel)[at[1]]))
    np.testing.assert_array_equal(moved.above, result.above)
    np.testing.assert_array_equal(moved.equal, result.equal)
    again = rank(FactorScorer(users, items), (at[0][shuffle], at[1][shuffle]))
    np.testing.assert_array_equal(again.ranks, result.ranks[shuffle])


@settings(deadline=None, max_examples=30)
@given(seed=SEEDS, bias=st.booleans())
def test_fast_ranks_differ_by_rounding_alone(seed, bias):
    """Scores that are far apart are counted the same; exclusion and ownership are exact."""
    random = np.random.default_rng(seed)
    users = random.integers(-8, 9, (15, 6)).astype(np.float32)
    items = random.integers(-8, 9, (80, 6)).astype(np.float32)  # whole: float32 is exact
    offset = random.integers(-8, 9, 80).astype(float) if bias else None
    at = some_targets(random, 15, 80, 40)
    seen = csr_array(random.random((15, 80)) < 0.2)
    scorer = FactorScorer(users, items, item_bias=offset)
    for ties in ("mean", "random"):
        exact = rank(scorer, at, exclude=seen, ties=ties, rng=1)
        fast = rank(scorer, at, exclude=seen, ties=ties, rng=1, precision="fast", batch_size=4)
        np.testing.assert_array_equal(fast.above, exact.above)
        np.testing.assert_array_equal(fast.equal, exact.equal)
        np.testing.assert_array_equal(fast.ranks, exact.ranks)
