from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from fullrank.designs import Uniform
from fullrank.designs.draws import philox4x32, reference_indices
from fullrank.errors import InputError
from fullrank.ranking import rank, sample_ranks
from fullrank.scorers import CallableScorer, FactorScorer, ItemItemScorer, ScoreArray

N_USERS, N_ITEMS = 23, 61
ZERO = np.zeros((1, 4))


def brute_force(scores, targets, *, size, replacement, pool, exclude, ties, key, items=None):
    """Ranks and offsets in plain Python from a full table of scores."""
    user_rows, item_rows = (np.asarray(one) for one in targets)
    catalogue = np.arange(scores.shape[1]) if items is None else np.asarray(items)

    def order(user, item, score):
        """What items are ranked by: larger stands above."""
        words = philox4x32((int(item), user % 2**32, user >> 32, 2), key)
        tie = (words[0] << 32 | words[1], item) if ties == "random" else (0, 0)
        return (score, *tie)

    ranks, sizes, offsets = [], [], []
    for at, (user, target) in enumerate(zip(user_rows, item_rows, strict=True)):
        mine = item_rows[user_rows == user]
        seen = set() if exclude is None else set(np.flatnonzero(exclude[user])) - set(mine)
        holes = set(mine) | (seen if pool == "unseen" else set())
        left = np.array([i for i in catalogue if i not in holes])
        count = size - 1 if replacement else min(size - 1, left.size)
        drawn = left[reference_indices(key, int(user), left.size, count, replacement=replacement)]
        own = order(user, target, scores[user, target])
        above = 0
        for item in drawn:
            other = order(user, item, scores[user, item])
            better = other > own or (ties == "worst" and scores[user, item] == scores[user, target])
            above += better and item not in seen
        offset = 0
        for other_at in np.flatnonzero(user_rows == user):
            other = order(user, item_rows[other_at], scores[user, item_rows[other_at]])
            if other_at == at:
                continue
            offset += other > own or (other == own and item_rows[other_at] < target)
        ranks.append(1 + above)
        sizes.append(1 + count)
        offsets.append(offset)
    return np.array(ranks), np.array(sizes), np.array(offsets)


def agree(sample, expected):
    ranks, sizes, offsets = expected
    np.testing.assert_array_equal(sample.rows.rank, ranks)
    np.testing.assert_array_equal(sample.rows.sample_size, sizes)
    np.testing.assert_array_equal(sample.rows.offset, offsets)


@pytest.fixture(scope="module")
def world():
    """Factors with many equal vectors, one target or more for most users, some items excluded."""
    random = np.random.default_rng(1)
    users = random.integers(-2, 3, (N_USERS, 4)).astype(np.float32)
    items = random.integers(-2, 3, (N_ITEMS, 4)).astype(np.float32)
    items[40:50] = items[30:40]
    pairs = random.choice(N_USERS * N_ITEMS, 50, replace=False)
    targets = np.divmod(pairs, N_ITEMS)
    single = np.unique(targets[0], return_index=True)[1]
    exclude = random.random((N_USERS, N_ITEMS)) < 0.2
    return users, items, targets, (targets[0][single], targets[1][single]), exclude


@pytest.mark.parametrize(
    ("replacement", "pool", "ties", "several"),
    list(product([True, False], ["all", "unseen"], ["best", "worst", "random"], [True, False])),
)
def test_factor_model_equals_brute_force(world, replacement, pool, ties, several):
    users, items, targets, single, exclude = world
    targets = targets if several else single
    sample = sample_ranks(
        FactorScorer(users, items),
        targets,
        exclude=csr_array(exclude),
        design=Uniform(20, replacement=replacement, pool=pool),
        ties=ties,
        rng=11,
    )
    expected = brute_force(
        users @ items.T, targets, size=20, replacement=replacement, pool=pool, exclude=exclude,
        ties=ties, key=11,
    )  # fmt: skip
    agree(sample, expected)
    assert (sample.design.replacement, sample.design.pool) == (replacement, pool)
    assert sample.design.ties == ties
    n_items = N_ITEMS
    if pool == "unseen":
        hidden = exclude.copy()
        hidden[targets] = False
        n_items = N_ITEMS - hidden.sum(axis=1)[targets[0]]
    np.testing.assert_array_equal(sample.rows.n_items, n_items)
    np.testing.assert_array_equal(sample.rows.user, targets[0])


