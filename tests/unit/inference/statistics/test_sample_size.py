import math

import pytest
from scipy import stats

from fullrank.errors import InputError
from fullrank.inference.statistics.means import mean_interval
from fullrank.inference.statistics.proportions import hoeffding_confidence
from fullrank.inference.statistics.sample_size import users_needed


def test_the_number_gives_the_margin() -> None:
    found = users_needed(0.02, proportion=0.3, confidence_level=0.9)
    z = stats.norm.ppf(0.95)
    assert z * math.sqrt(0.3 * 0.7 / found.exact) == pytest.approx(0.02)
    assert found.n_users == math.ceil(found.exact)


def test_a_spread_stands_in_for_the_share() -> None:
    by_share = users_needed(0.01, proportion=0.2)
    by_spread = users_needed(0.01, spread=0.4)
    assert by_spread.exact == pytest.approx(by_share.exact)


def test_hoeffding_is_solved_for_the_number() -> None:
    found = users_needed(0.02, uncertainty="hoeffding", confidence_level=0.99)
    assert hoeffding_confidence(0.02, found.exact) == pytest.approx(0.99)
    assert hoeffding_confidence(0.02, found.n_users) >= 0.99
    assert users_needed(0.02, uncertainty="hoeffding", compare=True).exact == pytest.approx(
        2 * users_needed(0.02, uncertainty="hoeffding").exact
    )


def test_several_models_share_the_risk() -> None:
    z = stats.norm.ppf(1 - 0.05 / 5 / 2)
    assert users_needed(0.02, n_models=5).exact == pytest.approx(0.25 * (z / 0.02) ** 2)
    # five models are ten pairs
    z = stats.norm.ppf(1 - 0.05 / 10 / 2)
    found = users_needed(0.02, n_models=5, compare=True)
    assert found.exact == pytest.approx(0.5 * (z / 0.02) ** 2)
    assert found.n_intervals == 10


def test_a_relative_margin_is_one_of_the_share() -> None:
    assert users_needed(0.1, proportion=0.05, relative=True).exact == pytest.approx(
        users_needed(0.005, proportion=0.05).exact
    )


def test_a_known_population_needs_fewer() -> None:
    found = users_needed(0.01, population=10_000)
    n = found.exact
    # the margin of a sample without replacement: z √(p(1-p)/n · (M - n)/(M - 1))
    error = math.sqrt(0.25 / n * (10_000 - n) / 9_999)
    assert stats.norm.ppf(0.975) * error == pytest.approx(0.01)
    assert users_needed(0.01, population=10_000, uncertainty="hoeffding").exact < 10_000
    # Serfling: 2 exp(-2 n t²/(1 - (n - 1)/M)) is the risk
    n = users_needed(0.02, population=5_000, uncertainty="hoeffding").exact
    assert 2 * math.exp(-2 * n * 0.02**2 / (1 - (n - 1) / 5_000)) == pytest.approx(0.05)


def test_the_interval_of_so_many_users_has_the_margin() -> None:
    found = users_needed(0.05, proportion=0.25)
    hits = round(0.25 * found.n_users)
    values = [1.0] * hits + [0.0] * (found.n_users - hits)
    low, high = mean_interval(values, uncertainty="normal").confidence_interval
    assert (high - low) / 2 == pytest.approx(0.05, rel=0.01)


def test_what_it_shows() -> None:
    found = users_needed(0.03, n_models=3)
    assert str(found) == (
        "1,592 users (1,591.98 before rounding up): ±0.03 at 95 % for 3 simultaneous intervals "
        "(normal)"
    )
    assert str(users_needed(0.98)).startswith("1 user (1.00 before rounding up)")
    content = found.to_dict()
    assert (content["format"], content["n_users"], content["n_intervals"]) == (1, 1592, 3)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"margin": 0.0}, r"`margin`.*not 0\b"),
        ({"margin": 0.1, "proportion": 1.0}, r"`proportion`.*not 1\b"),
        ({"margin": 0.1, "proportion": -1}, r"`proportion`.*-1\b"),
        (
            {"margin": 0.1, "spread": 0.3, "uncertainty": "hoeffding"},
            r'`spread`.*uncertainty="hoeffding"',
        ),
        (
            {"margin": 0.1, "proportion": 0, "relative": True, "spread": 0.3},
            r"`proportion`.*above 0.*relative=True",
        ),
        (
            {"margin": 1e-200},
            r"`margin`.*\b1e-200\b",
        ),
        (
            {"margin": 1e-200, "uncertainty": "hoeffding", "population": 10},
            r"`margin`.*\b1e-200\b",
        ),
        ({"margin": 0.1, "n_models": 0}, r"`n_models`.*\b0\b"),
        (
            {"margin": 0.1, "uncertainty": "t"},
            r"`uncertainty`.*'normal', 'hoeffding'.*'t'",
        ),
    ],
)
def test_errors_say_what_is_wrong(arguments, says: str) -> None:
    with pytest.raises(InputError, match=says):
        users_needed(**arguments)
