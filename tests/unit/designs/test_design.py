from fractions import Fraction
from itertools import pairwise, permutations
from math import comb

import numpy as np
import pytest

from fullrank.designs import Adaptive, Design, Exact, Rounds, Uniform, exact, kernel
from fullrank.errors import InputError
from fullrank.ranking import order as ranking_order

ADAPTIVE = [((4, 8, 16), 1), ((5, 9, 20, 30), 3), ((3, 6), 2), ((6, 7), 5), ((2, 3, 4, 30), 1)]


def continuation(levels: tuple[int, ...], stop_rank: int) -> list[list[Fraction]]:
    """c_j in rationals by counting orders: g_j(x) = sum over y < s of g_{j-1}(y) C(step, x-y)."""
    orders = [[comb(levels[0] - 1, x) for x in range(levels[0])]]
    for before, size in pairwise(levels):
        step = size - before
        last = orders[-1][:stop_rank]
        orders.append(
            [
                sum(g * comb(step, x - y) for y, g in enumerate(last) if 0 <= x - y <= step)
                for x in range(size)
            ]
        )
    return [
        [Fraction(g, comb(size - 1, x)) for x, g in enumerate(row)]
        for row, size in zip(orders, levels, strict=True)
    ]


@pytest.mark.parametrize(("levels", "stop_rank"), ADAPTIVE)
def test_continuation_equals_the_count_of_orders(levels: tuple[int, ...], stop_rank: int) -> None:
    design = Adaptive(levels=levels, refine_rank=stop_rank)
    for size, row in zip(levels, continuation(levels, stop_rank), strict=True):
        ours = design.rounds(30).continuation(np.arange(1, size + 1), size)
        np.testing.assert_allclose(ours, [float(c) for c in row], rtol=1e-13, atol=0)


def test_continuation_of_the_paper() -> None:
    """With stopping rank 1: C(n_j - n_{j-1}, r - 1) / C(n_j - 1, r - 1)."""
    rounds = Adaptive(replacement=True, levels=(100, 200, 400)).rounds(10**6)
    for before, size in ((100, 200), (200, 400)):
        r = np.arange(1, 60)
        truth = [float(Fraction(comb(size - before, x), comb(size - 1, x))) for x in r - 1]
        np.testing.assert_allclose(rounds.continuation(r, size), truth, rtol=1e-12)


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize(("levels", "stop_rank"), ADAPTIVE)
def test_outcomes_sum_to_one_for_every_rank(
    levels: tuple[int, ...], stop_rank: int, replacement: bool
) -> None:
    design = Adaptive(replacement=replacement, levels=levels, refine_rank=stop_rank)
    rank, size = design.possible(30)
    table = design.probabilities_at(np.arange(1, 31), rank, size, n_items=30)
    np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-12)
    assert (table.max(axis=0) > 0).all()  # every outcome listed can happen


def test_ratio_to_the_fixed_kernel_is_free_of_the_true_rank() -> None:
    design = Adaptive(replacement=False, levels=(5, 10, 20), refine_rank=2)
    rank, size = design.possible(40)
    ranks = np.arange(1, 41)
    table = design.probabilities_at(ranks, rank, size, n_items=40)
    for column, r, n in zip(table.T, rank.tolist(), size.tolist(), strict=True):
        fixed = kernel(ranks, [r], sample_size=n, n_items=40, replacement=False)[:, 0]
        ratio = column[fixed > 0] / fixed[fixed > 0]
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)


def test_outcome_probabilities_by_enumerating_every_draw() -> None:
    """All orders of six items: the design followed by hand."""
    n_items, levels, stop_rank = 7, (3, 5, 7), 1
    design = Adaptive(levels=levels, refine_rank=stop_rank)
    rank, size = design.possible(n_items)
    for true_rank in range(1, n_items + 1):
        above = set(range(true_rank - 1))
        seen: dict[tuple[int, int], int] = {}
        orders = list(permutations(range(n_items - 1)))
        for order in orders:
            for level in levels:
                r = 1 + len(above.intersection(order[: level - 1]))
                if r > stop_rank:
                    break
            seen[r, level] = seen.get((r, level), 0) + 1
        ours = design.probabilities_at([true_rank], rank, size, n_items=n_items)[0]
        for r, n, p in zip(rank.tolist(), size.tolist(), ours, strict=True):
            assert p == pytest.approx(seen.pop((r, n), 0) / len(orders), abs=1e-14)
        assert not seen  # nothing happened that was not listed


