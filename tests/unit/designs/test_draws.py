import numpy as np
import pytest

from fullrank.data.targets import clean_exclude, clean_targets
from fullrank.designs import draw_kernels as kernels
from fullrank.designs.draws import Pools, make_pools, philox4x32, reference_indices, seed_key
from fullrank.errors import InputError

ONES = 2**32 - 1
# Random123's known answers for philox4x32, 10 rounds: counter, key words, result.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES,) * 4, (ONES, ONES), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]

# What seed 2024 gives user row 3 in a pool of 1000.
GOLDEN_WITH = [300, 60, 487, 948, 646, 647]
GOLDEN_WITHOUT = [119, 113, 645, 549, 683, 742]
GOLDEN_TIE = 2074757719996407596


def indices(key, user, size, first, count, *, replacement):
    out = np.empty(count, np.int64)
    left, right = np.empty(count, np.uint32), np.empty(count, np.uint32)
    kernels.fill_indices(np.uint64(key), user, size, first, replacement, out, left, right)
    return out


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_philox_known_answers(counter, key, words):
    whole = key[0] | key[1] << 32
    assert philox4x32(counter, whole) == words
    compiled = kernels.philox(*(np.uint64(c) for c in counter), np.uint64(whole))
    assert tuple(int(w) for w in compiled) == words


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 63, 64, 1023, 1024, 9916, 10**6, 2**31 - 2])
def test_kernel_equals_reference(size, replacement):
    count = 41 if replacement else min(size, 41)
    for key, user in [(0, 0), (7, 3), (2**64 - 1, 2**32 + 5), (123456789, 2**40)]:
        expected = reference_indices(key, user, size, count, replacement=replacement)
        got = indices(key, user, size, 0, count, replacement=replacement)
        assert got.tolist() == expected


@pytest.mark.parametrize("replacement", [True, False])
def test_draws_can_start_anywhere(replacement):
    whole = indices(5, 9, 500, 0, 100, replacement=replacement)
    for first in (0, 1, 2, 37, 98, 99):
        for count in (0, 1, 2, 3, 100 - first):
            count = min(count, 100 - first)
            part = indices(5, 9, 500, first, count, replacement=replacement)
            np.testing.assert_array_equal(part, whole[first : first + count])


def test_without_replacement_is_a_permutation_of_every_pool():
    for size in range(1, 2049):
        for key in (0, 2**63 + size):
            out = indices(key, size, size, 0, size, replacement=False)
            np.testing.assert_array_equal(np.sort(out), np.arange(size))


def test_streams_differ_by_key_user_and_purpose():
    draws = {
        tuple(indices(key, user, 10**6, 0, 8, replacement=replacement))
        for key in (1, 2, 2**32 + 1)
        for user in (0, 1, 2**32)
        for replacement in (True, False)
    }
    assert len(draws) == 18


def test_int_seed_gives_these_draws_for_ever():
    assert indices(2024, 3, 1000, 0, 6, replacement=True).tolist() == GOLDEN_WITH
    assert indices(2024, 3, 1000, 0, 6, replacement=False).tolist() == GOLDEN_WITHOUT
    assert int(kernels.tie_word(np.uint64(2024), 3, 17)) == GOLDEN_TIE


def test_tie_word_is_the_philox_word_of_the_item():
    user, item, key = 2**33 + 4, 77, 99
    high, low, _, _ = philox4x32((item, user % 2**32, user >> 32, 2), key)
    assert int(kernels.tie_word(np.uint64(key), user, item)) == high << 32 | low


def pools_of(targets, n_items, *, exclude=None, items=None, pool="all"):
    clean = clean_targets(targets, n_users=None, n_items=n_items)
    exclusion = clean_exclude(exclude, n_items=n_items, targets=clean, items=items)
    return make_pools(clean, n_items=n_items, items=items, exclusion=exclusion, pool=pool)


def sparse(rows, shape):
    from scipy.sparse import csr_array

    matrix = np.zeros(shape)
    for user, items in rows.items():
        matrix[user, items] = 1
    return csr_array(matrix)


TARGETS = ([0, 0, 2, 5], [3, 9, 0, 19])


