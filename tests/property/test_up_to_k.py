"""Ranks up to K are the ranks of all scores as far as K, whatever the order and the blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from fullrank.ranking import rank
from fullrank.ranking.cpu import early_stop
from fullrank.scorers import CallableScorer, FactorScorer, ItemItemScorer, ScoreArray

COUNTED = ("above", "equal", "before", "offset", "candidates", "n_targets", "beyond")
KINDS = ["plain", "few values", "all equal", "all -inf", "infinite"]
ORDERS = ["default", "random", "popularity", "items", "lists", "mapping", "proxy", "model"]


def some_scores(random, kind, n_users, n_items):
    scores = random.normal(size=(n_users, n_items))
    if kind == "few values":
        scores = random.integers(0, 4, scores.shape).astype(float)
    elif kind == "all equal":
        scores[:] = 1.0
    elif kind == "all -inf":
        scores[:] = -np.inf
    elif kind == "infinite":
        scores[random.random(scores.shape) < 0.3] = np.inf
        scores[random.random(scores.shape) < 0.3] = -np.inf
    return scores


def some_targets(random, n_users, n_items, several):
    pairs = [
        (user, item)
        for user in range(n_users)
        for item in random.choice(n_items, min(n_items, random.integers(1, several + 1)), False)
    ]
    users, items = np.array(pairs)[random.permutation(len(pairs))].T
    return users, items


def some_order(random, name, scores, seen):
    n_users, n_items = scores.shape
    made = {
        "default": lambda: None,
        "items": lambda: random.permutation(n_items)[: n_items // 2],
        "lists": lambda: random.integers(-1, n_items, (n_users, 9)),
        "mapping": lambda: {int(u): random.integers(0, n_items, u % 7) for u in range(n_users)},
        "proxy": lambda: ScoreArray(np.where(np.isfinite(scores), scores, 0) + random.normal(
            size=scores.shape)),
        "model": lambda: FactorScorer(random.normal(size=(n_users, 3)), random.normal(
            size=(n_items, 3))),
    }  # fmt: skip
    return made[name]() if name in made else name


def asked_of(scores, thread_safe=True):
    """A scorer of pairs from a table, and a list to which it adds how many scores it gave."""
    asked = []

    def function(users, items=None):
        found = scores[users] if items is None else scores[users[:, None], items]
        asked.append(found.size)
        return found

    scorer = CallableScorer(function, n_users=scores.shape[0], n_items=scores.shape[1])
    scorer.thread_safe = thread_safe
    return scorer, asked


@settings(deadline=None, max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    order=st.sampled_from(ORDERS),
    ties=st.sampled_from(["mean", "best", "worst", "random"]),
    shape=st.tuples(st.integers(1, 25), st.integers(2, 150)),
    several=st.integers(1, 5),
    max_rank=st.sampled_from([1, 2, 3, 10, 40, 1000]),
    exclude=st.booleans(),
    restrict=st.booleans(),
    batch_size=st.sampled_from([None, 1, 4]),
    cells=st.sampled_from([1, 50, 1 << 18]),
    first=st.integers(1, 40),
    n_jobs=st.integers(1, 2),
)
def test_they_are_the_full_ranks_up_to_k(
    seed, kind, order, ties, shape, several, max_rank, exclude, restrict, batch_size, cells, first,
    n_jobs,
):  # fmt: skip
    random = np.random.default_rng(seed)
    scores = some_scores(random, kind, *shape)
    targets = some_targets(random, *shape, several)
    seen = random.random(shape) < 0.3
    if exclude:  # a score that nobody needs may be anything
        own = np.zeros(shape, bool)
        own[targets] = True
        scores[seen & ~own & (random.random(shape) < 0.2)] = np.nan
    arguments = {"exclude": csr_array(seen) if exclude else None, "ties": ties, "rng": seed}
    if restrict:
        arguments["items"] = np.union1d(targets[1], random.choice(shape[1], shape[1] // 2))
    if order == "popularity" and not exclude:
        order = "random"
    full = rank(scores, targets, **arguments)
    scorer, asked = asked_of(scores)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(early_stop, "CELLS", cells)
        patch.setattr(early_stop, "FIRST", first)
        found = rank(
            scorer, targets, max_rank=max_rank, order=some_order(random, order, scores, seen),
            batch_size=batch_size, n_jobs=n_jobs, **arguments,
        )  # fmt: skip
    expected = full.up_to(max_rank)
    for name in COUNTED:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    np.testing.assert_array_equal(found.ranks, expected.ranks)
    metrics = f"ndcg@{max_rank},recall@{max_rank},ap@1"
    assert found.metrics(metrics) == full.metrics(metrics)
    assert (found.n_scored >= found.n_targets).all()
    assert (found.n_scored <= found.candidates).all()
    assert max(asked) <= cells


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    order=st.sampled_from(["default", "items", "lists", "proxy"]),
    max_rank=st.sampled_from([1, 5, 60]),
    several=st.integers(1, 3),
)
def test_n_scored_is_what_was_asked_for_whatever_the_waves(seed, order, max_rank, several):
    random = np.random.default_rng(seed)
    scores = random.normal(size=(40, 500))
    users, items = some_targets(random, *scores.shape, several)
    given_order = some_order(random, order, scores, None)
    results, totals = [], []
    for batch_size, n_jobs in ((None, 1), (7, 1), (7, 2)):
        scorer, asked = asked_of(scores)
        found = rank(scorer, (users, items), max_rank=max_rank, order=given_order,
                     batch_size=batch_size, n_jobs=n_jobs)  # fmt: skip
        results.append(found.n_scored)
        totals.append(sum(asked))
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])
    needed = results[0][np.unique(users, return_index=True)[1]].sum()
    assert needed <= min(totals)
    if order in ("default", "items"):
        # the targets are met again in the blocks that all share, and nothing else is scored twice
        assert max(totals) <= needed + users.size
    if max_rank == 1 and several == 1:
        assert needed < 0.6 * scores.size


@pytest.mark.parametrize("max_rank", [1, 4, 30])
@pytest.mark.parametrize("ties", ["mean", "random"])
@pytest.mark.parametrize("dense", [True, False])
def test_item_item_models(dense, ties, max_rank):
    random = np.random.default_rng(max_rank)
    history = csr_array((random.random((50, 80)) < 0.4).astype(float))
    matrix = random.integers(-2, 3, (80, 80)).astype(np.float32)
    scorer = ItemItemScorer(history, matrix if dense else csr_array(matrix))
    targets = some_targets(random, 50, 80, 3)
    arguments = {"exclude": history, "ties": ties, "rng": 1}
    full = rank(scorer, targets, **arguments)
    for order in (None, "random", random.integers(0, 80, (50, 20))):
        found = rank(scorer, targets, max_rank=max_rank, order=order, **arguments)
        np.testing.assert_array_equal(found.ranks, full.up_to(max_rank).ranks)


@pytest.mark.parametrize("bias", [None, "item"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_factor_model_in_an_order_of_ones_own_has_its_certified_ranks(dtype, bias):
    """`scores` gives the very sums by which ranks are certified."""
    random = np.random.default_rng(0)
    users = random.normal(size=(60, 7)).astype(dtype)
    items = np.repeat(random.normal(size=(40, 7)), 5, axis=0).astype(dtype)  # exact ties
    scorer = FactorScorer(users, items, item_bias=None if bias is None else random.normal(size=200))
    targets = some_targets(random, 60, 200, 3)
    proxy = FactorScorer(users[:, :3], items[:, :3])
    for order in (random.permutation(200), proxy, random.integers(-1, 200, (60, 30))):
        for ties in ("mean", "random"):
            full = rank(scorer, targets, ties=ties, rng=2)
            found = rank(scorer, targets, ties=ties, rng=2, max_rank=12, order=order)
            for name in COUNTED:
                np.testing.assert_array_equal(
                    getattr(found, name), getattr(full.up_to(12), name), err_msg=name
                )
            assert found.n_scored.mean() < 150


def test_memory_does_not_grow_with_users_times_items():
    import tracemalloc

    n_users, n_items = 3000, 40_000
    base = np.random.default_rng(0).normal(size=n_items)

    def function(users, items=None):
        items = np.arange(n_items) if items is None else items
        return np.broadcast_to(base[items], (users.size, items.shape[-1])).astype(np.float32)

    scorer = CallableScorer(function, n_users=n_users, n_items=n_items)
    best = int(base.argmax())
    at = np.arange(n_users), np.full(n_users, best)
    rank(scorer, (at[0][:5], at[1][:5]), max_rank=5)  # compiled
    tracemalloc.start()
    found = rank(scorer, at, max_rank=5)  # everyone stays to the end
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.ranks == 1).all()
    assert (found.n_scored == n_items).all()
    assert peak < 16e6  # all scores would take 480e6 bytes
