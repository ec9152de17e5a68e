"""Ranks up to K on a GPU: those of the CPU up to K, from fewer items."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from fullrank.ranking import rank
from fullrank.ranking.cuda.exact import factors as cuda_exact
from fullrank.ranking.cuda.exact.leaving import rounds
from fullrank.scorers import FactorScorer

N_USERS, N_ITEMS = 120, 1500


def problem(targets=2, bias=False):
    """Rounded factors, so that scores tie, of falling length; most targets are near the top."""
    rng = np.random.default_rng(3)
    users = np.round(rng.normal(size=(N_USERS, 6)), 1).astype(np.float32)
    items = np.round(rng.normal(size=(N_ITEMS, 6)), 1) * (2.0 * rng.random((N_ITEMS, 1)))
    items = items.astype(np.float32)
    own = np.round(rng.normal(size=N_ITEMS)) if bias else None
    scores = users @ items.T + (0 if own is None else own)
    best = np.argsort(-scores, axis=1, kind="stable")
    at = np.where(rng.random((N_USERS, targets)) < 0.6, 30, N_ITEMS)
    wanted = np.take_along_axis(best, (rng.random(at.shape) * at).astype(int), axis=1)
    rows = np.repeat(np.arange(N_USERS), targets)
    pairs = np.unique(np.column_stack([rows, wanted.ravel()]), axis=0)
    exclude = sp.random(N_USERS, N_ITEMS, 0.05, format="csr", random_state=1)
    return FactorScorer(users, items, item_bias=own), tuple(pairs.T), exclude


def up_to(k, scorer, targets, **how):
    """Rank on both, and compare."""
    full = rank(scorer, targets, rng=12345678901234, **how).up_to(k)
    there = rank(scorer, targets, rng=12345678901234, max_rank=k, device="cuda", **how)
    columns = ("above", "equal", "offset", "candidates", "beyond")
    assert [n for n in columns if not np.array_equal(getattr(full, n), getattr(there, n))] == []
    assert np.array_equal(full.ranks, there.ranks, equal_nan=True)
    assert (there.n_scored <= there.candidates).all()
    return there


@pytest.mark.parametrize(
    "ties", ["random", *(pytest.param(t, marks=pytest.mark.verify) for t in ("mean", "worst"))]
)
@pytest.mark.parametrize("k", [7, *(pytest.param(k, marks=pytest.mark.verify) for k in (1, 40))])
def test_ranks_up_to_k_are_those_of_the_cpu(ties, k):
    scorer, targets, exclude = problem()
    found = up_to(k, scorer, targets, exclude=exclude, ties=ties)
    assert 0 < found.beyond.mean() < 1
    assert (found.n_scored < 0.8 * found.candidates).any()


@pytest.mark.verify
def test_biases_a_smaller_catalogue_and_pieces(monkeypatch):
    monkeypatch.setattr(cuda_exact, "_ITEMS", 256 * 32 * 4)  # items come in several pieces
    scorer, targets, exclude = problem(bias=True)
    catalogue = np.unique(np.concatenate([targets[1], np.arange(0, N_ITEMS, 3)]))
    up_to(10, scorer, targets, exclude=exclude, items=catalogue)


@pytest.mark.verify
def test_where_everyone_is_out_the_other_pieces_are_not_counted(monkeypatch):
    monkeypatch.setattr(cuda_exact, "_ITEMS", 512 * 32 * 4)
    scorer, (users, _), _ = problem(targets=1)
    worst = scorer.scores(np.unique(users)).argmin(axis=1)
    found = up_to(3, scorer, (np.unique(users), worst))
    assert found.beyond.all()
    assert found.n_scored.max() < N_ITEMS


def test_rounds_hold_every_block_once_and_double():
    assert list(rounds(20, several=False)) == [(0, 20)]
    assert list(rounds(40, several=True)) == [(0, 8), (8, 16), (16, 32), (32, 40)]
