import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from fullrank.data import sample_users
from fullrank.errors import InputError
from fullrank.inference.statistics.means import mean_interval
from fullrank.inference.statistics.proportions import hoeffding, wilson

X = np.array([0.0, 0.5, 1.0, 0.0, 0.25, 0.0, 0.75, 0.1])
HITS = np.repeat([1.0, 0.0], [30, 70])


def test_t_is_that_of_scipy() -> None:
    found = mean_interval(X)
    expected = stats.ttest_1samp(X, 0.0)
    assert found.value == X.mean()
    assert found.standard_error == pytest.approx(stats.sem(X))
    assert found.confidence_interval == pytest.approx(expected.confidence_interval(0.95))


def test_normal_takes_the_normal_quantile() -> None:
    low, high = mean_interval(X, uncertainty="normal").confidence_interval
    assert (high - low) / 2 == pytest.approx(stats.norm.ppf(0.975) * stats.sem(X))


def test_hits_and_bounded_values_have_their_plain_forms() -> None:
    assert mean_interval(HITS, uncertainty="wilson").confidence_interval == pytest.approx(
        wilson(30, 100)
    )
    assert mean_interval(X, uncertainty="hoeffding").confidence_interval == hoeffding(
        X.mean(), X.size
    )


@pytest.mark.parametrize("method", ["t", "normal", "wilson", "hoeffding"])
def test_asking_every_user_leaves_no_doubt(method: str) -> None:
    found = mean_interval(HITS, uncertainty=method, population=100)
    assert found.confidence_interval == (found.value, found.value)
    assert found.value == pytest.approx(0.3, rel=1e-14)
    assert found.standard_error == 0.0


def test_the_standard_error_without_replacement_is_right_on_average() -> None:
    # all samples of 3 out of 7: the mean of the estimated variances is the variance of the means
    population = np.array([0.0, 0.1, 0.9, 0.4, 0.4, 1.0, 0.2])
    found = [
        mean_interval(population[list(chosen)], population=7)
        for chosen in combinations(range(7), 3)
    ]
    estimates = np.array([one.value for one in found])
    assert estimates.mean() == pytest.approx(population.mean())
    variances = np.array([one.standard_error**2 for one in found])
    assert variances.mean() == pytest.approx(estimates.var())


def test_the_stratified_standard_error_is_right_on_average() -> None:
    strata = {"a": np.array([0.0, 0.1, 0.9, 0.4]), "b": np.array([0.5, 0.6, 1.0])}
    values, found = [], []
    for one, two in product(combinations(range(4), 2), combinations(range(3), 2)):
        x = np.concatenate([strata["a"][list(one)], strata["b"][list(two)]])
        got = mean_interval(x, strata=["a", "a", "b", "b"], population={"a": 4, "b": 3})
        values.append(got.value)
        found.append(got.standard_error**2)
    everybody = np.concatenate(list(strata.values()))
    assert np.mean(values) == pytest.approx(everybody.mean())
    assert np.mean(found) == pytest.approx(np.var(values))
    assert got.n_strata == 2
    assert got.population == 7


def test_a_user_sample_brings_weights_strata_and_population() -> None:
    random = np.random.default_rng(0)
    metric = random.random(300) ** 3
    labels = np.repeat(["new", "old"], [100, 200])
    chosen = sample_users(300, 40, strata=labels, allocation={"new": 30, "old": 10}, rng=0)
    x = metric[chosen.user_rows]
    found = mean_interval(x, users=chosen)
    by_hand = mean_interval(x, strata=labels[chosen.user_rows], population={"new": 100, "old": 200})
    assert found.to_dict() == by_hand.to_dict()
    new, old = x[chosen.stratum == 0], x[chosen.stratum == 1]
    assert found.value == pytest.approx((100 * new.mean() + 200 * old.mean()) / 300)
    a, b = (1 / 3) ** 2 * new.var(ddof=1) / 30, (2 / 3) ** 2 * old.var(ddof=1) / 10
    assert found.standard_error == pytest.approx(math.sqrt(a * 0.7 + b * 0.95))


def test_users_like_these_are_less_certain_than_these() -> None:
    random = np.random.default_rng(0)
    metric = np.concatenate([random.random(100) / 10, random.random(200)])
    labels = np.repeat(["new", "old"], [100, 200])
    chosen = sample_users(300, 60, strata=labels, rng=0)
    x = metric[chosen.user_rows]
    these, like = (mean_interval(x, users=chosen, interval_for=t) for t in ("users", "population"))
    assert like.population is None
    new, old = x[chosen.stratum == 0], x[chosen.stratum == 1]
    between = (new.mean() - like.value) ** 2 / 3 + 2 * (old.mean() - like.value) ** 2 / 3
    within = new.var(ddof=1) / 20 / 9 + 4 * old.var(ddof=1) / 40 / 9
    assert like.standard_error**2 == pytest.approx(within + between / 300)
    assert like.standard_error > these.standard_error


