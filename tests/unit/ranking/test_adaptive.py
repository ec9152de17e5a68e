import numpy as np
import pytest
from scipy.sparse import csr_array

from fullrank.designs import Adaptive, Uniform
from fullrank.errors import InputError
from fullrank.ranking import rank, sample_ranks
from fullrank.samples.efficiency import recommend_limit, sampling_efficiency
from fullrank.samples.sample import RankSample
from fullrank.scorers import CallableScorer, FactorScorer, ItemItemScorer

N_USERS, N_ITEMS = 40, 150


@pytest.fixture(scope="module")
def world():
    random = np.random.default_rng(2)
    scorer = FactorScorer(
        random.integers(-2, 3, (N_USERS, 5)), random.integers(-2, 3, (N_ITEMS, 5))
    )
    table = scorer.scores(np.arange(N_USERS))
    top = np.argsort(-table, axis=1, kind="stable")
    # targets high up, so that several levels are reached; a third of the users have two
    users = np.concatenate((np.arange(N_USERS), np.arange(0, N_USERS, 3)))
    places = np.concatenate((np.arange(N_USERS) % 7, np.full(14, 20)))
    exclude = random.random((N_USERS, N_ITEMS)) < 0.2
    return scorer, table, (users, top[users, places]), csr_array(exclude)


def one_by_one(scorer, targets, levels, refine_rank, drawing, **settings):
    """Algorithm 1, target by target, from fixed samples of every level: draws nest."""
    designs = [Uniform(n, **drawing) for n in levels]
    samples = [sample_ranks(scorer, targets, design=one, **settings).rows for one in designs]
    ranks, sizes = samples[0].rank.copy(), samples[0].sample_size.copy()
    for rows in samples[1:]:
        on = (ranks <= refine_rank) & (rows.sample_size > sizes)
        ranks[on], sizes[on] = rows.rank[on], rows.sample_size[on]
    return ranks, sizes


@pytest.mark.parametrize("refine_rank", [1, 3])
@pytest.mark.parametrize("pool", ["all", "unseen"])
@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("ties", ["best", "worst", "random"])
def test_levels_equal_fixed_samples(world, refine_rank, pool, replacement, ties):
    scorer, _, targets, exclude = world
    drawing = {"pool": pool, "replacement": replacement}
    common = {"exclude": exclude, "ties": ties, "rng": 3}
    design = Adaptive(10, limit=140, refine_rank=refine_rank, **drawing)
    sample = sample_ranks(scorer, targets, design=design, **common)
    levels = (10, 20, 40, 80, 140)
    ranks, sizes = one_by_one(scorer, targets, levels, refine_rank, drawing, **common)
    np.testing.assert_array_equal(sample.rows.rank, ranks)
    np.testing.assert_array_equal(sample.rows.sample_size, sizes)
    fixed = sample_ranks(scorer, targets, design=Uniform(10, **drawing), **common)
    np.testing.assert_array_equal(sample.rows.offset, fixed.rows.offset)
    np.testing.assert_array_equal(sample.rows.n_items, fixed.rows.n_items)
    assert sample.design.rounds(N_ITEMS).sizes == levels
    assert (sample.design.refine_rank, sample.design.pool) == (refine_rank, pool)
    assert len(set(sizes.tolist())) > 3  # several levels were reached


@pytest.mark.parametrize("kind", ["item-item", "array", "function"])
def test_every_scorer_climbs_alike(world, kind):
    scorer, table, targets, exclude = world
    matrix = np.zeros((N_ITEMS, N_ITEMS), np.float32)
    matrix[:5] = scorer.item_factors.T
    history = np.zeros((N_USERS, N_ITEMS), np.float32)
    history[:, :5] = scorer.user_factors
    other = {
        "item-item": ItemItemScorer(csr_array(history), matrix),
        "array": table,
        "function": CallableScorer(
            lambda users, items=None: np.take_along_axis(table[users], items, 1), n_items=N_ITEMS
        ),
    }[kind]
    settings = {"exclude": exclude, "design": Adaptive(5, limit=N_ITEMS), "rng": 1}
    expected = sample_ranks(scorer, targets, **settings).rows
    sample = sample_ranks(other, targets, **settings).rows
    np.testing.assert_array_equal(sample.rank, expected.rank)
    np.testing.assert_array_equal(sample.sample_size, expected.sample_size)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("batch_size", [1, 7, None])
def test_batches_and_threads_change_nothing(world, n_jobs, batch_size):
    scorer, _, targets, exclude = world
    settings = {"exclude": exclude, "design": "adaptive:5,limit=100", "rng": 1}
    expected = sample_ranks(scorer, targets, **settings).rows
    sample = sample_ranks(scorer, targets, n_jobs=n_jobs, batch_size=batch_size, **settings).rows
    np.testing.assert_array_equal(sample.rank, expected.rank)
    np.testing.assert_array_equal(sample.sample_size, expected.sample_size)


@pytest.mark.parametrize("pool", ["all", "unseen"])
def test_who_reaches_the_end_has_an_exact_rank(world, pool):
    scorer, _, targets, exclude = world
    settings = {"exclude": exclude, "ties": "best", "rng": 1}
    sample = sample_ranks(
        scorer, targets, design=Adaptive(20, limit=N_ITEMS, pool=pool), **settings
    ).rows
    exact = rank(scorer, targets, **settings)
    full = sample.sample_size == sample.pool
    assert full.any()
    np.testing.assert_array_equal((sample.rank + sample.offset)[full], exact.ranks[full])


