"""Sparse item–item models and shared scores are counted without the scores of all items."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from fullrank import evaluate
from fullrank.data import Interactions, Split
from fullrank.errors import InputError
from fullrank.models import ItemKNN, Popularity
from fullrank.ranking import rank
from fullrank.ranking.cpu import exact_sparse
from fullrank.scorers import ItemItemScorer, ItemScorer

HISTORY = csr_array(np.array([[1.0, 2.0, 0, 0, 0, 0], [0, 0, 1.0, 0, 0, 0]]))
MATRIX = csr_array(
    (
        np.array([1.0, -4.0, 3.0, 2.0, -1.5, -1.0]),
        np.array([2, 3, 4, 3, 4, 5]),
        np.array([0, 3, 5, 6, 6, 6, 6]),
    ),
    shape=(6, 6),
)  # the first user scores 2: 1, 3: -4 + 2·2 = 0, 4: 3 - 2·1.5 = 0; the second 5: -1


def test_what_is_not_reached_ties_at_zero_by_hand():
    result = rank(ItemItemScorer(HISTORY, MATRIX), ([0, 0, 1, 1], [2, 3, 5, 0]))
    assert result.above.tolist() == [0, 0, 4, 0]  # without the user's other targets
    assert result.equal.tolist() == [0, 4, 0, 4]
    assert result.offset.tolist() == [0, 1, 1, 0]
    excluded = csr_array(np.array([[1, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0]]))
    result = rank(ItemItemScorer(HISTORY, MATRIX), ([0, 1], [3, 5]), exclude=excluded)
    assert result.above.tolist() == [1, 4]
    assert result.equal.tolist() == [1, 0]


@pytest.fixture(scope="module")
def split():
    random = np.random.default_rng(0)
    items = (random.random(1500) ** 3 * 400).astype(int)
    pairs = np.unique(random.integers(0, 90, 1500) * 400 + items)
    users, items = np.divmod(pairs, 400)
    test = random.random(users.size) < 0.15
    ids = {"user_ids": np.arange(90), "item_ids": np.arange(400)}
    train, test = (Interactions.from_arrays(users[m], items[m], **ids) for m in (~test, test))
    return Split(train=train, test=test)


@pytest.fixture(params=[ItemKNN(n_neighbors=5), Popularity()], ids=["item-knn", "popularity"])
def scorer(request, split):
    return request.param.fit(split.train).scorer()


@pytest.mark.parametrize("ties", ["mean", "best", "worst", "random"])
def test_no_scores_are_asked_for(scorer, split, ties, monkeypatch):
    expected = rank(scorer.scores(np.arange(90)), split.test, exclude=split.train, ties=ties, rng=5)
    monkeypatch.setattr(type(scorer), "scores", None)
    found = rank(scorer, split.test, exclude=split.train, ties=ties, rng=5)
    assert found.to_dict() == expected.to_dict()


@pytest.mark.parametrize("how", [{"n_jobs": 1}, {"n_jobs": 3, "batch_size": 7}])
def test_threads_and_batches_change_nothing(scorer, split, how):
    for ties in ("mean", "random"):
        expected = rank(scorer, split.test, exclude=split.train, ties=ties, rng=5)
        found = rank(scorer, split.test, exclude=split.train, ties=ties, rng=5, **how)
        assert found.to_dict() == expected.to_dict()


def test_progress_counts_users(scorer, split):
    seen = []
    rank(scorer, split.test, n_jobs=1, batch_size=30, progress=lambda *x: seen.append(x))
    total = np.unique(split.test.pairs()[0]).size
    assert seen == [(30, total), (60, total), (total, total)]


def test_a_thread_makes_room_once(scorer, split, monkeypatch):
    made, make = [], exact_sparse.make_room
    monkeypatch.setattr(
        exact_sparse, "make_room", lambda *sizes: made.append(sizes) or make(*sizes)
    )
    rank(scorer, split.test, n_jobs=2, batch_size=3)
    assert len(made) <= 2


@pytest.mark.parametrize("design", ["exact", "exact:ties=random"])
def test_evaluate_in_shards_has_the_ranks_of_one_call(scorer, split, design, tmp_path):
    ties = "random" if "random" in design else "mean"
    expected = rank(scorer, split.test, exclude=split.train, ties=ties, rng=3)
    result = evaluate(
        {"m": scorer}, split, design=design, rng=3, shard_size=11, out=tmp_path / "run",
        report=False,
    )  # fmt: skip
    found = result.samples["m"]
    for column in ("ranks", "above", "equal", "candidates", "offset"):
        np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))


def test_nan_names_user_and_item_unless_it_is_excluded():
    scores = np.array([1.0, np.nan, 2.0, np.nan])
    weights = csr_array(np.array([[0, np.nan, 1.0, np.nan]] + [[0.0] * 4] * 3))
    history = csr_array(np.array([[1.0, 0, 0, 0]] * 3))
    seen = csr_array(np.array([[0, 1, 0, 1], [0, 1, 0, 0], [0, 1, 0, 1]]))
    for scorer in (ItemScorer(scores, n_users=3), ItemItemScorer(history, weights)):
        with pytest.raises(InputError, match=r"user row 0\b.*item row 1\b.*NaN"):
            rank(scorer, ([0, 2], [2, 2]))
        with pytest.raises(InputError, match=r"user row 1\b.*item row 3\b.*NaN"):
            rank(scorer, ([2, 1, 0], [2, 2, 2]), exclude=seen)
        for ties in ("mean", "random"):
            result = rank(scorer, ([0, 2], [2, 0]), exclude=seen, ties=ties, rng=0)
            assert result.above.tolist() == [0, 1]
        assert rank(scorer, ([0, 1], [2, 0]), items=[0, 2]).above.tolist() == [0, 1]


def test_shared_scores_are_sorted_here_when_a_gpu_is_asked(split, monkeypatch):
    from contextlib import nullcontext

    from fullrank.ranking import count

    monkeypatch.setattr(count, "open_device", lambda name: (None, name))
    monkeypatch.setattr(count, "current", lambda torch, device: nullcontext())
    scorer = Popularity().fit(split.train).scorer()
    expected = rank(scorer, split.test, exclude=split.train)
    found = rank(scorer, split.test, exclude=split.train, device="cuda", precision="fast")
    np.testing.assert_array_equal(found.ranks, expected.ranks)
    assert found.n_undecided is None
