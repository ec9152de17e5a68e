"""Counts of factor models equal brute force for both filters, with and without `max_rank`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from fullrank.designs.draw_kernels import tie_word
from fullrank.ranking import rank
from fullrank.ranking.cpu.factors import exact_factors
from fullrank.ranking.cpu.factors.integer_products import LANES, ROWS, multiply
from fullrank.ranking.job import Job
from fullrank.ranking.request import make_request
from fullrank.ranking.ties import between_targets
from fullrank.scorers import FactorScorer

SEEDS = st.integers(0, 2**32 - 1)
POLICIES = ["mean", "best", "worst", "random"]
KINDS = ["plain", "few values", "copies", "an ulp apart", "lengths", "zeros", "tiny", "huge",
         "one way", "one factor"]  # fmt: skip


def world(random, kind, n_users, n_items, d, dtype):
    users, items = random.normal(size=(n_users, d)), random.normal(size=(n_items, d))
    if kind == "few values":
        users, items = random.integers(-1, 2, users.shape), random.integers(-1, 2, items.shape)
    elif kind == "copies":
        items = items[random.integers(0, max(1, n_items // 3), n_items)]
    elif kind == "an ulp apart":
        step = np.finfo(dtype).eps
        items = items[random.integers(0, min(3, n_items), n_items)].astype(dtype)
        items = items * (1 + step * random.integers(-1, 2, items.shape))
    elif kind == "lengths":
        items *= random.lognormal(sigma=2, size=(n_items, 1))
    elif kind == "zeros":
        users[random.random(n_users) < 0.3] = 0
        items[random.random(n_items) < 0.3] = 0
    elif kind == "tiny":
        users, items = users * 1e-22, items * 1e-22
    elif kind == "huge":
        users, items = users * 1e15, items * 10.0 ** random.integers(-20, 15, (n_items, 1))
    elif kind == "one way":  # scores that differ by less than what integers lose
        items = items[:1] * (1 + 1e-5 * random.normal(size=items.shape))
    elif kind == "one factor":  # as large as an entry of 16 bits can be
        users[:, 1:] *= 1e-9
        items[:, 1:] *= 1e-9
    return users.astype(dtype), items.astype(dtype)


def defined_scores(users, items, bias):
    out = np.zeros((users.shape[0], items.shape[0]))
    for k in range(users.shape[1]):
        out += users[:, k, None].astype(np.float64) * items[None, :, k].astype(np.float64)
    return out if bias is None else out + bias


def brute_force(scores, t, hidden, policy, key):
    """Greater, equal, before and twice the rank, by the definition, in the order of `t.order`."""
    users, items = t.user_rows[t.order], t.item_rows[t.order]
    out = []
    for u, i in zip(users, items, strict=True):
        candidate = ~hidden[u]
        candidate[i] = False
        row = scores[u]
        same = candidate & (row == scores[u, i])
        before = 0
        if policy == "random":
            everything = np.arange(row.size)
            word = np.array([tie_word(np.uint64(key), u, j) for j in everything], np.uint64)
            first = (word > word[i]) | ((word == word[i]) & (everything > i))
            before = int((same & first).sum())
        out.append((int((candidate & (row > scores[u, i])).sum()), int(same.sum()), before))
    return np.array(out).T


@settings(deadline=None, max_examples=150)
@given(
    seed=SEEDS,
    kind=st.sampled_from(KINDS),
    dtype=st.sampled_from([np.float32, np.float64]),
    shape=st.tuples(st.integers(1, 24), st.integers(2, 150), st.integers(1, 19)),
    policy=st.sampled_from(POLICIES),
    bias=st.sampled_from(["none", "plain", "large", "infinite"]),
    exclude=st.booleans(),
    restrict=st.booleans(),
    max_rank=st.sampled_from([None, 1, 3, 10, 1000]),
    width=st.sampled_from([3, 16, 64, 100]),
    engine=st.sampled_from(["integers", "singles", None]),
    batch_size=st.sampled_from([None, 1, 5]),
    n_jobs=st.integers(1, 3),
)
def test_counts_are_those_of_the_definition(
    seed, kind, dtype, shape, policy, bias, exclude, restrict, max_rank, width, engine,
    batch_size, n_jobs,
):  # fmt: skip
    random = np.random.default_rng(seed)
    n_users, n_items, _ = shape
    users, items = world(random, kind, *shape, dtype)
    offset = None
    if bias != "none":
        offset = random.normal(size=n_items).round(1) * (1e6 if bias == "large" else 1)
        offset *= np.abs(users).max(initial=0) * np.abs(items).max(initial=0) or 1.0
        if bias == "infinite":
            offset[random.random(n_items) < 0.2] = np.inf
            offset[random.random(n_items) < 0.2] = -np.inf
    pairs = random.choice(n_users * n_items, min(40, n_users * n_items), replace=False)
    at = pairs // n_items, pairs % n_items
    seen = (
        random.random((n_users, n_items)) < 0.2 if exclude else np.zeros((n_users, n_items), bool)
    )
    catalogue = None
    if restrict:
        catalogue = np.union1d(at[1], random.integers(0, n_items, n_items // 2 + 1))
    scorer = FactorScorer(users, items, item_bias=offset)
    asked = make_request(scorer, at, exclude=csr_array(seen) if exclude else None, items=catalogue)
    t, key = asked.targets, 7

    def job(max_rank, batch_size, n_jobs):
        return Job(
            scorer=asked.scorer, targets=t, catalogue=asked.items, exclusion=asked.exclusion,
            random=policy == "random", key=key, fast=False, n_jobs=n_jobs, batch_size=batch_size,
            progress=None, max_rank=max_rank, policy=policy,
        )  # fmt: skip

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_factors, "ITEMS", width)
        patch.setattr(exact_factors, "ITEMS_UP_TO", width)
        patch.setattr(exact_factors, "FIRST", 1)
        patch.setattr(exact_factors, "FILTER", engine)
        patch.setattr(exact_factors, "SLAB", 1 << 12)
        counts = exact_factors.count_factors(job(max_rank, batch_size, n_jobs), scorer)
        again = exact_factors.count_factors(job(max_rank, None, 1), scorer)
    assert counts is not None

    hidden = seen.copy()
    hidden[t.user_rows, t.item_rows] = False  # a target stays a candidate
    if catalogue is not None:
        hidden |= ~np.isin(np.arange(n_items), catalogue)
    scores = defined_scores(scorer.user_factors, scorer.item_factors, offset)
    expected = brute_force(scores, t, hidden, policy, key)
    others, above = between_targets(counts, t, policy, key)
    part = {
        "best": 0, "mean": expected[1] - others.equal, "worst": 2 * (expected[1] - others.equal),
        "random": 2 * (expected[2] - others.before),
    }[policy]  # fmt: skip
    twice_rank = 2 * (1 + above + expected[0] - others.greater) + part
    out = np.zeros(twice_rank.size, bool) if max_rank is None else twice_rank > 2 * max_rank
    np.testing.assert_array_equal(counts.out, out)
    np.testing.assert_array_equal(counts.greater[~out], expected[0][~out])
    np.testing.assert_array_equal(counts.equal[~out], expected[1][~out])
    np.testing.assert_array_equal(counts.before[~out], expected[2][~out])
    # what was scored depends neither on blocks of users nor on threads, and is at most everything
    np.testing.assert_array_equal(counts.scored, again.scored)
    assert (counts.scored <= (~hidden).sum(axis=1)[t.user_rows[t.order]]).all()
    assert (counts.scored >= t.n_targets[t.order]).all()


@settings(deadline=None, max_examples=30)
@given(seed=SEEDS, n=st.integers(1, 9), half=st.integers(1, 40), strips=st.integers(1, 3))
def test_products_of_integers_are_exact(seed, n, half, strips):
    random = np.random.default_rng(seed)
    rows = -(-n // ROWS) * ROWS
    bound = int(np.sqrt(2**31 / (2 * half)))  # no sum exceeds 32 bits
    bound = min(bound, 2**15 - 1)
    x = random.integers(-bound, bound + 1, (rows, 2 * half)).astype(np.int16)
    y = random.integers(-bound, bound + 1, (strips * LANES, 2 * half)).astype(np.int16)
    packed = y.reshape(strips, LANES, half, 2).transpose(0, 2, 1, 3)
    packed = np.ascontiguousarray(packed).reshape(strips, half, 2 * LANES)
    out = np.zeros((rows, strips * LANES), np.int32)
    multiply(x, n, packed, 0, out)
    np.testing.assert_array_equal(out[:n], (x.astype(np.int64) @ y.T.astype(np.int64))[:n])


def test_users_leave_early_where_only_the_first_ranks_matter():
    """Long items are above nearly every target: one block is enough."""
    random = np.random.default_rng(0)
    users = np.abs(random.normal(size=(200, 8))).astype(np.float32)
    items = np.abs(random.normal(size=(5000, 8))).astype(np.float32)
    items[:512] *= 10
    asked = make_request(
        FactorScorer(users, items), (np.arange(200), np.full(200, 4999)), exclude=None, items=None
    )
    job = Job(
        scorer=asked.scorer, targets=asked.targets, catalogue=None, exclusion=None, random=False,
        key=0, fast=False, n_jobs=1, batch_size=None, progress=None, max_rank=20,
    )  # fmt: skip
    counts = exact_factors.count_factors(job, asked.scorer)
    assert counts is not None
    assert counts.out.all()
    assert (counts.scored == exact_factors.ITEMS_UP_TO + 1).all()  # the first block, and the target


@pytest.mark.parametrize("scale", [1e-41, 1e-38, 1e37])
@pytest.mark.parametrize("max_rank", [None, 5])
def test_the_ends_of_the_range_of_float32(scale, max_rank):
    random = np.random.default_rng(4)
    users = (random.normal(size=(20, 16)) * scale).astype(np.float32)
    items = random.normal(size=(150, 16)).astype(np.float32)
    targets = np.arange(20), random.integers(0, 150, 20)
    scorer = FactorScorer(users, items)
    scores = scorer.scores(targets[0])
    mark = scores[targets[0], targets[1]][:, None]
    ranks = 1 + (scores > mark).sum(1) + ((scores == mark).sum(1) - 1) / 2
    found = rank(scorer, targets, max_rank=max_rank).ranks
    wanted = ranks if max_rank is None else np.where(ranks > max_rank, np.nan, ranks)
    assert np.array_equal(found, wanted, equal_nan=True)
