import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.data.targets import clean_targets
from fullrank.designs import Adaptive, Uniform
from fullrank.designs.draws import make_pools, reference_indices
from fullrank.ranking import sample_ranks

seeds = st.integers(0, 2**64 - 1)
rows = st.integers(0, 2**45)


@st.composite
def pools(draw):
    n_items = draw(st.integers(2, 300))
    user = draw(rows)
    targets = draw(st.sets(st.integers(0, n_items - 1), min_size=1, max_size=min(8, n_items - 1)))
    order = draw(st.permutations(sorted(targets)))
    clean = clean_targets(([user] * len(order), order), n_users=None, n_items=n_items)
    return make_pools(clean, n_items=n_items), user, np.array(sorted(targets)), n_items


def drawn(pool, seed, first, count, **settings):
    one = np.array([0])
    return pool.draw(seed, one, np.array([first]), np.array([count]), **settings)[0]


@given(pools(), seeds, st.booleans(), st.data())
@settings(deadline=None)
def test_draws_equal_the_reference_and_nest(case, seed, replacement, data):
    pool, user, targets, n_items = case
    left = np.setdiff1d(np.arange(n_items), targets)
    most = 60 if replacement else min(60, left.size)
    count = data.draw(st.integers(1, most))
    cut = data.draw(st.integers(0, count))
    whole = drawn(pool, seed, 0, count, replacement=replacement)
    index = reference_indices(seed, user, left.size, count, replacement=replacement)
    np.testing.assert_array_equal(whole, left[index])
    parts = [
        drawn(pool, seed, first, n, replacement=replacement)
        for first, n in ((0, cut), (cut, count - cut))
    ]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


@given(pools(), seeds)
@settings(deadline=None)
def test_the_whole_pool_is_drawn_once(case, seed):
    pool, _, targets, n_items = case
    left = np.setdiff1d(np.arange(n_items), targets)
    everything = drawn(pool, seed, 0, left.size, replacement=False)
    np.testing.assert_array_equal(np.sort(everything), left)


@given(
    st.integers(3, 60), st.integers(1, 12), seeds, st.sampled_from(["best", "worst", "random"]),
    st.integers(0, 2**32 - 1), st.integers(1, 5),
)  # fmt: skip
@settings(deadline=None, max_examples=60)
def test_permuting_users_and_batches_changes_nothing(n_items, n_users, seed, ties, world, batch):
    random = np.random.default_rng(world)
    scores = random.integers(0, 5, (n_users, n_items)).astype(float)
    targets = np.arange(n_users), random.integers(0, n_items, n_users)
    shuffle = random.permutation(n_users)
    moved = targets[0][shuffle], targets[1][shuffle]
    common = {"ties": ties, "rng": seed}
    for design in (Uniform(2 + n_items // 3), Adaptive(2, limit=n_items)):
        common["design"] = design
        plain = sample_ranks(scores, targets, **common).rows
        other = sample_ranks(scores, moved, batch_size=batch, n_jobs=2, **common).rows
        np.testing.assert_array_equal(other.rank, plain.rank[shuffle])
        np.testing.assert_array_equal(other.sample_size, plain.sample_size[shuffle])
