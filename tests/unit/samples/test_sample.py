import numpy as np
import pytest

from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.samples import RankSample

FIXED = {"sample_size": 10, "n_items": 50}
LEVELS = "adaptive:levels=10/20"


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
    assert not sample([5, 50], sample_size=50, design="sampled:replacement=true").exhausted
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
    with pytest.raises(InputError, match=r"`naive`.*fixed"):
        sample([5, 5], design=LEVELS).naive("rr")
    with pytest.raises(InputError, match=r"`naive`.*one target"):
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
    ({"rank": []}, r"`rank`.*empty"),
    (
        {"rank": [0, 1]},
        r"`rank`.*1 of 2.*rank\[0\] = 0\b",
    ),
    (
        {"rank": [1, 11, 12]},
        r"`rank`.*2 of 3.*rank\[1\] = 11\b",
    ),
    (
        {"rank": [1.0, np.nan]},
        r"`rank`.*1 of 2.*rank\[1\] = nan\b",
    ),
    (
        {"rank": [1.5]},
        r"`rank`.*1 of 1.*rank\[0\] = 1\.5\b",
    ),
    ({"rank": ["3"]}, r"`rank`.*<U1\b"),
    ({"rank": [True]}, r"`rank`.*\bbool\b"),
    ({"rank": [[1]]}, r"`rank`.*\(1, 1\)"),
    (
        {"sample_size": 51},
        r"`sample_size`.*3 of 3.*sample_size\[0\] = 51\b",
    ),
    ({"sample_size": [10, 10]}, r"`sample_size`.*\b3\b.*\b2\b"),
    (
        {"weight": [1.0, -1.0, 1.0]},
        r"`weight`.*1 of 3.*weight\[1\] = -1\.0\b",
    ),
    ({"weight": [0.0, 0.0, 0.0]}, r"`weight`.*sum.*\b0\b"),
    (
        {"weight": [1.0, np.inf, 1.0]},
        r"`weight`.*1 of 3.*weight\[1\] = inf\b",
    ),
    (
        {"design": LEVELS},
        r"`rank`.*\b1\b.*2 of 3.*rank\[0\] = 1\b",
    ),
    (
        {"rank": [5], "sample_size": 15, "design": LEVELS},
        r"`sample_size`.*\b10\b.*\b20\b.*1 of 1.*sample_size\[0\] = 15\b",
    ),
    (
        {"rank": [13], "sample_size": 20, "design": LEVELS},
        r"`rank`.*1 of 1.*rank\[0\] = 13\b",
    ),
    (
        {"user": [1, 1, 2]},
        r"`user`.*`n_targets`.*user 1.*\b2\b.*\b1\b",
    ),
    (
        {"user": [0.5, 1.0, 2.0]},
        r"`user`.*\b3\b.*\bfloat64 of shape \(3,\)",
    ),
    ({"user": [[1], 2, 3]}, r"`user`.*each of the 3 ranks; some of its entries are lists"),
    (
        {"n_targets": 2},
        r"`n_targets`.*`user`.*3 of 3.*n_targets\[0\] = 2\b",
    ),
    (
        {"offset": 1},
        r"`offset`.*`n_targets`.*3 of 3.*offset\[0\] = 1\b",
    ),
    (
        {"design": "sampled:replacement=none"},
        r"^`design`.*: replacement must.*True.*False.*\bNone\b",
    ),
    ({"design": "sampled:11"}, r"`sample_size`.*\b11\b.*3 of 3.*sample_size\[0\] = 10\b"),
    ({"sample_size": None}, r"`sample_size`.*given"),
    ({"sample_size": None, "design": LEVELS}, r"`sample_size`.*each target"),
]


