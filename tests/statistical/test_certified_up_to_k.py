"""A million targets of factor models: full ranks and ranks up to K against their definition."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from scipy.sparse import csr_array

from fullrank.data import read_split
from fullrank.designs.draw_kernels import tie_word
from fullrank.designs.draws import seed_key
from fullrank.models import IALS, PureSVD
from fullrank.ranking import rank
from fullrank.ranking.cpu.factors import exact_factors
from fullrank.samples.exact_ranks import POLICIES
from fullrank.scorers import FactorScorer

pytestmark = [pytest.mark.slow, pytest.mark.verify]

SEED = 99
CUTS = (None, 1, 10, 50)
USERS, ITEMS = 2000, 300
MANY = 7
DIMENSIONS = (1, 7, 64, 129)
# blocks of items in full ranks and up to K, users in a batch, threads
SHAPES = ((1024, 256, None, None), (70, 64, 33, 2), (129, 20, 1000, 1), (64, 100, None, 3))


@numba.njit
def all_words(key: np.uint64, n_users: int, n_items: int) -> np.ndarray:
    out = np.empty((n_users, n_items), np.uint64)
    for u in range(n_users):
        for i in range(n_items):
            out[u, i] = tie_word(key, u, i)
    return out


def defined(users: np.ndarray, items: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    """The sums of the definition: float64, in index order, then the bias."""
    out = np.zeros((users.shape[0], items.shape[0]))
    columns = items.T.astype(np.float64)
    for k in range(users.shape[1]):
        out += users[:, k, None].astype(np.float64) * columns[k]
    return out if bias is None else out + bias


def brute_force(
    scores: np.ndarray, items: np.ndarray, hidden: np.ndarray, words: np.ndarray | None
) -> dict[str, np.ndarray]:
    """Ranks by every policy; row u of `items` holds the targets of user u."""
    n_users, each = items.shape
    rows = np.arange(n_users)[:, None]
    marks = scores[rows, items]
    others = ~hidden
    others[rows, items] = False  # neither excluded nor a target
    out = {policy: np.empty(items.shape) for policy in POLICIES}
    for j in range(each):
        mark, own = marks[:, [j]], items[:, [j]]
        greater = ((scores > mark) & others).sum(1)
        tied = (scores == mark) & others
        equal = tied.sum(1)
        higher = (marks > mark).sum(1)
        offset = higher + ((marks == mark) & (items < own)).sum(1)
        out["best"][:, j] = 1 + offset + greater
        out["worst"][:, j] = 1 + offset + greater + equal
        out["mean"][:, j] = 1 + offset + greater + equal / 2
        if words is None:
            continue
        word = words[rows, own]
        above = tied & ((words > word) | ((words == word) & (np.arange(scores.shape[1]) > own)))
        placed = words[rows, items]
        between = (marks == mark) & ((placed > word) | ((placed == word) & (items > own)))
        out["random"][:, j] = 1 + higher + between.sum(1) + greater + above.sum(1)
    return {policy: ranks.ravel() for policy, ranks in out.items()}


class Tally:
    """What was compared, and what differed."""

    def __init__(self) -> None:
        self.targets = self.ranks = self.different = self.tied = 0

    def compare(
        self, scorer: FactorScorer, scores: np.ndarray, items: np.ndarray, hidden: np.ndarray,
        words: np.ndarray | None, settings: Iterator[dict[str, Any]],
    ) -> None:  # fmt: skip
        """All policies, full and up to K, for these targets and these excluded items."""
        targets = np.repeat(np.arange(items.shape[0]), items.shape[1]), items.ravel()
        exclude = csr_array(hidden) if hidden.any() else None
        expected = brute_force(scores, items, hidden, words)
        self.targets += items.size
        self.tied += np.count_nonzero(expected["worst"] != expected["best"])
        for policy in POLICIES:
            if policy == "random" and words is None:
                continue
            for k in CUTS:
                found = rank(
                    scorer, targets, exclude=exclude, ties=policy, rng=SEED, max_rank=k,
                    **next(settings),
                )  # fmt: skip
                wanted = expected[policy]
                if k is not None:
                    wanted = np.where(wanted <= k, wanted, np.nan)
                same = (found.ranks == wanted) | (np.isnan(found.ranks) & np.isnan(wanted))
                self.different += np.count_nonzero(~same)
                self.ranks += items.size

    def tell(self, what: str, capsys: pytest.CaptureFixture[str]) -> None:
        with capsys.disabled():
            sys.stdout.write(
                f"\n{what}: {self.targets:,} targets, {self.ranks:,} ranks, "
                f"{self.different:,} differ, {self.tied:,} of the targets tie "
            )


def some_items(random: np.random.Generator, n_users: int, n_items: int, each: int) -> np.ndarray:
    """`each` different items for every user."""
    return np.argsort(random.random((n_users, n_items), np.float32), axis=1)[:, :each]


def near_ties(random: np.random.Generator, users: np.ndarray, items: np.ndarray) -> Any:
    """Copies of few items, each of which differs from the others by an ulp of one entry."""
    items = items[random.integers(0, 12, ITEMS)]
    column, there = random.integers(0, items.shape[1], ITEMS), np.arange(ITEMS)
    step = random.choice(np.array([-np.inf, 0, np.inf], items.dtype), ITEMS)
    moved = np.nextafter(items[there, column], step)
    items[there, column] = np.where(random.random(ITEMS) < 0.5, moved, items[there, column])
    return users, items, None


def permuted(random: np.random.Generator, users: np.ndarray, items: np.ndarray) -> Any:
    """Scores that are equal but for the order in which their terms are added."""
    users[:] = users[:, :1] * random.choice([1, 1, 2], users.shape)
    return users, random.permuted(items[random.integers(0, 3, ITEMS)], axis=1), None


def rounded(random: np.random.Generator, users: np.ndarray, items: np.ndarray) -> Any:
    return np.rint(users), np.rint(2 * items), None


def with_zeros(random: np.random.Generator, users: np.ndarray, items: np.ndarray) -> Any:
    """Zero vectors of users and items, and now and then a bias of nothing."""
    users[random.random(USERS) < 0.2] = 0
    items[random.random(ITEMS) < 0.3] = 0
    return users, items, random.choice([0.0, -0.0, 0.5], ITEMS)


def scaled(random: np.random.Generator, users: np.ndarray, items: np.ndarray) -> Any:
    """Lengths over the whole range of the numbers, down to those whose squares vanish."""
    most = 12 if users.dtype == np.float32 else 100
    users = users * 10.0 ** random.integers(-3 * most, most, (USERS, 1))
    items = items[random.integers(0, 100, ITEMS)]
    items = items * 10.0 ** random.choice([-3 * most, -most, 0, most], (ITEMS, 1))
    return users, items, None


def heavy_tailed(random: np.random.Generator, users: np.ndarray, items: np.ndarray) -> Any:
    items *= random.lognormal(sigma=3, size=(ITEMS, 1))
    users += items[random.integers(0, ITEMS, USERS)]
    return users, items, None


def biased(random: np.random.Generator, users: np.ndarray, items: np.ndarray) -> Any:
    """Biases that outweigh the products, that vanish beside them, and that cancel them."""
    bias = random.normal(size=ITEMS) * random.choice([1e-9, 1, 1e9], ITEMS)
    bias[: ITEMS // 2] = -np.rint(items[: ITEMS // 2].sum(1))
    users[: USERS // 2] = 1
    return users, items[random.integers(0, ITEMS // 2, ITEMS)], bias


def one_way(random: np.random.Generator, users: np.ndarray, items: np.ndarray) -> Any:
    """Vectors that nearly point one way, so that all scores differ by their rounding alone."""
    noise = 1 + 1e-7 * random.normal(size=items.shape)
    return np.abs(users), (items[:1] * noise).astype(items.dtype), None


ADVERSARIAL: dict[str, Callable[..., Any]] = {
    "near ties": near_ties,
    "permuted": permuted,
    "rounded": rounded,
    "zeros": with_zeros,
    "scaled": scaled,
    "heavy-tailed": heavy_tailed,
    "biased": biased,
    "one way": one_way,
}
TIES = ("near ties", "permuted", "rounded", "zeros", "scaled", "biased")


@pytest.fixture(scope="module")
def words() -> np.ndarray:
    return all_words(np.uint64(seed_key(SEED)), USERS, ITEMS)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ADVERSARIAL)
def test_adversarial_factors(
    kind: str,
    dtype: type,
    words: np.ndarray,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    random = np.random.default_rng([*kind.encode(), np.dtype(dtype).itemsize])
    tally = Tally()
    filters, shapes = cycle(["integers", "singles", None]), cycle(SHAPES)

    def settings() -> Iterator[dict[str, Any]]:
        while True:
            monkeypatch.setattr(exact_factors, "FILTER", next(filters))
            full, up_to, batch_size, n_jobs = next(shapes)
            monkeypatch.setattr(exact_factors, "ITEMS", full)
            monkeypatch.setattr(exact_factors, "ITEMS_UP_TO", up_to)
            yield {"batch_size": batch_size, "n_jobs": n_jobs}

    for d in DIMENSIONS:
        users = random.normal(size=(USERS, d)).astype(dtype)
        items = random.normal(size=(ITEMS, d)).astype(dtype)
        users, items, bias = ADVERSARIAL[kind](random, users, items)
        scorer = FactorScorer(users.astype(dtype), items.astype(dtype), item_bias=bias)
        scores = defined(scorer.user_factors, scorer.item_factors, bias)
        chosen = some_items(random, USERS, ITEMS, MANY + 1)
        hidden = random.random(scores.shape) < 0.2
        hidden[np.arange(USERS)[:, None], chosen] = False
        for own, left_out in ((chosen[:, :1], hidden), (chosen[:, 1:], np.zeros_like(hidden))):
            tally.compare(scorer, scores, own, left_out, words, settings())
        for own, left_out in ((chosen[:, :1], np.zeros_like(hidden)), (chosen[:, 1:], hidden)):
            few = slice(0, USERS, 7)
            part = FactorScorer(users[few].astype(dtype), scorer.item_factors, item_bias=bias)
            tally.compare(part, scores[few], own[few], left_out[few], words[: own[few].shape[0]],
                          settings())  # fmt: skip
    tally.tell(f"{kind}, {np.dtype(dtype)}", capsys)
    assert tally.targets >= 4 * 8 * USERS
    assert tally.different == 0
    assert tally.tied > USERS or kind not in TIES  # the world is as hard as it is meant to be


@pytest.mark.parametrize("d", [4096, 16384])
def test_products_of_aligned_vectors_do_not_overflow(
    d: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All products have one sign, so that the integers add up to as much as they can."""
    random = np.random.default_rng(d)
    users = np.abs(1 + 0.01 * random.normal(size=(60, d))).astype(np.float32)
    items = (1 + 1e-4 * random.normal(size=(150, d))).astype(np.float32)
    items[::2] *= -1
    bias = random.choice([0.0, 1.0, -1e4, 1e4], 150)
    tally = Tally()
    for own_bias in (None, bias):
        scores = defined(users, items, own_bias)
        for filter_ in ("integers", "singles"):
            monkeypatch.setattr(exact_factors, "FILTER", filter_)
            tally.compare(
                FactorScorer(users, items, item_bias=own_bias), scores,
                some_items(random, 60, 150, MANY), np.zeros(scores.shape, bool), None,
                cycle([{}]),
            )  # fmt: skip
    tally.tell(f"{d:,} factors", capsys)
    assert tally.different == 0


