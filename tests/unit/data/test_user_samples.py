import numpy as np
import pytest

from fullrank.data import Interactions, sample_users
from fullrank.errors import InputError

LABELS = np.repeat(["a", "b", "c"], [10, 30, 60])


def test_simple_sample():
    chosen = sample_users(100, 30, rng=1)
    assert chosen.user_rows.size == np.unique(chosen.user_rows).size == 30
    assert (np.diff(chosen.user_rows) > 0).all()
    assert chosen.user_rows.min() >= 0
    assert chosen.user_rows.max() < 100
    np.testing.assert_allclose(chosen.weight, 100 / 30)
    assert str(chosen) == "30 of 100 users"
    np.testing.assert_array_equal(chosen.user_rows, sample_users(100, 30, rng=1).user_rows)
    assert (chosen.user_rows != sample_users(100, 30, rng=2).user_rows).any()


def test_all_users():
    chosen = sample_users(5, 5, rng=0)
    assert chosen.user_rows.tolist() == [0, 1, 2, 3, 4]
    assert chosen.weight.tolist() == [1.0] * 5


def test_population_is_the_users_with_targets():
    targets = (np.array([9, 3, 3, 7, 1]), np.array([0, 1, 2, 3, 4]))
    chosen = sample_users(targets, 3, rng=0)
    assert chosen.n_users == 4
    assert set(chosen.user_rows) < {1, 3, 7, 9}
    (users, items), weight = chosen.subset(targets)
    keep = np.isin(targets[0], chosen.user_rows)
    np.testing.assert_array_equal(users, targets[0][keep])
    np.testing.assert_array_equal(items, targets[1][keep])
    np.testing.assert_allclose(weight, 4 / 3)


def test_proportional_allocation():
    chosen = sample_users(100, 20, strata=LABELS, rng=0)
    assert np.bincount(chosen.stratum).tolist() == [2, 6, 12]
    np.testing.assert_array_equal(chosen.strata[chosen.stratum], LABELS[chosen.user_rows])
    np.testing.assert_allclose(chosen.weight, 5.0)
    assert chosen.stratum_sizes.tolist() == [10, 30, 60]
    assert str(chosen) == "20 of 100 users in 3 strata"
    assert str(sample_users(5, 2, strata=["a"] * 5, rng=0)) == "2 of 5 users in 1 stratum"


def test_weights_sum_to_the_population():
    for size in (3, 17, 99):
        assert sample_users(100, size, strata=LABELS, rng=0).weight.sum() == pytest.approx(100)


def test_every_stratum_gets_a_user():
    assert np.bincount(sample_users(100, 3, strata=LABELS, rng=0).stratum).tolist() == [1, 1, 1]
    # the ideal 0.4, 1.2, 2.4 becomes one, and the rest in proportion 30 : 60
    assert np.bincount(sample_users(100, 4, strata=LABELS, rng=0).stratum).tolist() == [1, 1, 2]


def test_neyman_allocation():
    spread = {"a": 3.0, "b": 1.0, "c": 0.5}  # size × spread is 30 : 30 : 30
    chosen = sample_users(100, 24, strata=LABELS, allocation="neyman", spread=spread, rng=0)
    assert np.bincount(chosen.stratum).tolist() == [8, 8, 8]
    np.testing.assert_allclose(chosen.weight, np.array([10, 30, 60])[chosen.stratum] / 8)
    # a stratum cannot give more users than it has: the rest goes to the others
    chosen = sample_users(100, 60, strata=LABELS, allocation="neyman", spread=spread, rng=0)
    assert np.bincount(chosen.stratum).tolist() == [10, 25, 25]


def test_neyman_allocation_from_pilot_values():
    pilot = np.full(100, np.nan)
    pilot[[0, 1, 2]] = [0, 3, 6]  # sd 3
    pilot[[20, 21, 22]] = [0, 1, 2]  # sd 1
    pilot[[50, 51, 52]] = [0, 0.5, 1]  # sd 0.5
    chosen = sample_users(100, 24, strata=LABELS, allocation="neyman", spread=pilot, rng=0)
    assert np.bincount(chosen.stratum).tolist() == [8, 8, 8]


