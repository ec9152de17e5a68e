import numpy as np
import pytest
from scipy import stats

from fullrank.errors import InputError
from fullrank.inference.statistics import resampled_means
from fullrank.inference.statistics.hypothesis_tests import TESTS, paired_test

RANDOM = np.random.default_rng(7)
A, B = RANDOM.random(60), RANDOM.random(60)
D = A - B
# as metrics at a cut-off are: most users are 0 for both models
SPARSE = np.where(RANDOM.random((400, 3)) < 0.15, RANDOM.normal(0.1, 1.0, (400, 3)), 0.0)


def test_t_is_that_of_scipy() -> None:
    found = paired_test(D, confidence_level=0.9)
    expected = stats.ttest_rel(A, B)
    low, high = expected.confidence_interval(0.9)
    assert found.p_value == pytest.approx([expected.pvalue])
    assert (found.low[0], found.high[0]) == pytest.approx((low, high))
    assert found.estimate == pytest.approx([D.mean()])
    assert found.effect_size == pytest.approx([D.mean() / D.std(ddof=1)])


def test_z_takes_the_normal_distribution() -> None:
    found = paired_test(D, test="z")
    z = D.mean() / stats.sem(D)
    assert found.p_value == pytest.approx([2 * stats.norm.sf(abs(z))])
    assert found.high - found.low == pytest.approx([2 * 1.959963985 * stats.sem(D)])


def test_sign_is_the_exact_binomial_test() -> None:
    found = paired_test(SPARSE, test="sign")
    for column, p in zip(SPARSE.T, found.p_value, strict=True):
        above, below = int((column > 0).sum()), int((column < 0).sum())
        assert p == pytest.approx(stats.binomtest(above, above + below).pvalue)


def test_wilcoxon_is_that_of_scipy() -> None:
    found = paired_test(SPARSE, test="wilcoxon")
    expected = [stats.wilcoxon(column).pvalue for column in SPARSE.T]
    assert found.p_value == pytest.approx(expected)


