"""The kernels against the sampling itself: items drawn one by one, the better ones counted."""

import numpy as np
import pytest

from fullrank.designs import Adaptive

pytestmark = [pytest.mark.slow, pytest.mark.breadth]

N_ITEMS, REPEATS = 60, 40_000


def draw(replacement: bool, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """Items other than the target for every repeat, numbered 0 (best) to N - 2."""
    if replacement:
        return rng.integers(0, N_ITEMS - 1, (REPEATS, n_draws))
    return np.argsort(rng.random((REPEATS, N_ITEMS - 1)), axis=1)[:, :n_draws]


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize(
    ("levels", "stop_rank"), [((12,), 1), ((5, 10, 20, 40), 1), ((4, 9, 20), 3)]
)
def test_frequencies_of_outcomes(
    levels: tuple[int, ...], stop_rank: int, replacement: bool
) -> None:
    from scipy import stats

    rng = np.random.default_rng(7)
    design = Adaptive(replacement=replacement, levels=levels, refine_rank=stop_rank)
    rank, size = design.possible(N_ITEMS)
    for true_rank in (1, 2, 5, 20, 45, 60):
        above = np.cumsum(draw(replacement, levels[-1] - 1, rng) < true_rank - 1, axis=1)
        r, n = np.zeros(REPEATS, int), np.zeros(REPEATS, int)
        going = np.ones(REPEATS, bool)
        for level in levels:
            r[going], n[going] = above[going, level - 2] + 1, level
            going &= r <= stop_rank
        expected = REPEATS * design.probabilities_at([true_rank], rank, size, n_items=N_ITEMS)[0]
        seen = np.array(
            [np.count_nonzero((r == a) & (n == b)) for a, b in zip(rank, size, strict=True)]
        )
        assert seen.sum() == REPEATS  # no outcome that is not listed
        often = expected >= 10
        if often.sum() > 1:
            scale = seen[often].sum() / expected[often].sum()
            assert stats.chisquare(seen[often], expected[often] * scale).pvalue > 1e-4
        assert abs(seen[~often].sum() - expected[~often].sum()) < 60
