"""The data sets as they were published, and splits against plain Python."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fullrank.data import DATASETS, Interactions, load, load_split, simulate


# Users, items and interactions: the publishers' own figures, or those of the papers that made the
# split (NCF, LightGCN); pinterest-20-part is a part of NCF's Pinterest.
@pytest.mark.parametrize(
    ("name", "users", "items", "interactions"),
    [
        ("ml-1m", 6_040, 3_706, 1_000_209),
        ("ml-100k", 943, 1_682, 100_000),
        ("pinterest-20-part", 37_501, 9_916, 1_000_154),
        ("citeulike-a", 5_551, 16_980, 204_986),
        ("gowalla", 29_858, 40_981, 1_027_370),
        ("yelp-diffnet", 17_235, 37_378, 207_945),
        ("lastfm-2k", 1_892, 17_632, 92_834),
        ("amazon-video-games", 31_013, 23_715, 287_107),
    ],
)
def test_real_files(
    data_file: Callable[[str], Path], name: str, users: int, items: int, interactions: int
) -> None:
    data_file(f"{name}.parquet")
    data = load(name)
    assert (data.n_users, data.n_items, data.n_interactions) == (users, items, interactions)
    if DATASETS[name].split:
        split = load_split(name)  # no pair in two parts: that would be a warning, and so an error
        parts = split.parts().values()
        assert sum(part.n_interactions for part in parts) == interactions
        assert {part.n_items for part in parts} == {items}


def test_the_last_in_time_of_ordered_data(data_file: Callable[[str], Path]) -> None:
    data_file("amazon-video-games.parquet")
    data = load("amazon-video-games")
    split = data.split("leave-one-out", by="last")
    counts = data.user_counts()
    np.testing.assert_array_equal(split.test.timestamps, counts[counts >= 2] - 1)
    assert split.n_skipped == np.count_nonzero(counts == 1)


def test_ncf_held_out_one_of_the_latest(data_file: Callable[[str], Path]) -> None:
    """Their test item has each user's latest time; of equal times theirs is another than ours."""
    data_file("ml-1m.parquet")
    data, given = load("ml-1m"), load_split("ml-1m")
    ours = data.split("leave-one-out", by="last")
    np.testing.assert_array_equal(given.test.timestamps, ours.test.timestamps)


def test_gowalla_is_its_own_ten_core(data_file: Callable[[str], Path]) -> None:
    """NGCF kept users and items with ten interactions at least, and held out a fifth of each."""
    data_file("gowalla.parquet")
    data, split = load("gowalla"), load_split("gowalla")
    core = data.k_core(items_per_user=10, users_per_item=10)
    assert core.n_interactions > 0.99 * data.n_interactions
    held = split.test.user_counts() / data.user_counts()
    assert abs(held.mean() - 0.2) < 0.02


def as_sets(part: Interactions) -> dict[int, list[int]]:
    return {
        user: part.indices[part.indptr[user] : part.indptr[user + 1]].tolist()
        for user in range(part.n_users)
    }


def test_the_latest_share_against_plain_python() -> None:
    data = simulate(n_users=60, n_items=80, mean_interactions=20)
    split = data.split("ratio", test=0.3, valid=0.2, by="last")
    for user, items in as_sets(data).items():
        times = data.timestamps[data.indptr[user] : data.indptr[user + 1]]
        ordered = [item for _, item in sorted(zip(times.tolist(), items, strict=True))]
        n_test, n_valid = (3 * len(items)) // 10, (2 * len(items)) // 10
        n_train = len(items) - n_test - n_valid
        assert as_sets(split.train)[user] == sorted(ordered[:n_train])
        assert as_sets(split.valid)[user] == sorted(ordered[n_train : n_train + n_valid])
        assert as_sets(split.test)[user] == sorted(ordered[n_train + n_valid :])


def test_the_core_against_plain_python() -> None:
    data = simulate(n_users=80, n_items=200, mean_interactions=20)
    pairs = set(zip(*(rows.tolist() for rows in data.pairs()), strict=True))
    while True:
        items = [item for _, item in pairs]
        kept = {(user, item) for user, item in pairs if items.count(item) >= 4}
        users = [user for user, _ in kept]
        kept = {(user, item) for user, item in kept if users.count(user) >= 10}
        if kept == pairs:
            break
        pairs = kept
    core = data.k_core(items_per_user=10, users_per_item=4)
    users, items = core.pairs()
    found = zip(core.user_ids[users].tolist(), core.item_ids[items].tolist(), strict=True)
    assert set(found) == pairs
    assert 0 < len(pairs) < data.n_interactions