@pytest.mark.parametrize(("text", "levels"), [
    ("adaptive", (25,)),
    ("adaptive:5", (5, 10, 18)),
    ("adaptive:5,limit=60,growth=1.5", (5, 8, 12, 18, 27, 41, 60)),
    ("adaptive:5,limit=20", (5, 10, 20)),
])  # fmt: skip
def test_default_levels(world, text, levels):
    scorer, _, targets, _ = world
    design = sample_ranks(scorer, targets, design=text, rng=0).design
    assert design.rounds(N_ITEMS).sizes == levels
    assert design.limit == levels[-1]  # what depended on the catalogue is fixed


def test_only_what_a_level_adds_is_scored():
    asked = []

    def remember(users, items=None):
        asked.append(items.shape)
        return (items == 0).astype(float) + (users[:, None] == 1) * (items == 7) * 2

    scorer = CallableScorer(remember, n_items=80)
    sample = sample_ranks(
        scorer, ([0, 1], [0, 0]), design="adaptive:5,limit=80", ties="best", rng=0
    )
    assert sample.rows.rank[0] == 1
    assert sample.rows.sample_size[0] == 80
    # the target and 4 draws, then 5, 10, 20, 40 more
    assert [shape[1] for shape in asked] == [5, 6, 11, 21, 41]
    assert asked[0][0] == 2
    assert asked[-1][0] == (1 if sample.rows.sample_size[1] < 80 else 2)


def test_efficiency_by_hand():
    # 8 targets: 4 settled at 10, 1 at 20, then 3 at 40 of which 1 at rank 2
    sample = RankSample.from_ranks(
        [3, 2, 5, 2, 2, 2, 1, 1],
        sample_size=[10] * 4 + [20] + [40] * 3,
        n_items=80,
        design="adaptive:levels=10/20/40",
    )
    curve = sampling_efficiency(sample)
    assert curve.level.tolist() == [10, 20, 40]
    assert curve.n_reached.tolist() == [8, 4, 3]
    assert curve.n_settled.tolist() == [4, 1, 1]
    assert curve.cost.tolist() == [8 * 10 / 4, 4 * 10 / 1, 3 * 20 / 1]
    assert curve.n_items == 80
    assert recommend_limit(sample) == 10
    assert recommend_limit(sample, max_cost=40) == 20
    assert recommend_limit(sample, max_cost=1000) == 40
    assert recommend_limit(sample, max_cost=0) == 10


def test_a_level_that_settles_nobody_costs_without_end():
    sample = RankSample.from_ranks(
        [1, 1], sample_size=20, n_items=80, design="adaptive:levels=10/20"
    )
    assert sampling_efficiency(sample).cost.tolist() == [np.inf, np.inf]


def test_efficiency_plot(need):
    need("matplotlib")
    sample = RankSample.from_ranks(
        [2, 2, 1], sample_size=[10, 20, 20], n_items=80, design="adaptive:levels=10/20"
    )
    curve = sampling_efficiency(sample)
    axes = curve.plot()
    np.testing.assert_allclose(axes.lines[0].get_xydata(), [[0.125, 30.0], [0.25, 20.0]])
    assert curve.plot(ax=axes) is axes
    assert len(axes.lines) == 2


def test_fixed_samples_have_no_curve():
    sample = RankSample.from_ranks([1], sample_size=10, n_items=80)
    with pytest.raises(InputError, match=r"`sample`.*adaptive"):
        sampling_efficiency(sample)


@pytest.mark.parametrize(("settings", "message"), [
    ({"start": 1}, r"`start`.*\b1\b"),
    ({"start": 200}, (r"`start`.*\b200\b")),
    ({"limit": 151}, (r"`limit`.*\b151\b")),
    ({"start": 30, "limit": 20}, r"`limit`.*`start`.*\b30\b.*\b20\b"),
    ({"growth": 1}, r"`growth`.*not 1\b"),
    ({"growth": "a"}, r"`growth`.*'a'"),
    ({"refine_rank": 0}, r"`refine_rank`.*\b0\b"),
    ({"start": 5, "refine_rank": 5}, (r"`refine_rank`.*\b5, not 5\b")),
    ({"pool": "some"}, r"`pool`.*'all', 'unseen'.*'some'"),
    ({"replacement": None}, r"`replacement`.*True.*False.*\bNone\b"),
])  # fmt: skip
def test_bad_arguments(world, settings, message):
    scorer, _, targets, _ = world
    with pytest.raises(InputError, match=message):
        sample_ranks(scorer, targets, rng=0, design=Adaptive(**settings))


def test_users_without_a_pool():
    scores = np.arange(12.0).reshape(2, 6)
    exclude, design = csr_array(np.ones((2, 6))), Adaptive(2, limit=4, pool="unseen")
    sample = sample_ranks(scores, ([0, 1], [5, 3]), exclude=exclude, design=design)
    assert (sample.rows.rank == 1).all()
    assert sample.exhausted
    design = design.with_(replacement=True)
    with pytest.raises(InputError, match=r"`design`.*without replacement.*\b2 of 2\b"):
        sample_ranks(scores, ([0, 1], [5, 3]), exclude=exclude, design=design)
