"""A million targets: full ranks and ranks up to K against the brute force of their definition."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from fullrank.data import read_split
from fullrank.designs.draw_kernels import tie_word
from fullrank.designs.draws import seed_key
from fullrank.models import EASE, PureSVD
from fullrank.ranking import rank
from fullrank.samples.exact_ranks import POLICIES
from fullrank.scorers import CallableScorer, FactorScorer

pytestmark = [pytest.mark.slow, pytest.mark.verify]

SEED = 12345
CUTS = (1, 10, 50)
N_USERS, N_ITEMS = 2500, 700


def some_targets(random: np.random.Generator, n_users: int, n_items: int, most: int) -> Any:
    """From one to `most` different items for every user, in no order."""
    sizes = random.integers(1, most + 1, n_users)
    items = [random.choice(n_items, size, replace=False) for size in sizes]
    shuffle = random.permutation(sizes.sum())
    return np.repeat(np.arange(n_users), sizes)[shuffle], np.concatenate(items)[shuffle]


def words(user: int, items: np.ndarray, key: int) -> np.ndarray:
    return np.array([tie_word(np.uint64(key), user, int(item)) for item in items], np.uint64)


def brute_force(
    scores: np.ndarray, targets: Any, hidden: np.ndarray, random_too: bool
) -> dict[str, np.ndarray]:
    """Ranks by every policy, a user at a time, by sorting: nothing is counted."""
    users, items = targets
    out = {policy: np.zeros(users.size) for policy in POLICIES}
    by_user = np.argsort(users, kind="stable")
    starts = np.searchsorted(users[by_user], np.arange(scores.shape[0] + 1))
    for u in range(scores.shape[0]):
        here = by_user[starts[u] : starts[u + 1]]
        own, row = items[here], scores[u]
        allowed = ~hidden[u]
        allowed[own] = False
        rest = np.sort(row[allowed])
        right = np.searchsorted(rest, row[own], side="right")
        equal = right - np.searchsorted(rest, row[own], side="left")
        place = np.empty(own.size, np.int64)  # among the user's targets: score, then item
        place[np.lexsort((own, -row[own]))] = np.arange(own.size)
        best = 1 + place + rest.size - right
        out["best"][here] = best
        out["worst"][here] = best + equal
        out["mean"][here] = best + equal / 2
        if random_too:
            allowed[own] = True
            everyone = np.flatnonzero(allowed)
            word = words(u, everyone, seed_key(SEED))
            order = np.lexsort((-everyone, np.iinfo(np.uint64).max - word, -row[everyone]))
            where = np.empty(row.size, np.int64)
            where[everyone[order]] = np.arange(1, everyone.size + 1)
            out["random"][here] = where[own]
    return out


def differing(
    scorer: Any, scores: np.ndarray, targets: Any, hidden: np.ndarray, orders: list[Any],
    policies: tuple[str, ...] = POLICIES,
) -> tuple[int, int]:  # fmt: skip
    """How many ranks were compared, and how many differ."""
    expected = brute_force(scores, targets, hidden, "random" in policies)
    compared = different = 0
    exclude = csr_array(hidden) if hidden.any() else None
    for policy in policies:
        full = rank(scorer, targets, exclude=exclude, ties=policy, rng=SEED)
        different += np.count_nonzero(full.ranks != expected[policy])
        compared += full.user.size
        for at, k in enumerate(CUTS):
            order = orders[at % len(orders)]
            found = rank(
                scorer, targets, exclude=exclude, ties=policy, rng=SEED, max_rank=k, order=order
            )
            within = np.where(expected[policy] <= k, expected[policy], np.nan)
            same = (found.ranks == within) | (np.isnan(found.ranks) & np.isnan(within))
            different += np.count_nonzero(~same)
            compared += found.user.size
    return compared, different


def called(scores: np.ndarray) -> CallableScorer:
    def function(users: Any, items: Any = None) -> Any:
        return scores[users] if items is None else scores[users[:, None], items]

    return CallableScorer(function, n_users=scores.shape[0], n_items=scores.shape[1])


ADVERSARIAL: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "two values": lambda random: random.integers(0, 2, (N_USERS, N_ITEMS)).astype(np.float32),
    "few values": lambda random: random.integers(0, 9, (N_USERS, N_ITEMS)).astype(np.float64),
    "all equal": lambda _: np.zeros((N_USERS, N_ITEMS), np.float32),
    "neighbours": lambda random: np.nextafter(
        np.float32(1), np.float32(2)
    ) ** random.integers(0, 3, (N_USERS, N_ITEMS)).astype(np.float32),
    "infinite": lambda random: random.choice(
        [-np.inf, -1.0, 0.0, -0.0, np.inf], (N_USERS, N_ITEMS)
    ),
}  # fmt: skip


@pytest.mark.parametrize("several", [1, 5])
@pytest.mark.parametrize("kind", ADVERSARIAL)
def test_adversarial_scores(kind: str, several: int, capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(several)
    scores = ADVERSARIAL[kind](random)
    targets = some_targets(random, *scores.shape, several)
    hidden = random.random(scores.shape) < 0.1
    hidden[targets] = False
    orders = [None, "random", random.integers(-1, N_ITEMS, (N_USERS, 60)), scores + random.normal(
        size=scores.shape)]  # fmt: skip
    compared, different = differing(called(scores), scores, targets, hidden, orders)
    with capsys.disabled():
        sys.stdout.write(f"\n{kind}, up to {several}: {compared:,} ranks, {different:,} differ")
    assert compared >= 4 * 4 * N_USERS
    assert different == 0


@pytest.mark.parametrize("several", [1, 5])
@pytest.mark.parametrize("model", ["function", "factors", "item-item"])
def test_a_real_model(
    model: str,
    several: int,
    data_file: Callable[[str], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    split = read_split(data_file("ml-1m.parquet"), rng=0)
    random = np.random.default_rng(several)
    train = split.train.matrix().toarray() > 0
    vectors = PureSVD(n_factors=16).fit(split.train).scorer()
    scorer: Any = FactorScorer(vectors.user_factors, vectors.item_factors)
    if model == "item-item":
        scorer = EASE().fit(split.train).scorer().with_ids(None, None)
    scores = scorer.scores(np.arange(train.shape[0]))
    targets = some_targets(random, *scores.shape, several)
    if several == 1:
        targets = split.test.pairs()
    hidden = train
    hidden[targets] = False
    policies = ("mean", "best", "worst")  # "random" sorts words: the adversarial worlds have it
    orders: list[Any] = [None, vectors.with_ids(None, None), "popularity"]
    scorer = called(scores.astype(np.float32)) if model == "function" else scorer
    scores = scores.astype(np.float32) if model == "function" else scores
    compared, different = differing(scorer, scores, targets, hidden, orders, policies)
    with capsys.disabled():
        sys.stdout.write(
            f"\nml-1m, {model}, up to {several}: {compared:,} ranks, {different:,} differ"
        )
    assert compared >= 3 * 4 * 6000
    assert different == 0
