"""The worked example of Rendle 2019 (sections 3.2 and 4.3), from the kernel alone."""

import itertools

import numpy as np
import pytest

from fullrank import metrics
from fullrank.designs import Uniform, collapse, expected_metric, kernel, sampled_metric_std
from fullrank.samples import consistency

N_ITEMS = 10_000
RANKS = {
    "A": [100, 100, 100, 100, 100],
    "B": [40, 40, 8437, 9266, 4482],
    "C": [212, 2, 743, 5342, 1548],
}
NAMES = ["auc", "ap", "ndcg", "recall@10"]
EXACT = {
    "A": [0.990, 0.010, 0.150, 0.000],
    "B": [0.555, 0.010, 0.122, 0.000],
    "C": [0.843, 0.101, 0.208, 0.200],
}
# means and spreads over 1,000 simulated repeats, 99 sampled items
SAMPLED = {
    "A": [(0.990, 0.004), (0.630, 0.129), (0.724, 0.097), (1.000, 0.000)],
    "B": [(0.555, 0.014), (0.336, 0.073), (0.444, 0.054), (0.400, 0.000)],
    "C": [(0.843, 0.014), (0.325, 0.050), (0.460, 0.039), (0.567, 0.092)],
}


@pytest.mark.parametrize("model", RANKS)
def test_exact_table_to_the_printed_digits(model: str) -> None:
    values = metrics.evaluate(RANKS[model], NAMES, n_items=N_ITEMS)
    assert [round(value, 3) for value in values.values()] == EXACT[model]


@pytest.mark.parametrize("model", RANKS)
def test_sampled_table_within_its_simulation_error(model: str) -> None:
    for name, (mean, spread) in zip(NAMES, SAMPLED[model], strict=True):
        expected = expected_metric(
            RANKS[model], name, n_items=N_ITEMS, design="sampled:100,replacement=true"
        ).mean()
        std = sampled_metric_std(
            RANKS[model], name, n_items=N_ITEMS, design="sampled:100,replacement=true"
        )
        # the printed mean is rounded, too
        assert abs(expected - mean) <= 3 * std / np.sqrt(1000) + 0.0005, name
        assert abs(std - spread) <= 0.1 * spread + 0.0005, name


def test_only_auc_keeps_the_order() -> None:
    for (_, first), (_, second) in itertools.combinations(RANKS.items(), 2):
        assert consistency(
            first, second, "auc", n_items=N_ITEMS, design="sampled:replacement=true"
        ).consistent
    # section 4.3: C is best exactly, and last among 100 candidates
    ap = consistency(
        RANKS["A"],
        RANKS["C"],
        "ap",
        n_items=N_ITEMS,
        sample_sizes=[100, 10_000],
        design="sampled:replacement=true",
    )
    assert ap.agrees.tolist() == [False, True]
    # "it takes about m = 5,000 samples" for recall@10: A is below C from then on
    recall = consistency(
        RANKS["A"], RANKS["C"], "recall@10", n_items=N_ITEMS, design="sampled:replacement=true"
    )
    assert recall.from_size is not None
    assert 1_000 < recall.from_size < 5_000


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("name", ["ap", "rr", "auc"])
def test_closed_forms_equal_the_sum(name: str, replacement: bool) -> None:
    for n_items, sample_size in [(50, 2), (50, 50), (400, 30), (10_000, 100)]:
        ranks = np.unique(np.geomspace(1, n_items, 40).astype(int))
        table = kernel(ranks, sample_size=sample_size, n_items=n_items, replacement=replacement)
        weights = metrics.parse(name).weights(np.arange(1, sample_size + 1), sample_size)
        closed = expected_metric(
            ranks, name, n_items=n_items, design=Uniform(sample_size, replacement=replacement)
        )
        np.testing.assert_allclose(closed, table @ weights, rtol=1e-12, atol=1e-14)


def test_closed_form_of_ap_keeps_its_digits_in_a_huge_catalogue() -> None:
    mpmath = pytest.importorskip("mpmath")
    mpmath.mp.dps = 60
    n_items, n = 10**8, 100
    for rank in (1, 2, 17, 10**4, 10**7, 10**8):
        p = mpmath.mpf(rank - 1) / (n_items - 1)
        with_replacement = (1 - (1 - p) ** n) / (n * p) if rank > 1 else mpmath.mpf(1)
        missed = mpmath.binomial(n_items - rank, n) / mpmath.binomial(n_items, n)
        without = mpmath.mpf(n_items) / (n * rank) * (1 - missed)
        for replacement, truth in ((True, with_replacement), (False, without)):
            value = expected_metric(
                [rank], "ap", n_items=n_items, design=Uniform(n, replacement=replacement)
            )[0]
            assert abs(value / float(truth) - 1) < 1e-12


@pytest.mark.parametrize("name", ["ap", "ndcg", "recall@1", "auc", "precision@1"])
@pytest.mark.parametrize("replacement", [True, False])
def test_one_sampled_item_makes_every_metric_a_line(name: str, replacement: bool) -> None:
    ranks = np.arange(1, 301)
    slope, intercept = collapse(name, 300)
    expected = expected_metric(ranks, name, n_items=300, design=Uniform(2, replacement=replacement))
    np.testing.assert_allclose(expected, slope * ranks + intercept, atol=1e-13)
    assert slope < 0


def test_a_metric_that_cannot_tell_rank_one_from_two_collapses_to_a_constant() -> None:
    assert collapse("recall@2", 300) == (0.0, 1.0)
