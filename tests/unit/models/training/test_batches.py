"""Batches of pairs and of histories, and the items drawn for them."""

from typing import Any

import numpy as np
import pytest

from fullrank.data import Interactions, simulate
from fullrank.errors import InputError
from fullrank.models.training.batches import Histories, Pairs
from fullrank.models.training.negative_draws import Draws, alias_table

DATA = simulate(n_users=50, n_items=30, mean_interactions=10)


pytestmark = pytest.mark.usefixtures("torch")


@pytest.fixture
def cpu(torch: Any) -> Any:
    return torch.device("cpu")


@pytest.fixture
def generator(torch: Any) -> Any:
    return torch.Generator().manual_seed(0)


def test_an_epoch_has_every_pair_once(cpu: Any, generator: Any) -> None:
    source = Pairs(DATA, batch_size=64, device=cpu)
    orders = []
    for step in (0, source.n_batches):
        batches = list(source.epoch(generator, step))
        assert len(batches) == source.n_batches
        assert [batch.step for batch in batches] == list(range(step, step + len(batches)))
        assert all(batch.negatives is None and batch.positives is None for batch in batches)
        orders.append(
            [
                (u, i)
                for b in batches
                for u, i in zip(b.users.tolist(), b.items.tolist(), strict=True)
            ]
        )
    users, items = DATA.pairs()
    assert sorted(orders[0]) == list(zip(users.tolist(), items.tolist(), strict=True))
    assert sorted(orders[1]) == sorted(orders[0])
    assert orders[1] != orders[0]


def test_negatives_are_drawn_for_each_pair_or_for_the_batch(cpu: Any, generator: Any) -> None:
    how = {"batch_size": 64, "device": cpu, "draws": Draws(DATA, device=cpu), "n_negatives": 7}
    own = next(Pairs(DATA, **how).epoch(generator, 0)).negatives
    assert own.shape == (64, 7)
    shared = next(Pairs(DATA, shared=True, **how).epoch(generator, 0)).negatives
    assert shared.shape == (7,)
    assert 0 <= int(own.min()) < int(own.max()) < DATA.n_items


def test_further_positives_are_the_users_own_and_uniform(cpu: Any, generator: Any) -> None:
    source = Pairs(DATA, batch_size=1000, device=cpu, n_positives=2000)
    (batch,) = source.epoch(generator, 0)
    seen = DATA.matrix().toarray() > 0
    drawn, users = batch.positives.numpy(), batch.users.numpy()
    assert seen[users[:, None], drawn].all()
    user = users[0]
    counts = np.bincount(drawn[users == user].ravel(), minlength=DATA.n_items)[seen[user]]
    expected = counts.sum() / counts.size
    # counts of a uniform draw, 1e-6 beyond in a normal distribution
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)


def test_uniform_draws_are_uniform(cpu: Any, generator: Any) -> None:
    draws = Draws(DATA, device=cpu)
    counts = np.bincount(draws((300_000,), generator).numpy(), minlength=DATA.n_items)
    assert np.abs(counts - 10_000).max() < 5 * np.sqrt(10_000)
    np.testing.assert_allclose(draws.log_probability, -np.log(DATA.n_items), rtol=1e-6)


@pytest.mark.parametrize("power", [1.0, 0.5, 0.0])
def test_popular_items_are_drawn_by_a_power_of_their_popularity(
    cpu: Any, generator: Any, power: float
) -> None:
    draws = Draws(DATA, device=cpu, kind="popularity", power=power)
    weights = DATA.item_counts() ** power
    expected = 300_000 * weights / weights.sum()
    counts = np.bincount(draws((300, 1000), generator).numpy().ravel(), minlength=DATA.n_items)
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected) + 1).all()
    np.testing.assert_allclose(np.exp(draws.log_probability.numpy()), expected / 300_000, rtol=1e-5)


def test_a_high_power_draws_the_most_popular(cpu: Any, generator: Any) -> None:
    """10^1000 is no double, but 1^1000 is."""
    draws = Draws(DATA, device=cpu, kind="popularity", power=1000.0)
    counts = DATA.item_counts()
    drawn = draws((1000,), generator).numpy()
    assert (counts[drawn] == counts.max()).all()
    chances = np.exp(draws.log_probability.numpy())
    np.testing.assert_allclose(chances.sum(), 1.0, rtol=1e-6)


@pytest.mark.parametrize(
    "weights", [[1.0], [0.0, 1.0, 0.0], [5.0, 1.0, 1.0, 1.0], [1e-9, 1.0, 3.0], [2.0, 2.0]]
)
def test_an_alias_table_gives_every_item_its_weight(weights: list[float]) -> None:
    given = np.array(weights)
    keep, other = alias_table(given)
    found = keep / given.size
    np.add.at(found, other, (1 - keep) / given.size)
    np.testing.assert_allclose(found, given / given.sum(), atol=1e-7)


def test_an_epoch_has_every_user_with_items_once(cpu: Any, generator: Any) -> None:
    users, items = DATA.pairs()
    data = Interactions.from_arrays(
        users + 3, items, user_ids=np.arange(53), item_ids=DATA.item_ids
    )  # the first three have nothing
    source = Histories(data, batch_size=8, device=cpu)
    assert source.n_rows == 50
    batches = list(source.epoch(generator, 5))
    assert [batch.step for batch in batches] == list(range(5, 5 + source.n_batches))
    everyone = np.concatenate([batch.users for batch in batches])
    assert sorted(everyone) == list(range(3, 53))
    assert not np.array_equal(everyone, np.sort(everyone))
    seen = data.matrix().toarray()
    for batch in batches:
        np.testing.assert_array_equal(batch.dense(), seen[batch.users])
        assert batch.rows.shape == batch.items.shape


def test_draws_of_another_kind(cpu: Any) -> None:
    with pytest.raises(InputError, match=r"`negatives`.*'uniform', 'popularity'.*'hard'"):
        Draws(DATA, device=cpu, kind="hard")
