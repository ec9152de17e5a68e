import numpy as np
import pytest

from fullrank.designs import Adaptive, Design, Uniform
from fullrank.errors import InputError
from fullrank.samples import simulate

RANKS = np.repeat([1, 2, 7, 40, 150, 300], 4_000)


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("design", [Uniform(20), Adaptive(levels=(5, 10, 40), refine_rank=2)])
def test_frequencies_follow_the_outcome_probabilities(design: Design, replacement: bool) -> None:
    """A chi-square for each true rank: the draws, level by level, against the closed form."""
    from scipy import stats

    law = design.with_(replacement=replacement)
    sample = simulate(RANKS, n_items=300, design=law, rng=11)
    rank, size = law.possible(300)
    assert sample.rows is not None
    for true_rank in np.unique(RANKS):
        here = true_rank == RANKS
        seen = [
            np.count_nonzero((sample.rows.rank[here] == r) & (sample.rows.sample_size[here] == n))
            for r, n in zip(rank, size, strict=True)
        ]
        expected = 4_000 * law.probabilities_at([true_rank], rank, size, n_items=300)[0]
        common = expected > 5
        pairs = np.array(
            [
                [*np.array(seen)[common], sum(np.array(seen)[~common])],
                [*expected[common], expected[~common].sum()],
            ]
        )
        pairs = pairs[:, pairs[1] > 1e-9]
        if pairs.shape[1] > 1:
            assert stats.chisquare(pairs[0], pairs[1] * 4_000 / pairs[1].sum()).pvalue > 1e-4
        else:
            assert pairs[0, 0] == 4_000


def test_a_sample_of_everything_is_exact() -> None:
    sample = simulate(RANKS, n_items=300, design="sampled:300")
    assert sample.exhausted
    assert np.array_equal(sample.rows.rank, RANKS)  # type: ignore[union-attr]


def test_same_seed_same_sample() -> None:
    first = simulate(RANKS, n_items=300, design="sampled:20", rng=5)
    again = simulate(RANKS, n_items=300, design="sampled:20", rng=5)
    assert np.array_equal(first.rows.rank, again.rows.rank)  # type: ignore[union-attr]


def test_bad_input() -> None:
    with pytest.raises(InputError, match=r"^`design`.*'sampled': sample_size must be given"):
        simulate([1], n_items=10, design="sampled")
    with pytest.raises(InputError, match=r"`design`.*`n_items` = 10\b.*\b11\b"):
        simulate([1], n_items=10, design="sampled:11")
    with pytest.raises(InputError, match=r"`true_ranks`.*1 of 1.*true_ranks\[0\] = 0\b"):
        simulate([0], n_items=10, design="sampled:5")
    with pytest.raises(InputError, match=r"`rng`.*'seed'"):
        simulate([1], n_items=10, design="sampled:5", rng="seed")  # type: ignore[arg-type]
