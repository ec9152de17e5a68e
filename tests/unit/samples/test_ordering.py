import numpy as np
import pytest

from fullrank.designs import Uniform, expected_metric
from fullrank.errors import InputError
from fullrank.samples import consistency


def test_the_turning_point_is_found_exactly() -> None:
    first, second = [100] * 5, [212, 2, 743, 5342, 1548]
    result = consistency(first, second, "ndcg", n_items=10_000)
    assert result.from_size is not None
    for size, right in ((result.from_size - 1, False), (result.from_size, True)):
        means = [
            expected_metric(r, "ndcg", n_items=10_000, design=Uniform(size)).mean()
            for r in (first, second)
        ]
        assert bool(means[0] < means[1]) is right
    assert not result.consistent
    assert result.expected.shape == (2, result.sample_sizes.size)


def test_the_whole_catalogue_without_replacement_is_always_right() -> None:
    rng = np.random.default_rng(2)
    for _ in range(5):
        first, second = rng.integers(1, 301, (2, 6))
        result = consistency(first, second, "recall@10", n_items=300)
        assert result.agrees[-1]
        np.testing.assert_allclose(result.expected[:, -1], result.exact)


def test_equal_lists_stay_equal_and_equal_means_may_part() -> None:
    assert consistency(
        [3, 7], [7, 3], "ap", n_items=50, design="sampled:replacement=true"
    ).consistent
    # the same recall@10 exactly, but sampling sees how far behind the others are
    parted = consistency(
        [11, 12], [48, 49], "recall@10", n_items=50, design="sampled:replacement=true"
    )
    assert parted.exact == (0.0, 0.0)
    assert not parted.consistent


def test_text_and_plot() -> None:
    result = consistency([1, 2], [3, 4], "auc", n_items=50, design="sampled:replacement=true")
    assert str(result) == "auc: exact 0.9898 > 0.949; sampled: same order at every sample size"
    never = consistency(
        [1], [4], "recall@2", n_items=50, sample_sizes=[2], design="sampled:replacement=true"
    )
    assert str(never) == "recall@2: exact 1 > 0; sampled: a different order even at n = 2"
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert len(result.plot().get_lines()) == 2
    matplotlib.pyplot.close("all")


def test_bad_input() -> None:
    with pytest.raises(InputError, match=r"`second`.*1 of 1.*second\[0\] = 51\b"):
        consistency([1], [51], "ap", n_items=50, design="sampled:replacement=true")
    with pytest.raises(InputError, match=r"`first`.*empty"):
        consistency([], [5], "ap", n_items=50, design="sampled:replacement=true")
    with pytest.raises(InputError, match=r"`sample_sizes`.*empty"):
        consistency([1], [5], "ap", n_items=50, sample_sizes=[], design="sampled:replacement=true")