@pytest.mark.parametrize(("changes", "says"), BAD, ids=[says[:40] for _, says in BAD])
def test_bad_input_gets_one_sentence(changes: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        sample(**changes)


def test_samples_of_different_kinds_do_not_add() -> None:
    with pytest.raises(InputError, match=r"catalogues.*\b50\b.*\b60\b"):
        sample() + sample(n_items=60)
    with pytest.raises(InputError, match=r"designs.*sampled:10,.*sampled:10,replacement=true"):
        sample() + sample(design="sampled:replacement=true")
    with pytest.raises(InputError, match=r"designs.*ties=best.*ties=worst"):
        sample(design="sampled:ties=best") + sample(design="sampled:ties=worst")
    with pytest.raises(InputError, match=r"designs.*sampled:10,.*adaptive:10,limit=20"):
        sample([2, 3]) + sample([2, 3], design=LEVELS)
    with pytest.raises(InputError, match=r"both have user ids"):
        sample() + sample(user=[1, 2, 3])
    with pytest.raises(InputError, match=r"`user`.*`n_targets`.*user 3\b.*\b2\b.*\b1\b"):
        sample(user=[1, 2, 3]) + sample(user=[3, 4, 5])
    with pytest.raises(TypeError):
        sample() + 3  # type: ignore[operator]


def test_empty_counts() -> None:
    with pytest.raises(InputError, match=r"`count`.*empty"):
        RankSample.from_counts([1, 2], [0, 0], **FIXED)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rank", "says"), [([[1, 2]], r"`rank`.*\(1, 2\)"), (["a", "b"], r"`rank`.*<U1")]
)
def test_counts_of_ranks_that_are_none(rank, says):
    with pytest.raises(InputError, match=says):
        RankSample.from_counts(
            rank, [1, 2], sample_size=3, n_items=9, design="sampled:replacement=true"
        )


@pytest.mark.parametrize("kind", ["list", "array", "series", "tensor"])
def test_some_of_the_targets(kind, need):
    whole = sample([1, 3, 2, 3], user=[4, 5, 6, 7])
    mask = [False, True, False, True]
    if kind == "series":
        mask = need("pandas").Series(mask, index=[9, 8, 7, 6])
    elif kind == "tensor":
        mask = need("torch").tensor(mask)
    taken = whole.take(np.array(mask) if kind == "array" else mask)
    assert taken.rows.user.tolist() == [5, 7]
    assert taken.rank.tolist() == [3]
    assert whole.take([True] * 4) is whole


@pytest.mark.parametrize(
    ("mask", "says"),
    [
        ([True] * 3, r"`mask`.*4 in all.*\(3,\)"),
        ([False] * 5, r"`mask`.*4 in all.*\(5,\)"),
        ([[True]] * 4, r"`mask`.*\(4, 1\)"),
        (True, r"`mask`.*4 in all"),
        (None, r"`mask`.*object"),
        ([0, 1, 1, 0], r"`mask`.*int64"),
        ([0, 3], r"`mask`.*int64"),
        (np.ones(4), r"`mask`.*float64"),
        (list("yyny"), r"`mask`.*text"),
        ([False] * 4, r"`mask`.*at least one"),
    ],
)
def test_what_is_no_mask_of_the_targets(mask, says):
    with pytest.raises(InputError, match=says):
        sample([1, 3, 2, 3]).take(mask)


def test_numbers_and_text_do_not_name_the_same_users():
    with pytest.raises(InputError, match="all numbers or all text"):
        sample([1], user=[1]) + sample([1], user=["1"])


def test_counts_of_several_targets_are_not_taken_for_one():
    settings = {"user": [0, 0], "n_targets": 2, "offset": [0, 1]}
    sample = RankSample.from_ranks([1, 2], sample_size=3, n_items=9, **settings)
    assert sample.several
    assert sample.without_rows().several
    with pytest.raises(InputError, match=r"`naive`.*one target"):
        sample.without_rows().naive("recall@1")
    own = RankSample.from_ranks(
        [1, 2], sample_size=3, n_items=9, design="sampled:pool=unseen", **settings
    )
    with pytest.raises(InputError, match=r"`rows`.*multi-target"):
        own.without_rows()
