import numpy as np
import pytest

from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.samples import RankSample

FIXED = {"sample_size": 10, "n_items": 50, "replacement": False}


def sample(rank: object = (1, 3, 1), **changes: object) -> RankSample:
    return RankSample.from_ranks(rank, **{**FIXED, **changes})  # type: ignore[arg-type]


def test_counts_are_derived_from_rows() -> None:
    one = sample([3, 1, 1, 10], weight=[1.0, 2.0, 0.5, 1.0])
    assert one.rank.tolist() == [1, 3, 10]
    assert one.count.tolist() == [2, 1, 1]
    assert one.weight.tolist() == [2.5, 1.0, 1.0]
    assert one.rows is not None
    assert one.rows.rank.tolist() == [3, 1, 1, 10]
    assert (one.n_targets, one.n_users, one.n_items, one.average_size) == (4, 4, 50, 10.0)


def test_adding_shards_is_the_same_as_ranking_all_at_once() -> None:
    rng = np.random.default_rng(0)
    rank, weight = rng.integers(1, 11, 60), rng.random(60)
    whole = sample(rank, weight=weight, user=np.arange(60))
    parts = [
        sample(rank[i : i + 20], weight=weight[i : i + 20], user=np.arange(i, i + 20))
        for i in (0, 20, 40)
    ]
    for shards in (parts, [part.without_rows() for part in parts]):
        total = sum(shards)
        assert isinstance(total, RankSample)
        assert total.rank.tolist() == whole.rank.tolist()
        assert total.count.tolist() == whole.count.tolist()
        np.testing.assert_allclose(total.weight, whole.weight)
    assert sum(parts).rows.user.tolist() == list(range(60))  # type: ignore[union-attr]
    assert (parts[0] + parts[1].without_rows()).rows is None


def test_counts_alone_are_a_sample() -> None:
    counts = RankSample.from_counts([1, 3, 7], [2, 1, 0], **FIXED)  # type: ignore[arg-type]
    assert counts.rows is None
    assert counts.rank.tolist() == [1, 3]
    assert counts.count.tolist() == [2, 1]
    assert counts.weight.tolist() == [2.0, 1.0]


def test_outcomes_of_different_sizes_and_pools_stay_apart() -> None:
    mixed = sample([2, 2, 2], sample_size=[10, 20, 20], n_items=[50, 50, 60])
    assert mixed.design.pool == "unseen"
    assert mixed.n_items is None
    assert list(zip(mixed.rank, mixed.sample_size, mixed.pool, strict=True)) == [
        (2, 10, 50),
        (2, 20, 50),
        (2, 20, 60),
    ]


def test_several_targets_shrink_the_pool() -> None:
    two = sample([1, 4], user=["a", "a"], n_targets=2, offset=[0, 1])
    assert two.pool.tolist() == [49, 49]
    assert two.n_items == 50
    assert two.n_users == 1


def test_exhausted() -> None:
    assert sample([5, 50], sample_size=50).exhausted
    assert not sample([5, 50], sample_size=50, replacement=True).exhausted
    assert not sample().exhausted


def test_probabilities_of_the_observed_outcomes() -> None:
    one = sample([1, 10])
    grid = RankGrid.dense(50)
    table = one.probabilities(grid)
    assert table.shape == (50, 2)
    assert table[0].tolist() == [1.0, 0.0]
    assert table[-1].tolist() == [0.0, 1.0]


def test_naive_metric_is_that_of_the_sampled_ranks() -> None:
    assert sample([1, 3, 1], weight=[1, 2, 1]).naive("rr") == pytest.approx((1 + 2 / 3 + 1) / 4)
    with pytest.raises(InputError, match=r"^`naive` must be asked of a fixed design"):
        sample([5, 5], levels=[10, 20]).naive("rr")
    with pytest.raises(InputError, match=r"^`naive` must be asked of samples with one target"):
        sample([1, 4], user=[1, 1], n_targets=2, offset=[0, 1]).naive("rr")


def test_arrays_cannot_be_changed_from_outside() -> None:
    rank = np.array([1, 2])
    one = sample(rank)
    rank[0] = 9
    assert one.rows is not None
    assert one.rows.rank.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        one.count[0] = 7