def draw(pools: Pools, count, **settings):
    groups = np.arange(pools.users.size)
    return pools.draw(4, groups, np.zeros(3, np.int64), np.asarray(count), **settings)


def test_pool_all_is_every_item_but_the_targets():
    pools = pools_of(TARGETS, 20)
    assert pools.sizes.tolist() == [18, 19, 19]
    drawn = draw(pools, pools.sizes, replacement=False)
    assert drawn[0, 18:].tolist() == [-1]
    for row, holes in zip(drawn, [(3, 9), (0,), (19,)], strict=True):
        assert sorted(row[row >= 0]) == sorted(set(range(20)) - set(holes))


def test_pool_unseen_leaves_out_excluded_items():
    exclude = sparse({0: [0, 1, 2, 3], 2: [18, 19], 4: [5]}, (6, 20))
    pools = pools_of(TARGETS, 20, exclude=exclude, pool="unseen")
    assert pools.sizes.tolist() == [15, 17, 19]
    drawn = draw(pools, pools.sizes, replacement=False)
    for row, holes in zip(drawn, [(0, 1, 2, 3, 9), (0, 18, 19), (19,)], strict=True):
        assert sorted(row[row >= 0]) == sorted(set(range(20)) - set(holes))


def test_pool_of_a_catalogue_holds_its_items():
    items = np.array([0, 3, 4, 9, 12, 19])
    pools = pools_of(TARGETS, 20, items=items)
    assert pools.sizes.tolist() == [4, 5, 5]
    drawn = draw(pools, pools.sizes, replacement=False)
    assert sorted(drawn[0]) == [-1, 0, 4, 12, 19]
    assert sorted(drawn[1]) == [3, 4, 9, 12, 19]


def test_an_index_steps_over_holes():
    pools = pools_of(TARGETS, 20)
    drawn = draw(pools, [5, 5, 5], replacement=True)
    for group, (user, holes) in enumerate([(0, (3, 9)), (2, (0,)), (5, (19,))]):
        left = np.setdiff1d(np.arange(20), holes)
        expected = left[reference_indices(4, user, left.size, 5, replacement=True)]
        np.testing.assert_array_equal(drawn[group], expected)


@pytest.mark.parametrize("replacement", [True, False])
def test_a_user_draws_the_same_in_any_company(replacement):
    users = np.array([0, 7, 31, 64, 65, 2**33])
    pools = pools_of((users, [1, 2, 3, 4, 5, 6]), 40)
    groups = np.arange(6)
    zero, count = np.zeros(6, np.int64), np.full(6, 12)
    whole = pools.draw(1, groups, zero, count, replacement=replacement)
    for one in groups:
        part = pools.draw(1, groups[[one]], zero[:1], count[:1], replacement=replacement)
        np.testing.assert_array_equal(part[0], whole[one])
    again = pools_of(([65], [5]), 40)
    alone = again.draw(1, np.array([0]), zero[:1], count[:1], replacement=replacement)
    np.testing.assert_array_equal(alone[0], whole[4])


def test_seed_key():
    assert seed_key(0) == 0
    assert seed_key(np.int64(12)) == 12
    assert seed_key(2**64 - 1) == 2**64 - 1
    large = np.random.SeedSequence(2**64 + 1).generate_state(1, np.uint64)[0]
    assert seed_key(2**64 + 1) == large
    sequence = np.random.SeedSequence(5)
    assert seed_key(sequence) == seed_key(sequence) == sequence.generate_state(1, np.uint64)[0]
    random = np.random.default_rng(5)
    assert seed_key(random) != seed_key(random)
    assert seed_key(np.random.default_rng(5)) == seed_key(np.random.default_rng(5))
    assert seed_key() != seed_key()


@pytest.mark.parametrize("bad", [-1, 1.5, "7", True])
def test_seed_key_rejects(bad):
    with pytest.raises(InputError, match=rf"`rng`.*{bad!r}"):
        seed_key(bad)


def test_unseen_needs_exclude():
    with pytest.raises(InputError, match=r'`exclude`.*pool="unseen"'):
        pools_of(TARGETS, 20, pool="unseen")


def test_too_many_items():
    with pytest.raises(InputError, match=r"2\^31.*\b2147483648\b"):
        pools_of(TARGETS, 2**31)