def test_a_simple_user_sample_counts_its_population() -> None:
    chosen = sample_users(200, 100, rng=0)
    x = np.linspace(0, 1, 100)
    found = mean_interval(x, users=chosen)
    assert found.standard_error == pytest.approx(stats.sem(x) * math.sqrt(0.5))
    assert mean_interval(
        x, users=chosen, interval_for="population"
    ).standard_error == pytest.approx(stats.sem(x))


def test_weights_make_a_ratio() -> None:
    w = np.array([1.0, 2, 1, 1, 3, 1, 1, 2])
    found = mean_interval(X, weight=w)
    mean = (w * X).sum() / 12
    assert found.value == pytest.approx(mean)
    assert found.standard_error == pytest.approx(
        math.sqrt(8 / 7 * ((w * (X - mean)) ** 2).sum()) / 12
    )
    assert mean_interval(X, weight=[7.0] * 8).confidence_interval == pytest.approx(
        mean_interval(X).confidence_interval
    )
    # eight users of unequal weight are worth 144/22 of equal weight
    assert mean_interval(X, weight=w, uncertainty="hoeffding").confidence_interval == pytest.approx(
        hoeffding(mean, 144 / 22)
    )


def test_weights_size_the_strata() -> None:
    strata = ["a"] * 4 + ["b"] * 4
    found = mean_interval(X, strata=strata, weight=[1.0] * 4 + [3.0] * 4)
    assert found.value == pytest.approx(X[:4].mean() / 4 + 3 * X[4:].mean() / 4)
    a, b = X[:4].var(ddof=1) / 4 / 16, 9 * X[4:].var(ddof=1) / 4 / 16
    assert found.standard_error == pytest.approx(math.sqrt(a + b))
    df = (a + b) ** 2 / (a**2 / 3 + b**2 / 3)
    half = stats.t.ppf(0.975, df) * math.sqrt(a + b)
    assert found.confidence_interval == pytest.approx((found.value - half, found.value + half))


def test_wilson_takes_the_number_of_users_that_would_do_as_well() -> None:
    # from 200 users, half of them asked: as good as twice as many from an unlimited number
    assert mean_interval(HITS, uncertainty="wilson", population=200).confidence_interval == (
        pytest.approx(wilson(60, 200))
    )
    assert mean_interval([0.0] * 20, uncertainty="wilson").confidence_interval == pytest.approx(
        wilson(0, 20)
    )


def test_few_hits_are_pointed_out() -> None:
    few = mean_interval(np.repeat([1.0, 0.0], [29, 900]))
    assert few.few_hits
    assert str(few).endswith("above 0 is only 29, so the interval may be too narrow")
    enough = mean_interval(HITS)
    assert (enough.n_hits, enough.few_hits) == (30, False)
    assert str(enough) == "0.3000 (SE 0.0461) [0.2086, 0.3914] at 95 % (t, 100 users)"


SAMPLE = sample_users(10, 4, rng=0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"values": [0.5]}, r"`values`.*\b1\b"),
        (
            {"values": [0.0, 0.5], "uncertainty": "wilson"},
            r"`values`.*uncertainty='wilson'.*1 of 2.*values\[1\] = 0\.5",
        ),
        (
            {"values": [0.0, 1.5], "uncertainty": "hoeffding"},
            r"`values`.*uncertainty='hoeffding'.*1 of 2.*values\[1\] = 1\.5\b",
        ),
        ({"values": X, "population": 5}, r"`population`.*\b5\b"),
        (
            {"values": X, "population": {"a": 9}},
            r"`population`.*`strata`",
        ),
        (
            {"values": X[:4], "users": SAMPLE, "weight": [1.0] * 4},
            r"`users`.*`weight`.*`strata`.*`population`",
        ),
        (
            {"values": X, "users": SAMPLE},
            r"`values`.*\b4\b.*\b8\b",
        ),
        (
            {"values": X, "strata": ["a"] * 8},
            r"`population`.*stratum.*`weight`",
        ),
        (
            {"values": X, "strata": ["a"] * 8, "population": {"b": 10}},
            r"`population`.*\ba\b.*\bb\b",
        ),
        (
            {"values": X, "strata": ["a"] * 8, "population": {"a": 9}, "weight": [1.0] * 8},
            r"`weight`.*`population`",
        ),
        (
            {"values": X, "strata": ["a"] * 7 + ["b"], "population": {"a": 9, "b": 2}},
            r"`strata`.*'b'",
        ),
        (
            {"values": X, "strata": ["a"] * 8, "weight": [1.0] * 7 + [2.0]},
            r"`weight`.*1 of 8.*weight\[7\] = 2\.0\b",
        ),
        ({"values": X, "weight": [0.0] * 8}, r"`weight`.*sum.*\b0\b"),
        (
            {"values": X, "uncertainty": "bayes"},
            r"`uncertainty`.*'t', 'normal', 'wilson', 'hoeffding'.*'bayes'",
        ),
        (
            {"values": X[:4], "users": SAMPLE, "interval_for": "all"},
            r"`interval_for`.*'users', 'population'.*'all'",
        ),
    ],
)
def test_errors_say_what_is_wrong(arguments, says: str) -> None:
    with pytest.raises(InputError, match=says):
        mean_interval(**arguments)