def test_bootstrap_is_that_of_scipy_but_for_chance() -> None:
    found = paired_test(D, test="bootstrap", n_resamples=20_000, rng=0)
    expected = stats.bootstrap(
        (D,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    # a simulated quantile of 20,000 errs by about 0.02 standard errors, two by 0.03
    assert (found.low[0], found.high[0]) == pytest.approx(expected, abs=0.12 * stats.sem(D))


def test_the_bootstrap_p_is_the_level_at_which_its_interval_reaches_0() -> None:
    p = float(paired_test(D, test="bootstrap", n_resamples=4000, rng=0).p_value[0])
    assert 0.01 < p < 0.9
    for level, outside in ((1 - 1.05 * p, True), (1 - 0.95 * p, False)):
        one = paired_test(D, test="bootstrap", n_resamples=4000, rng=0, confidence_level=level)
        assert (one.low[0] > 0 or one.high[0] < 0) == outside


def test_randomization_is_that_of_all_flips() -> None:
    small = np.array([0.3, 0.1, 0.0, 0.4, -0.1, 0.2, 0.25, -0.2, 0.15])
    exact = stats.permutation_test(
        (small, np.zeros(9)),
        lambda a, b, axis: (a - b).mean(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    ).pvalue
    found = paired_test(small, test="randomization", n_resamples=50_000, rng=0).p_value[0]
    assert found == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 50_000))


def test_weights_count_users_more_than_once() -> None:
    times = np.tile([1, 2, 3], 20)
    repeated = paired_test(np.repeat(D, times))
    weighted = paired_test(D, weight=times)
    assert weighted.estimate == pytest.approx(repeated.estimate)
    # but a user who stands for three is one user
    assert weighted.standard_error > repeated.standard_error
    w = times / times.sum()
    by_hand = np.sqrt(60 / 59 * ((w * (D - w @ D)) ** 2).sum())
    assert weighted.standard_error == pytest.approx([by_hand])


@pytest.mark.parametrize("weight", [None, np.tile([1.0, 2.0], 200)])
@pytest.mark.parametrize("of", ["bootstrap_means", "flipped_means"])
def test_resampled_means_have_the_right_moments(of: str, weight) -> None:
    w = np.ones(400) if weight is None else weight
    means = getattr(resampled_means, of)(SPARSE, w, 20_000, np.random.default_rng(0))
    share = w / w.sum()
    if of == "flipped_means":
        centre, covariance = np.zeros(3), (SPARSE * share[:, None]).T @ (SPARSE * share[:, None])
    else:
        centre = share @ SPARSE
        parts = share[:, None] * (SPARSE - centre)
        covariance = parts.T @ parts
    error = np.sqrt(np.diagonal(covariance))
    assert np.abs(means.mean(axis=0) - centre).max() < 4 * error.max() / np.sqrt(20_000)
    found = np.cov(means.T) / np.outer(error, error)
    # second moments of 20,000 err by 1 %, ratios of weights by some more
    assert found == pytest.approx(covariance / np.outer(error, error), abs=0.05)


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_a_seed_fixes_the_numbers_and_small_blocks_change_none(test: str, monkeypatch) -> None:
    whole = paired_test(SPARSE, test=test, n_resamples=300, rng=5)
    again = paired_test(SPARSE, test=test, n_resamples=300, rng=5)
    other = paired_test(SPARSE, test=test, n_resamples=300, rng=6)
    assert (whole.p_value == again.p_value).all()
    assert (whole.p_value != other.p_value).any()
    monkeypatch.setattr(resampled_means, "_CELLS", 1000)  # a few replicates at a time
    blocks = paired_test(SPARSE, test=test, n_resamples=300, rng=5)
    error = np.sqrt(whole.p_value * (1 - whole.p_value) / 300)
    assert (np.abs(blocks.p_value - whole.p_value) <= 6 * error + 2 / 301).all()


@pytest.mark.parametrize("test", TESTS)
def test_models_that_are_the_same_do_not_differ(test: str) -> None:
    found = paired_test(np.zeros((20, 2)), test=test, n_resamples=50, rng=0)
    assert (found.p_value == 1.0).all()
    assert (found.low == 0.0).all()
    assert (found.high == 0.0).all()
    assert (found.effect_size == 0.0).all()


def test_differences_without_spread_are_certain() -> None:
    assert paired_test([0.125] * 5).p_value[0] == 0.0


def test_columns_are_tested_one_by_one() -> None:
    together = paired_test(SPARSE)
    for j, column in enumerate(SPARSE.T):
        assert paired_test(column).p_value[0] == pytest.approx(together.p_value[j])


def test_results_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        paired_test(D).p_value[0] = 1.0


@pytest.mark.parametrize("test", TESTS)
def test_users_without_weight_count_for_nothing(test: str) -> None:
    more, weight = np.concatenate([D, [5.0, -3.0]]), np.concatenate([np.ones(len(D)), [0.0, 0.0]])
    found = paired_test(more, weight=weight, test=test, n_resamples=100, rng=0)
    alone = paired_test(D, test=test, n_resamples=100, rng=0)
    for name, value in vars(alone).items():
        assert getattr(found, name) == value


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            {"differences": D, "test": "u"},
            r"`test`.*'t', 'z', 'bootstrap', 'randomization', 'sign', 'wilcoxon'.*'u'",
        ),
        ({"differences": ["a", "b"]}, r"`differences`.*<U1\b"),
        ({"differences": [[1], [1, 2]]}, r"`differences`.*length"),
        (
            {"differences": [0.1, 0.2], "weight": [0, 1]},
            r"`weight`.*\b0\b.*two users",
        ),
        (
            {"differences": [0.1]},
            r"`differences`.*\(1,\)",
        ),
        (
            {"differences": [0.1, np.nan]},
            r"`differences`.*1 of 2.*differences\[1\] = nan\b",
        ),
        (
            {"differences": D[:2], "weight": [1.0, 2.0], "test": "sign"},
            r'`weight`.*test="sign"',
        ),
        (
            {"differences": D[:2], "weight": [1.0, -2.0]},
            r"`weight`.*1 of 2.*weight\[1\] = -2\.0\b",
        ),
        (
            {"differences": D[:2], "weight": [0.0, 0.0]},
            r"`weight`.*sum.*\b0\b",
        ),
        ({"differences": D, "n_resamples": 0}, r"`n_resamples`.*\b0\b"),
    ],
)
def test_errors_say_what_is_wrong(arguments, says: str) -> None:
    with pytest.raises(InputError, match=says):
        paired_test(**arguments)