def scorers(users, items):
    """The same scores, exact in float32, from every kind of scorer."""
    table = users @ items.T
    eye = np.zeros((N_USERS, N_ITEMS), np.float32)
    eye[:, :4] = users  # a history of four items whose rows of the matrix are the factors
    matrix = np.zeros((N_ITEMS, N_ITEMS), np.float32)
    matrix[:4] = items.T
    return {
        "float32": FactorScorer(users, items),
        "float64": FactorScorer(users.astype(np.float64), items),
        "bias": FactorScorer(users[:, :3], items[:, :3], item_bias=np.zeros(N_ITEMS)),
        "item-item": ItemItemScorer(csr_array(eye), matrix),
        "sparse item-item": ItemItemScorer(csr_array(eye), csr_array(matrix)),
        "array": ScoreArray(table),
        "function": CallableScorer(lambda u, i=None: pick(table, u, i), n_items=N_ITEMS),
        "all items": CallableScorer(lambda u: table[u], n_items=N_ITEMS),
    }


def pick(table, users, items):
    if items is None:
        return table[users]
    return table[users[:, None], items]


@pytest.mark.parametrize("kind", ["float32", "float64", "item-item", "sparse item-item", "array",
                                  "function", "all items"])  # fmt: skip
@pytest.mark.parametrize("size", [3, 30])
def test_every_scorer_gives_the_same_ranks(world, kind, size):
    users, items, targets, _, exclude = world
    settings = {"exclude": csr_array(exclude), "design": Uniform(size), "rng": 5}
    expected = sample_ranks(users @ items.T, targets, n_jobs=1, batch_size=1, **settings)
    sample = sample_ranks(scorers(users, items)[kind], targets, **settings)
    agree(sample, (expected.rows.rank, expected.rows.sample_size, expected.rows.offset))
    settings = {"exclude": exclude, "size": size, "key": 5}
    agree(sample, brute_force(users @ items.T, targets, replacement=False, pool="all",
                              ties="random", **settings))  # fmt: skip


def test_biases_and_cosine(world):
    users, items, targets, _, _ = world
    bias = np.linspace(-3, 3, N_ITEMS)
    scorer = FactorScorer(users, items, item_bias=bias, user_bias=np.arange(N_USERS) * 1e9)
    plain = FactorScorer(users, items, item_bias=bias)
    table = plain.scores(np.arange(N_USERS))
    settings = {"replacement": True, "pool": "all", "exclude": None, "ties": "worst"}
    asked = {"design": "sampled:15,replacement=true", "ties": "worst", "rng": 2}
    expected = brute_force(table, targets, size=15, key=2, **settings)
    for one in (scorer, plain, table):
        agree(sample_ranks(one, targets, **asked), expected)
    cosine = FactorScorer(users, items, similarity="cosine")
    expected = brute_force(cosine.scores(np.arange(N_USERS)), targets, size=15, key=2, **settings)
    agree(sample_ranks(cosine, targets, **asked), expected)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("batch_size", [1, 5, 100, None])
def test_batches_and_threads_change_nothing(world, n_jobs, batch_size):
    users, items, targets, _, exclude = world
    for scorer in (FactorScorer(users, items), users @ items.T):
        settings = {"exclude": csr_array(exclude), "design": "sampled:20", "rng": 5}
        whole = sample_ranks(scorer, targets, **settings)
        sample = sample_ranks(scorer, targets, n_jobs=n_jobs, batch_size=batch_size, **settings)
        np.testing.assert_array_equal(sample.rows.rank, whole.rows.rank)