def test_strata_without_spread_get_one_user_until_the_rest_is_full():
    spread = {"a": 1.0, "b": 0.0, "c": 0.0}
    settings = {"strata": LABELS, "allocation": "neyman", "spread": spread, "rng": 0}
    assert np.bincount(sample_users(100, 9, **settings).stratum).tolist() == [7, 1, 1]
    assert np.bincount(sample_users(100, 40, **settings).stratum).tolist() == [10, 10, 20]


def test_given_allocation():
    chosen = sample_users(100, 15, strata=LABELS, allocation={"a": 10, "b": 1, "c": 4}, rng=0)
    assert np.bincount(chosen.stratum).tolist() == [10, 1, 4]
    np.testing.assert_allclose(np.unique(chosen.weight), [1, 15, 30])


def test_stratified_means_are_unbiased():
    values = np.where(LABELS == "a", 10.0, np.arange(100) / 100)
    means = []
    for seed in range(400):
        chosen = sample_users(100, 12, strata=LABELS, rng=seed)
        means.append(np.average(values[chosen.user_rows], weights=chosen.weight))
    error = np.std(means) / np.sqrt(len(means))
    assert abs(np.mean(means) - values.mean()) < 4 * error
    assert error < 0.01  # the strata take out the difference between a and the rest


def test_results_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        sample_users(5, 2, rng=0).user_rows[0] = 3


@pytest.mark.parametrize(("size", "settings", "message"), [
    (0, {}, r"`size`.*\b0\b"),
    (101, {}, r"`size`.*\b101\b"),
    (5, {"strata": ["a", "b"]},
     r"`strata`.*\b100\b.*\(2,\)"),
    (2, {"strata": LABELS}, r"`size`.*\b3\b.*\b2\b"),
    (5, {"strata": LABELS, "allocation": "best"},
     r"`allocation`.*'proportional', 'neyman'.*'best'"),
    (5, {"allocation": "neyman"}, r"`strata`.*`allocation`.*`spread`"),
    (5, {"strata": LABELS, "allocation": "neyman"},
     r'`spread`.*given.*allocation=\"neyman\"'),
    (5, {"strata": LABELS, "spread": {}}, r'`spread`.*not be given unless allocation=\"neyman\"'),
    (5, {"strata": LABELS, "allocation": "neyman", "spread": {"a": 1}},
     r"`spread`.*'b'"),
    (5, {"strata": LABELS, "allocation": "neyman", "spread": np.full(100, np.nan)},
     r"`spread`.*'a'.*\b0\b"),
    (5, {"strata": LABELS, "allocation": {"a": 5}},
     r"`allocation`.*a, b, c.*\ba\b"),
    (5, {"strata": LABELS, "allocation": {"a": 1, "b": 1, "c": 1}},
     r"`allocation`.*`size`.*\b5\b.*\b3\b"),
    (15, {"strata": LABELS, "allocation": {"a": 11, "b": 1, "c": 3}},
     r"`allocation\['a'\]`.*\b11\b"),
])  # fmt: skip
def test_bad_arguments(size, settings, message):
    with pytest.raises(InputError, match=message):
        sample_users(100, size, rng=0, **settings)


def test_nan_is_not_a_label():
    with pytest.raises(InputError, match=r"`strata`.*1 of 2"):
        sample_users(2, 1, strata=[1.0, np.nan], rng=0)


def test_users_are_found_by_id_in_other_targets():
    users = [f"u{at}" for at in range(6)]
    population = Interactions.from_arrays(users, [f"i{at}" for at in range(6)])
    chosen = sample_users(population, 3, rng=0)
    other = Interactions.from_arrays([*users[::-1], "v"], ["i0"] * 7, user_ids=[*users[::-1], "v"])
    targets, weight = chosen.subset(other)
    assert sorted(targets.user_ids[targets.pairs()[0]]) == chosen.user.tolist()
    np.testing.assert_allclose(weight, 2.0)