BAD = [
    ({"rank": []}, "`rank` must hold at least one rank; the sample is empty."),
    (
        {"rank": [0, 1]},
        "`rank` must be at least 1; 1 of 2 is not, the first being rank[0] = 0. "
        "Ranks are 1-based, the target counted among the candidates.",
    ),
    (
        {"rank": [1, 11, 12]},
        "`rank` must be at most the sample size; 2 of 3 are not, the first being rank[1] = 11. "
        "Ranks are 1-based, the target counted among the candidates.",
    ),
    (
        {"rank": [1.0, np.nan]},
        "`rank` must be finite; 1 of 2 is not, the first being rank[1] = nan.",
    ),
    (
        {"rank": [1.5]},
        "`rank` must be whole numbers; 1 of 1 is not, the first being rank[0] = 1.5. "
        "Ranks are 1-based, the target counted among the candidates.",
    ),
    ({"rank": ["3"]}, "`rank` must hold numbers, not <U1. Text must be parsed first."),
    ({"rank": [True]}, "`rank` must hold numbers, not bool."),
    ({"rank": [[1]]}, "`rank` must be one-dimensional, not of shape (1, 1)."),
    (
        {"sample_size": 51},
        "`sample_size` must be at most the number of items that can be drawn, and the target; "
        "3 of 3 are not, the first being sample_size[0] = 51. "
        "Without replacement a sample cannot be larger than the catalogue.",
    ),
    ({"sample_size": [10, 10]}, "`sample_size` must have 3 entries, not 2."),
    (
        {"weight": [1.0, -1.0, 1.0]},
        "`weight` must be at least 0.0; 1 of 3 is not, the first being weight[1] = -1.0.",
    ),
    ({"weight": [0.0, 0.0, 0.0]}, "`weight` must have a positive sum; all are 0."),
    (
        {"weight": [1.0, np.inf, 1.0]},
        "`weight` must be finite; 1 of 3 is not, the first being weight[1] = inf.",
    ),
    (
        {"n_items": [50, 60, 50], "pool": "all"},
        "`n_items` must be one number when the pool is all items; it differs between rows. "
        'Catalogues of the users\' own are pool="unseen".',
    ),
    (
        {"levels": [10, 20]},
        "`rank` must exceed the stopping rank 1 before the last level; 2 of 3 do not, the first "
        "being rank[0] = 1. An adaptive design goes on from there; a fixed one has no `levels`.",
    ),
    (
        {"rank": [5], "sample_size": 15, "levels": [10, 20]},
        "`sample_size` must be a level of the design, 10, 20; 1 of 1 is not, the first being "
        "sample_size[0] = 15.",
    ),
    (
        {"rank": [13], "sample_size": 20, "levels": [10, 20]},
        "`rank` must be reachable: at most the stopping rank at the level before, and the draws "
        "since; 1 of 1 is not, the first being rank[0] = 13.",
    ),
    (
        {"user": [1, 1, 2]},
        "`user` must have as many rows as `n_targets` says; user 1 has 2 rows and n_targets 1. "
        "Leave `user` out to count every target as a user of its own.",
    ),
    (
        {"user": [0.5, 1.0, 2.0]},
        "`user` must hold one whole number or text for each of the 3 ranks, "
        "not float64 of shape (3,).",
    ),
    (
        {"n_targets": 2},
        "`n_targets` must be 1 where `user` is left out; 3 of 3 are not, the first being "
        "n_targets[0] = 2. Several targets need to know whose they are.",
    ),
    (
        {"offset": 1},
        "`offset` must be below `n_targets`; 3 of 3 are not, the first being offset[0] = 1.",
    ),
    ({"replacement": None}, "`replacement` must be True or False, not None."),
]


@pytest.mark.parametrize(("changes", "says"), BAD, ids=[says[:40] for _, says in BAD])
def test_bad_input_gets_one_sentence(changes: dict[str, object], says: str) -> None:
    with pytest.raises(InputError) as error:
        sample(**changes)
    assert str(error.value) == says


def test_samples_of_different_kinds_do_not_add() -> None:
    with pytest.raises(InputError) as error:
        sample() + sample(n_items=60)
    assert str(error.value) == (
        "Samples add only if their catalogues agree; one has 50 items, the other 60."
    )
    with pytest.raises(InputError) as error:
        sample() + sample(replacement=True)
    assert str(error.value) == (
        "Samples add only if their designs agree; one is without replacement from all items, "
        "the other with replacement from all items."
    )
    with pytest.raises(InputError, match=r"all items \(ties 'best' and 'worst'\)\.$"):
        sample(ties="best") + sample(ties="worst")
    with pytest.raises(
        InputError, match=r"one is without replacement.*, the other adaptive 10 to 20"
    ):
        sample([2, 3]) + sample([2, 3], levels=[10, 20])
    with pytest.raises(InputError, match=r"^Samples add only if both name their users"):
        sample() + sample(user=[1, 2, 3])
    with pytest.raises(InputError, match=r"^`user` must have as many rows as `n_targets` says"):
        sample(user=[1, 2, 3]) + sample(user=[3, 4, 5])
    with pytest.raises(TypeError):
        sample() + 3  # type: ignore[operator]


def test_empty_counts() -> None:
    with pytest.raises(
        InputError, match=r"^`count` must have a positive entry; the sample is empty"
    ):
        RankSample.from_counts([1, 2], [0, 0], **FIXED)  # type: ignore[arg-type]


@pytest.mark.parametrize("rank", [[[1, 2]], ["a", "b"]])
def test_counts_of_ranks_that_are_none(rank):
    with pytest.raises(InputError, match=r"^`rank` must"):
        RankSample.from_counts(rank, [1, 2], sample_size=3, n_items=9, replacement=True)


def test_numbers_and_text_do_not_name_the_same_users():
    with pytest.raises(InputError, match="both name their users by numbers or by text"):
        sample([1], user=[1]) + sample([1], user=["1"])


def test_counts_of_several_targets_are_not_taken_for_one():
    settings = {"user": [0, 0], "n_targets": 2, "offset": [0, 1], "replacement": False}
    sample = RankSample.from_ranks([1, 2], sample_size=3, n_items=9, **settings)
    assert sample.several
    assert sample.without_rows().several
    with pytest.raises(InputError, match="`naive` must be asked of samples with one target"):
        sample.without_rows().naive("recall@1")
    own = RankSample.from_ranks([1, 2], sample_size=3, n_items=9, pool="unseen", **settings)
    with pytest.raises(InputError, match="`rows` must be kept where users have several targets"):
        own.without_rows()