def test_order_of_the_targets_changes_nothing(world):
    users, items, targets, _, _ = world
    scorer = FactorScorer(users, items)
    whole = sample_ranks(scorer, targets, design="sampled:20", rng=5)
    shuffle = np.random.default_rng(0).permutation(targets[0].size)
    sample = sample_ranks(
        scorer, (targets[0][shuffle], targets[1][shuffle]), design="sampled:20", rng=5
    )
    np.testing.assert_array_equal(sample.rows.rank, whole.rows.rank[shuffle])
    np.testing.assert_array_equal(sample.rows.offset, whole.rows.offset[shuffle])


@pytest.mark.parametrize("pool", ["all", "unseen"])
@pytest.mark.parametrize("ties", ["best", "worst", "random"])
@pytest.mark.parametrize("items", [None, np.arange(0, N_ITEMS, 2)])
def test_all_items_give_exact_ranks(world, pool, ties, items):
    users, factors, targets, _, exclude = world
    if items is not None:
        inside = np.isin(targets[1], items)
        targets = targets[0][inside], targets[1][inside]
    settings = {"exclude": csr_array(exclude), "ties": ties, "items": items, "rng": 8}
    scorer = FactorScorer(users, factors)
    size = N_ITEMS if items is None else items.size
    sample = sample_ranks(scorer, targets, design=Uniform(size, pool=pool), **settings)
    exact = rank(scorer, targets, **settings)
    np.testing.assert_array_equal(sample.rows.rank + sample.rows.offset, exact.ranks)
    assert sample.exhausted


def test_catalogue_equals_brute_force(world):
    users, factors, targets, _, exclude = world
    items = np.union1d(targets[1], np.arange(0, N_ITEMS, 3))
    settings = {"ties": "random", "items": items}
    sample = sample_ranks(
        FactorScorer(users, factors),
        targets,
        exclude=csr_array(exclude),
        design="sampled:10,pool=unseen",
        rng=3,
        **settings,
    )
    expected = brute_force(
        users @ factors.T, targets, size=10, exclude=exclude * np.isin(np.arange(N_ITEMS), items),
        replacement=False, pool="unseen", key=3, **settings,
    )  # fmt: skip
    agree(sample, expected)


def test_extreme_scores():
    """Infinities, denormals and sums that float32 gets wrong: the float64 sum decides."""
    tiny = np.float32(1e-42)
    items = np.array(
        [[np.inf, 0, 0], [1e38, 1e38, -1e38], [tiny, tiny, 0], [0, tiny, tiny], [-np.inf, 0, 0],
         [1, 1e8, -1e8], [2, 1e8, -1e8], [0, 0, 0], [1e38, 0, 0], [3e38, 3e38, -3e38]],
        np.float32,
    )  # fmt: skip
    users = np.array([[1, 1, 1], [1e-3, 1, 1], [10, 10, 10], [1, 2, 3]], np.float32)
    scorer = FactorScorer(users, items)
    table = scorer.scores(np.arange(4))
    assert not np.isnan(table).any()
    pairs = np.divmod(np.arange(40), 10)
    for user, item in zip(*pairs, strict=True):
        for ties, extra in (("best", 0), ("worst", 1)):
            sample = sample_ranks(scorer, ([user], [item]), design="sampled:10", ties=ties, rng=0)
            above = np.sum(table[user] > table[user, item])
            equal = np.sum(table[user] == table[user, item]) - 1
            assert sample.rows.rank[0] == 1 + above + extra * equal


