"""A million targets: certified counts against the brute force of their definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from fullrank.ranking import rank
from fullrank.ranking.cpu import exact_item_item
from fullrank.ranking.cpu.factors import exact_factors
from fullrank.scorers import FactorScorer, ItemItemScorer

pytestmark = [pytest.mark.slow, pytest.mark.verify]

USERS, ITEMS, D, EACH = 1000, 3000, 24, 100  # 100,000 targets in each of eleven worlds


def random_targets(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """EACH different items for every user."""
    items = np.argsort(random.random((USERS, ITEMS)), axis=1)[:, :EACH]
    return np.repeat(np.arange(USERS), EACH), items.ravel()


def defined(users, items, bias=0.0):
    out = np.zeros((users.shape[0], items.shape[0]))
    for k in range(users.shape[1]):
        out += users[:, k, None].astype(np.float64) * items[None, :, k].astype(np.float64)
    return out + bias


def brute_force(scores, users, items):
    """By sorting rows without the targets: a route that has nothing in common with counting."""
    greater, equal = np.empty(users.size, np.int64), np.empty(users.size, np.int64)
    for u in range(USERS):
        here = users == u if users.size != USERS * EACH else slice(u * EACH, (u + 1) * EACH)
        row = np.sort(np.delete(scores[u], items[here]))
        marks = scores[u, items[here]]
        right = np.searchsorted(row, marks, side="right")
        greater[here] = row.size - right
        equal[here] = right - np.searchsorted(row, marks, side="left")
    return greater, equal


def check(scorer, scores, random, monkeypatch, module, name, sizes):
    at = random_targets(random)
    greater, equal = brute_force(scores, *at)
    whole = rank(scorer, at)
    assert np.count_nonzero(whole.above != greater) == 0
    assert np.count_nonzero(whole.equal != equal) == 0
    some = random.choice(at[0].size, 5000, replace=False)  # other blocks, threads and order
    fewer = brute_force(scores, at[0][some], at[1][some])
    for size, batch_size, n_jobs in sizes:
        with monkeypatch.context() as patch:
            patch.setattr(module, name, size)
            part = rank(scorer, (at[0][some], at[1][some]), batch_size=batch_size, n_jobs=n_jobs)
        assert np.array_equal(part.above, fewer[0])
        assert np.array_equal(part.equal, fewer[1])
    return int(equal.max())


def world(kind: str, random: np.random.Generator):
    users = random.normal(size=(USERS, D)).astype(np.float32)
    items = random.normal(size=(ITEMS, D)).astype(np.float32)
    bias = None
    if kind == "copies":
        items = items[random.integers(0, ITEMS // 4, ITEMS)]
    elif kind == "nearly equal":
        items = (items[:1] * (1 + 1e-6 * random.normal(size=items.shape))).astype(np.float32)
    elif kind == "few values":
        users = random.integers(-1, 2, users.shape).astype(np.float16)
        items = random.integers(-1, 2, items.shape).astype(np.float16)
    elif kind == "denormal":
        users, items = users * np.float32(1e-20), items * np.float32(1e-21)
        items[::2] = items[::2] * np.float32(1e-23)  # a few units of the smallest float32
    elif kind == "lengths":
        items *= random.lognormal(sigma=1.5, size=(ITEMS, 1)).astype(np.float32)
        users += items[random.integers(0, ITEMS, USERS)]
    elif kind == "infinite biases":
        bias = random.normal(size=ITEMS).round(2)
        bias[random.random(ITEMS) < 0.1] = np.inf
        bias[random.random(ITEMS) < 0.2] = -np.inf
    elif kind == "float64":  # copies that differ in the last bits of float64 only
        users = users.astype(np.float64)
        items = items[random.integers(0, 30, ITEMS)].astype(np.float64)
        items *= 1 + 2.0**-52 * random.integers(0, 3, items.shape)
    elif kind == "infinite factors":
        users = np.abs(users)
        items[random.random(ITEMS) < 0.1] = np.inf
        items[random.random(ITEMS) < 0.1] = -np.inf
    return users, items, bias


@pytest.mark.parametrize(
    "kind",
    ["plain", "copies", "nearly equal", "few values", "denormal", "lengths", "infinite biases",
     "float64", "infinite factors"],
)  # fmt: skip
def test_factor_models(kind, monkeypatch):
    random = np.random.default_rng(sum(kind.encode()))
    users, items, bias = world(kind, random)
    scores = defined(users, items, 0.0 if bias is None else bias)
    scorer = FactorScorer(users, items, item_bias=bias)
    ties = check(
        scorer, scores, random, monkeypatch, exact_factors, "ITEMS",
        [(512, 7, 1), (33, None, 2), (1000, 300, 3)],
    )  # fmt: skip
    if kind not in ("plain", "lengths", "nearly equal", "denormal"):
        assert ties > 0  # the world is as hard as it is meant to be


@pytest.mark.parametrize("cached", [True, False])
def test_item_item_models(cached, monkeypatch):
    monkeypatch.setattr(exact_item_item, "CACHED", 1 << 26 if cached else 0)
    random = np.random.default_rng(5)
    matrix = random.normal(size=(ITEMS, ITEMS)).astype(np.float32)
    matrix[:, ::7] = matrix[:, [3]]
    matrix[:, 1::7] = matrix[:, [3]] * (1 + 1e-6 * random.normal(size=matrix[:, 1::7].shape))
    history = random.choice([1, 2, 0.3], (USERS, ITEMS)).astype(np.float32)
    history[random.random((USERS, ITEMS)) > 0.02] = 0
    scores = np.zeros((USERS, ITEMS))
    for h in range(ITEMS):
        owners = np.flatnonzero(history[:, h])
        scores[owners] += history[owners, h, None].astype(np.float64) * matrix[h].astype(np.float64)
    ties = check(
        ItemItemScorer(csr_array(history), matrix), scores, random, monkeypatch, exact_item_item,
        "NARROW" if cached else "WIDE", [(512, 7, 1), (100, None, 2), (999, 300, 3)],
    )  # fmt: skip
    assert ties > 300
