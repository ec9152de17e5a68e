"""Exact ranks of factor models on a GPU are those of the CPU, tie by tie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from fullrank.data.targets import Exclusion, clean_targets
from fullrank.errors import InputError
from fullrank.ranking import rank
from fullrank.ranking.cuda.exact import factors as cuda_exact
from fullrank.ranking.cuda.parts import parts
from fullrank.ranking.job import Job
from fullrank.scorers import FactorScorer, as_scorer

COUNTS = ("above", "equal", "ranks", "offset", "candidates")


def problem(seed, *, n_users=20, n_items=150, d=16, targets=1, whole=False, dtype=np.float32):
    rng = np.random.default_rng(seed)
    users = rng.normal(size=(n_users, d)).astype(dtype)
    items = rng.normal(size=(n_items, d)).astype(dtype)
    if whole:  # small whole numbers: many equal scores
        users, items = np.round(users), np.round(items)
    rows = np.repeat(np.arange(n_users), targets)
    wanted = [rng.choice(n_items, targets, replace=False) for _ in range(n_users)]
    return users, items, (rows, np.concatenate(wanted)), rng


def same(scorer, targets, **how):
    here = rank(scorer, targets, rng=12345678901234, **how)
    there = rank(scorer, targets, rng=12345678901234, device="cuda", **how)
    assert [n for n in COUNTS if not np.array_equal(getattr(here, n), getattr(there, n))] == []
    return there


@pytest.mark.breadth(2)  # more factors than fill a tile, in either kind of number
@pytest.mark.parametrize("operands", ["tf32", "bf16"])
@pytest.mark.parametrize("d", [33, 1, 8, 64, 130])
def test_counts_are_those_of_the_cpu(d, operands):
    users, items, targets, _ = problem(d, d=d)
    same(FactorScorer(users, items), targets, operands=operands, ties="random")


@pytest.mark.verify
@pytest.mark.parametrize("ties", ["mean", "best", "worst", "random"])
def test_equal_scores_stand_where_the_cpu_puts_them(ties):
    users, items, targets, _ = problem(1, d=4, targets=3, whole=True)
    result = same(FactorScorer(users, items), targets, ties=ties)
    assert result.equal.max() > 3


def test_excluded_items_and_a_smaller_catalogue():
    users, items, targets, rng = problem(2, targets=2)
    exclude = sp.random(20, 150, 0.1, format="csr", random_state=1)
    catalogue = np.unique(np.concatenate([targets[1], rng.choice(150, 60)]))
    same(FactorScorer(users, items), targets, exclude=exclude, items=catalogue, ties="random")


@pytest.mark.verify
def test_users_beyond_the_last_excluded_row_have_nothing_excluded():
    users, items, targets, _ = problem(3)
    same(FactorScorer(users, items), targets, exclude=sp.csr_array(np.ones((5, 150))))


@pytest.mark.verify
@pytest.mark.parametrize("targets", [5, 11])
def test_more_targets_than_a_row_holds(targets):
    users, items, pairs, _ = problem(4, n_users=7, targets=targets)
    same(FactorScorer(users, items), pairs)


@pytest.mark.verify
def test_users_with_different_numbers_of_targets():
    users, items, _, rng = problem(5)
    rows = np.repeat(np.arange(20), rng.integers(1, 14, 20))
    pairs = np.unique(np.column_stack([rows, rng.integers(0, 150, rows.size)]), axis=0)
    same(FactorScorer(users, items), (pairs[:, 0], pairs[:, 1]), ties="random")


@pytest.mark.verify
@pytest.mark.parametrize("kind", ["dot", "cosine"])
def test_biases_and_cosine(kind):
    users, items, targets, rng = problem(6)
    bias = rng.normal(size=150)
    bias[:3] = -np.inf  # items that are never to be shown
    targets = targets[0], np.maximum(targets[1], 3)
    scorer = FactorScorer(
        users, items, item_bias=bias, user_bias=rng.normal(size=20), similarity=kind
    )
    same(scorer, targets, ties="random")


@pytest.mark.verify
def test_a_target_with_an_infinite_score_is_ranked_by_the_cpu():
    users, items, targets, _ = problem(7)
    bias = np.zeros(150)
    bias[targets[1][0]] = np.inf
    result = same(FactorScorer(users, items, item_bias=bias), targets)
    assert result.n_undecided is None


@pytest.mark.verify
@pytest.mark.parametrize("scale", [1e-41, 1e-38, 1e37])
def test_single_precision_at_the_ends_of_its_range(scale):
    users, items, targets, _ = problem(19)
    same(FactorScorer((users * np.float64(scale)).astype(np.float32), items), targets)


@pytest.mark.verify
@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_double_precision_and_unusual_sizes(scale):
    users, items, targets, _ = problem(8, dtype=np.float64)
    same(FactorScorer(users * scale, items), targets, ties="random")


def test_close_scores_are_decided_in_double_precision(monkeypatch):
    monkeypatch.setattr(cuda_exact, "_MANY", 64)
    users, items, targets, rng = problem(9, n_users=6, n_items=300, d=24)
    items[:] = items[0] * (1 + 1e-7 * rng.integers(0, 3, (300, 1))).astype(np.float32)
    result = same(FactorScorer(users, items), targets, ties="random")
    # more than the places that are made for a target at first
    assert result.n_undecided > 6 * 64


@pytest.mark.verify
def test_a_catalogue_in_pieces_and_users_in_parts(monkeypatch):
    users, items, targets, rng = problem(10, targets=2, n_items=700)
    exclude = sp.random(20, 700, 0.05, format="csr", random_state=2)
    scorer = FactorScorer(users, items, item_bias=rng.normal(size=700))
    monkeypatch.setattr(cuda_exact, "_ITEMS", 200 * 32 * 4)  # 16 factors, padded to 32
    monkeypatch.setattr(cuda_exact, "_USERS", 7 * (3 * 32 * 4 + 2 * 256))
    seen = []
    same(scorer, targets, exclude=exclude, ties="random")
    rank(scorer, targets, device="cuda", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (20, 20)
    assert seen == sorted(seen)
    assert len(seen) == 3 * 4


@pytest.mark.breadth
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_factor_that_is_no_number_in_a_later_piece(bad, monkeypatch):
    users, items, targets, _ = problem(15, n_items=300)
    items[250, 3] = bad
    users[:, 3] = 0.0  # times infinity: no number
    monkeypatch.setattr(cuda_exact, "_ITEMS", 100 * 32 * 4)
    with pytest.raises(InputError, match=r"user row 0\b.*item row 250\b.*NaN"):
        rank(FactorScorer(users, items), targets, device="cuda")


def test_targets_and_excluded_items_count_for_what_fits_the_device():
    users, items, targets, _ = problem(16, n_users=4, n_items=30, targets=9)
    job = Job(
        scorer=FactorScorer(users, items),
        targets=clean_targets(targets, n_users=4, n_items=30),
        catalogue=None, exclusion=None, random=False, key=0, fast=False, n_jobs=None,
        batch_size=None, progress=None,
    )  # fmt: skip
    exclusion = Exclusion(indptr=np.array([0, 0, 0, 20, 20]), indices=np.arange(20, dtype=np.int32))

    def cut(job, room):
        return [(here, part.targets.users.tolist()) for here, part in parts(job, 128, room)]

    user = 10 * 128 + 9 * 256
    assert cut(job, 4 * user) == [(slice(0, 36), [0, 1, 2, 3])]
    assert cut(job, 4 * user - 1) == [(slice(0, 27), [0, 1, 2]), (slice(27, 36), [3])]
    assert [users for _, users in cut(job, 1)] == [[0], [1], [2], [3]]
    job = replace(job, exclusion=exclusion)
    assert [users for _, users in cut(job, 4 * user)] == [[0, 1, 2], [3]]


@pytest.mark.verify
def test_few_factors_are_as_wide_as_the_tiles_they_fill(monkeypatch):
    """Pieces are of so many bytes of what is multiplied, not of what was given."""
    users, items, targets, _ = problem(17, d=1, n_items=300)
    monkeypatch.setattr(cuda_exact, "_ITEMS", 100 * 32 * 4)
    seen = []
    rank(FactorScorer(users, items), targets, device="cuda", progress=lambda *at: seen.append(at))
    assert len(seen) == 3


@pytest.mark.verify
def test_one_user_who_ties_with_everything_does_not_slow_the_others_down(monkeypatch):
    users, items, targets, _ = problem(18, n_users=60, n_items=130, d=2)
    users[7] = 0.0
    monkeypatch.setattr(cuda_exact, "_MANY", 64)
    monkeypatch.setattr(cuda_exact, "_LISTED", 256)
    steps = []
    whole = cuda_exact.Count._count_rows

    def watched(self, blocks, at, stop, capacity, begin, end):
        steps.append((stop - at, capacity))
        return whole(self, blocks, at, stop, capacity, begin, end)

    monkeypatch.setattr(cuda_exact.Count, "_count_rows", watched)
    result = same(FactorScorer(users, items), targets)
    assert result.equal.max() == 129
    # all at once; the first again, with room for what it lists; then more and more
    expected = [(60, 64), (1, 256), (1, 256), (2, 128), (4, 64), (8, 64), (16, 64), (28, 64)]
    assert steps == expected


@pytest.mark.verify
def test_arrays_that_must_not_be_written_to():
    users, items, targets, _ = problem(11)
    users.flags.writeable = items.flags.writeable = False
    same(FactorScorer(users, items), targets)


@pytest.mark.breadth(2)
@pytest.mark.parametrize("operands", ["tf32", "bf16"])
@pytest.mark.parametrize("targets", [1, 3])
def test_fast_counts_the_scores_of_rounded_factors(operands, targets):
    """Whole numbers up to 8 bits are not rounded, so that fast ranks are exact ones."""
    users, items, pairs, _ = problem(12, d=6, targets=targets, whole=True)
    exclude = sp.random(20, 150, 0.1, format="csr", random_state=3)
    same(
        FactorScorer(users, items), pairs, exclude=exclude, precision="fast", ties="random",
        operands=operands,
    )  # fmt: skip


@pytest.mark.verify
@pytest.mark.parametrize("ties", ["worst", "random"])
def test_fast_ranks_are_among_the_candidates(ties):
    """A sum of 33 products may be another in another order, and then excluded items tie no more."""
    users, items, targets, rng = problem(20, d=33, n_items=20)
    items[:] = items[0]
    exclude = sp.csr_array((rng.random((20, 20)) < 0.7).astype(float))
    result = rank(
        FactorScorer(users, items), targets, exclude=exclude, ties=ties, precision="fast",
        device="cuda", rng=1,
    )  # fmt: skip
    assert result.candidates.min() < 10
    assert (result.above >= 0).all()
    assert (result.above + result.equal < result.candidates).all()
    assert ((result.ranks >= 1) & (result.ranks <= result.candidates)).all()


@pytest.mark.verify
def test_fast_says_how_many_comparisons_were_close():
    users, items, targets, _ = problem(13, n_items=512)
    items[:] = items[0]
    result = rank(FactorScorer(users, items), targets, precision="fast", device="cuda")
    # the blocks that were looked at stand for the others
    assert result.n_undecided == 20 * 512


@pytest.mark.verify
def test_fast_ranks_are_near_the_exact_ones():
    users, items, targets, _ = problem(14, n_items=600, d=40)
    scorer = FactorScorer(users, items)
    exact = rank(scorer, targets)
    fast = rank(scorer, targets, precision="fast", operands="bf16", device="cuda")
    # products of two 8-bit numbers err by less than 2^-7 of Σ|u_k v_k|
    scores = scorer.scores(np.arange(20))
    marks = scores[targets[0], targets[1]]
    bound = 2.0**-7 * np.linalg.norm(users, axis=1) * np.linalg.norm(items, axis=1).max()
    within = (np.abs(scores - marks[:, None]) <= 2 * bound[:, None]).sum(axis=1)
    assert (np.abs(fast.ranks - exact.ranks) <= within).all()


def test_other_scorers_have_no_gpu():
    with pytest.raises(InputError, match=r'`device`.*None.*"cpu".*ScoreArray'):
        rank(np.eye(3), ([0], [1]), device="cuda")


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "cuda:", "cuda:²", 1])
def test_what_is_no_device(device):
    with pytest.raises(InputError, match=rf"`device`.*None, \"cpu\", \"cuda\".*{device!r}"):
        rank(as_scorer(np.eye(3)), ([0], [1]), device=device)


def test_what_is_no_operand():
    with pytest.raises(InputError, match=r"`operands`.*'tf32', 'bf16'.*'fp8'"):
        rank(np.eye(3), ([0], [1]), operands="fp8")