def test_the_rough_product_never_decides_wrongly():
    """Scores that agree in float32 and differ in float64."""
    random = np.random.default_rng(3)
    base = random.normal(size=64).astype(np.float32)
    items = np.tile(base, (400, 1))
    items[np.arange(400), random.integers(0, 64, 400)] *= np.float32(1 + 2**-23)
    users = random.normal(size=(30, 64)).astype(np.float32)
    scorer = FactorScorer(users, items)
    table = scorer.scores(np.arange(30))
    assert np.unique(table[0]).size > 10
    targets = (np.arange(30), random.integers(0, 400, 30))
    marks = table[targets][:, None]
    best = sample_ranks(scorer, targets, design="sampled:400", ties="best", rng=0).rows.rank
    worst = sample_ranks(scorer, targets, design="sampled:400", ties="worst", rng=0).rows.rank
    np.testing.assert_array_equal(best, 1 + (table > marks).sum(axis=1))
    np.testing.assert_array_equal(worst, (table >= marks).sum(axis=1))


def test_the_gather_and_the_whole_rows_of_an_item_item_model_agree():
    random = np.random.default_rng(4)
    n = 400
    history = csr_array(random.random((20, n)) < 0.05)
    scorer = ItemItemScorer(history, random.normal(size=(n, n)).astype(np.float32))
    table = scorer.scores(np.arange(20))
    targets = (np.arange(20), random.integers(0, n, 20))
    for size in (10, 30, 300):  # the first two gather
        sample = sample_ranks(scorer, targets, design=Uniform(size), rng=9)
        np.testing.assert_array_equal(
            sample.rows.rank, sample_ranks(table, targets, design=Uniform(size), rng=9).rows.rank
        )


def test_the_same_seed_gives_models_the_same_items():
    asked = []

    def remember(users, items=None):
        asked.append(np.array(items))
        return np.zeros(items.shape)

    targets = (np.arange(5), np.arange(5))
    for _ in range(2):
        sample_ranks(CallableScorer(remember, n_items=1000), targets, design="sampled:50", rng=7)
    np.testing.assert_array_equal(asked[0], asked[1])
    assert asked[0].shape == (5, 50)  # the target and its 49 draws, nothing else


def test_a_pool_smaller_than_the_sample_is_taken_whole():
    scores = np.arange(20.0).reshape(2, 10)
    exclude = csr_array(np.array([[0] * 4 + [1] * 6, [0] * 10]))
    sample = sample_ranks(
        scores, ([0, 1], [1, 1]), exclude=exclude, design="sampled:6,pool=unseen", rng=0
    )
    assert sample.rows.sample_size.tolist() == [4, 6]
    assert sample.rows.rank[0] == 3
    assert sample.rows.n_items.tolist() == [4, 10]


def test_an_empty_pool():
    sample = sample_ranks(
        [[1.0, 2.0]], ([0, 0], [0, 1]), design="sampled:2,replacement=true", rng=0
    )
    assert sample.rows.rank.tolist() == [1, 1]
    assert sample.rows.sample_size.tolist() == [1, 1]
    assert sample.rows.offset.tolist() == [1, 0]


def test_weights_are_recorded():
    sample = sample_ranks(
        np.eye(3), ([0, 2], [1, 0]), design="sampled:2", weight=[1.5, 2.0], ties="best", rng=0
    )
    assert sample.rows.weight.tolist() == [1.5, 2.0]


def test_progress_counts_users(capsys):
    seen = []
    targets = (np.arange(7), np.arange(7))
    scorer = np.eye(7)
    sample_ranks(
        scorer,
        targets,
        design="sampled:3",
        batch_size=3,
        n_jobs=1,
        progress=lambda done, total: seen.append((done, total)),
        rng=0,
    )
    assert seen == [(3, 7), (6, 7), (7, 7)]
    assert capsys.readouterr() == ("", "")
    sample_ranks(scorer, targets, design="sampled:3", progress=True, rng=0)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith("sampled ranks: 7 of 7 (100%)\n")