@pytest.mark.parametrize("model", ["PureSVD", "iALS", "iALS in float64"])
def test_real_factors(
    model: str, data_file: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    split = read_split(data_file("ml-1m.parquet"), rng=0)
    random = np.random.default_rng(len(model))
    fitted: Any = PureSVD(n_factors=64) if model == "PureSVD" else IALS(n_factors=64, epochs=3)
    vectors = fitted.fit(split.train).scorer()
    kind = np.float64 if "float64" in model else np.float32
    users, items = (one.astype(kind) for one in (vectors.user_factors, vectors.item_factors))
    bias = None
    if kind == np.float64:
        users = users * (1 + 1e-12 * random.normal(size=users.shape))
        bias = np.log1p(split.train.matrix().toarray().sum(0)) / 20
    scorer = FactorScorer(users, items, item_bias=bias)
    train = split.train.matrix().toarray() > 0
    chosen = some_items(random, *train.shape, MANY)
    scores = defined(scorer.user_factors, scorer.item_factors, bias)
    tally = Tally()
    for own in (chosen[:, :1], chosen):
        unseen = train.copy()
        unseen[np.arange(train.shape[0])[:, None], own] = False
        for hidden in (unseen, np.zeros_like(train)):
            # "random" sorts words: the adversarial factors have it
            tally.compare(scorer, scores, own, hidden, None, cycle([{}, {"n_jobs": 1}]))
    tally.tell(f"ml-1m, {model}", capsys)
    assert tally.targets == 2 * (MANY + 1) * train.shape[0]
    assert tally.different == 0