def test_a_pool_smaller_than_the_last_level_ends_at_the_pool() -> None:
    design = Adaptive(replacement=False, levels=(5, 10, 20, 40))
    assert design.rounds(100).within(100).sizes == (5, 10, 20, 40)
    assert design.rounds(13).within(13).sizes == (5, 10, 13)
    assert design.rounds(10).within(10).sizes == (5, 10)
    rank, size = design.possible(13)
    table = design.probabilities_at(np.arange(1, 14), rank, size, n_items=13)
    np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-12)


def test_words() -> None:
    assert Uniform(replacement=True).describe() == "with replacement from all items"
    words = Adaptive(levels=(25, 50), pool="unseen", refine_rank=2).describe()
    assert words == "adaptive 25 to 50 while r <= 2, without replacement from unseen items"


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"levels": (5, 5)}, r"`levels`.*\(5, 5\)"),
        ({"levels": ()}, r"`levels`.*not \(\)"),
        ({"levels": (5, 9), "refine_rank": 5}, r"`refine_rank`.*\b5, not 5\b"),
        ({"refine_rank": 0}, r"`refine_rank`.*\b0\b"),
        ({"growth": 1}, r"`growth`.*not 1\b"),
        ({"start": 1}, r"`start`.*\b1\b"),
        ({"start": 30, "limit": 20}, r"`limit`.*`start`.*\b30\b.*\b20\b"),
    ],
)
def test_bad_settings_of_adaptive_designs(settings: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Adaptive(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("design", [Adaptive, Uniform])
@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"pool": "seen"}, r"`pool`.*'all', 'unseen'.*'seen'"),
        ({"ties": "mean"}, r"`ties`.*'unknown', 'best', 'worst', 'random'.*'mean'"),
        ({"replacement": None}, r"`replacement`.*True.*False.*\bNone\b"),
        ({"excluded": "no"}, r"`excluded`.*True.*False.*'no'"),
    ],
)
def test_bad_settings(design: type[Design], settings: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        design(**settings)  # type: ignore[arg-type]


def test_bad_sizes() -> None:
    with pytest.raises(InputError, match=r"`sample_size`.*\b0\b"):
        Uniform(0)
    with pytest.raises(InputError, match=r"`max_rank`.*\b0\b"):
        Exact(0)
    with pytest.raises(InputError, match=r"`sample_size`.*given"):
        Uniform().rounds(10)


def test_orders_are_those_of_ranking() -> None:
    assert exact.ORDERS == ranking_order.NAMES
    assert "order" not in Exact(10).to_dict()
    assert Exact(10, order="norms").label == "exact:10,order=norms"


def test_the_cost_of_ranks_up_to_k_is_at_most_that_of_all() -> None:
    assert Exact(10).cost(500) == Exact().cost(500) == 500.0


def test_metrics_within_k() -> None:
    names = [metric.name for metric in Exact(5).within("recall@10, ndcg@3, auc")]
    assert names == ["recall@5", "ndcg@3", "auc@5"]
    assert [metric.name for metric in Exact().within("recall@10, auc")] == ["recall@10", "auc"]
    Exact(5).check_metrics("recall@5")
    Exact().check_metrics("auc")
    with pytest.raises(InputError, match=r"`metrics`.*at most 5.*of m.*recall@6"):
        Exact(5).check_metrics("recall@6", of="m")


def test_bad_level() -> None:
    design = Adaptive(replacement=False, levels=(5, 10))
    with pytest.raises(InputError, match=r"`sample_size`.*\b5, 10\b.*\b7\b"):
        design.rounds(100).continuation([1], 7)


@pytest.mark.parametrize(
    ("sizes", "refine", "says"),
    [
        ((5, 5), (1,), r"`sizes`.*\(5, 5\)"),
        ((), (), r"`sizes`.*not \(\)"),
        ((5, 9), (), r"`refine`.*\b1, not 0\b"),
        ((5, 9), (5,), r"`refine`.*\b5, not 5\b"),
    ],
)
def test_bad_rounds(sizes: tuple[int, ...], refine: tuple[int, ...], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Rounds(sizes, refine)