@pytest.mark.parametrize("make", [
    lambda table: table,
    lambda table: FactorScorer(table, np.eye(4)),
    lambda table: ItemItemScorer(csr_array(np.eye(3, 4)), np.vstack([table, ZERO])),
    lambda table: ItemItemScorer(csr_array(np.eye(3, 4)), csr_array(np.vstack([table, ZERO]))),
])  # fmt: skip
@pytest.mark.parametrize("item", [2, 3])
def test_nan_scores_raise_and_name_the_user(make, item):
    table = np.zeros((3, 4))
    table[1, item] = np.nan
    message = f"user row 1 and item row {item} is NaN"
    if isinstance(make(table), FactorScorer):
        message = "user row 1 and item row . is NaN"  # NaN · 0 is NaN for the other items too
    with pytest.raises(InputError, match=message):
        sample_ranks(make(table), ([0, 1, 2], [3, 3, 3]), design="sampled:4", rng=0)


@pytest.mark.parametrize(("settings", "message"), [
    ({"design": "sampled:1"}, r"`sample_size`.*\b1\b"),
    ({"design": "sampled:5"}, (r"`sample_size`.*\b5\b")),
    ({"ties": "mean"}, r"`ties`.*'best', 'worst', 'random'.*'mean'"),
    ({"design": "sampled:3,pool=seen"}, r"^`design`.*: pool must.*'all', 'unseen'.*'seen'"),
    ({"design": "sampled:3,pool=unseen"}, r'`exclude`.*pool="unseen"'),
    ({"design": "sampled:3,replacement=1"}, r"^`design`.*: replacement must.*True.*False.*\b1\b"),
    ({"design": "drawn:3"}, r"`design`.*'adaptive', 'exact', 'sampled'.*'drawn'"),
    ({"design": 3}, r"`design`.*Design.*'sampled:100'.*\b3\b"),
    ({"design": "exact"}, r"`design`.*exact.*`rank`"),
    ({"batch_size": 0}, r"`batch_size`.*\b0\b"),
    ({"n_jobs": 0}, r"`n_jobs`.*\b0\b"),
    ({"progress": 3}, r"`progress`.*None, True.*\b3\b"),
    ({"weight": [1.0, 2.0]}, r"`weight`.*\b1\b.*\b2\b"),
])  # fmt: skip
def test_bad_arguments(settings, message):
    with pytest.raises(InputError, match=message):
        sample_ranks(np.eye(4), ([0], [0]), **{"design": "sampled:3", "rng": 0, **settings})


@pytest.mark.parametrize("replacement", [True, False])
def test_a_user_without_a_pool_is_first_among_one(replacement):
    scores = np.arange(6.0).reshape(2, 3)
    targets = ([0, 0, 0, 1], [0, 1, 2, 1])  # the first user has every item as a target
    sample = sample_ranks(scores, targets, design=Uniform(3, replacement=replacement), rng=0)
    assert sample.rows.rank[:3].tolist() == [1, 1, 1]
    assert sample.rows.offset[:3].tolist() == [2, 1, 0]
    assert sample.rows.sample_size.tolist() == [1, 1, 1, 3]


def test_targets_of_any_sparse_format():
    scores = np.arange(12.0).reshape(2, 6)
    matrix = csr_array(np.array([[0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 0]]))
    by_rows, by_columns = (
        sample_ranks(scores, one, design="sampled:6", rng=0) for one in (matrix, matrix.tocsc())
    )
    assert by_rows.rows.rank.tolist() == by_columns.rows.rank.tolist() == [4, 2]


def test_rows_of_another_catalogue_are_refused():
    scores = np.arange(12.0).reshape(2, 6)
    other = csr_array(np.array([[1, 0], [0, 1]]))
    message = "must have as many items as the scorer, 6, not 2."
    with pytest.raises(InputError, match=rf"`targets`.*{message}"):
        sample_ranks(scores, other, design="sampled:3")
    with pytest.raises(InputError, match=rf"`exclude`.*{message}"):
        sample_ranks(scores, ([0], [3]), exclude=other, design="sampled:3")
