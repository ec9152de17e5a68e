"""The draws of the device are those of the CPU, item by item."""

import numpy as np
import pytest
import triton
import triton.language as tl

from fullrank._lib.device import open_device
from fullrank.designs import Rounds
from fullrank.designs.draws import Pools, philox4x32, reference_indices
from fullrank.ranking.cuda.draws import user_words
from fullrank.ranking.cuda.sampled import device_data
from fullrank.ranking.cuda.sampled.device_data import Gpu, draw, draws_of, make_group

KEY = 2**63 + 12345
FAR = 2**33 + 5  # a user row whose upper half is not zero


def gpu_for(key):
    torch, device = open_device("cuda")
    words = torch.from_numpy(np.array([key], np.uint64).view(np.int64)).to(device)
    return Gpu(torch=torch, device=device, key=words, ties=2)


def pools_of(users, holes, n_items, items=None):
    return Pools(
        users=np.asarray(users),
        indptr=np.concatenate(([0], np.cumsum([len(one) for one in holes]))),
        holes=np.concatenate([np.asarray(one, np.int32) for one in holes]),
        n_items=n_items,
        items=items,
    )


def both(pools, first, count, *, replacement):
    """The draws of the device and of the CPU."""
    gpu = gpu_for(KEY)
    whole = slice(0, pools.users.size)
    names = None if pools.items is None else gpu.move(pools.items)
    drawing = Rounds((2,), (), replacement).drawing
    group = make_group(gpu, pools.users, None, pools, whole, names, drawing)
    first, count = np.asarray(first), np.asarray(count)
    every = np.arange(pools.users.size)
    own = draw(gpu, group, *(gpu.move(one) for one in (every, first, count)))
    expected = pools.draw(KEY, every, first, count, replacement=replacement)
    return own.cpu().numpy()[:, : expected.shape[1]], expected


@triton.jit
def four_blocks(users, key, out):
    word = tl.load(key).to(tl.uint64)
    block = tl.arange(0, 4)
    user = tl.load(users + tl.program_id(0))
    words = user_words(block, user, 1, word & 0xFFFFFFFF, word >> 32)
    for i in tl.static_range(4):
        tl.store(out + (tl.program_id(0) * 4 + block) * 4 + i, words[i].to(tl.int64))


def test_words_are_those_of_the_reference():
    gpu = gpu_for(KEY)
    users = np.array([7, FAR])
    out = gpu.zeros(32)
    four_blocks[(2,)](gpu.move(users), gpu.key, out)
    expected = [
        philox4x32((block, user % 2**32, user >> 32, 1), KEY)
        for user in users.tolist()
        for block in range(4)
    ]
    np.testing.assert_array_equal(out.cpu().numpy().reshape(8, 4), expected)


@pytest.mark.verify
def test_a_user_may_draw_all_of_a_large_catalogue(monkeypatch):
    """CUDA has at most 65,535 programs in the second dimension."""
    assert [draws_of(width) for width in (1, 65_535 * 64, 65_535 * 64 + 1)] == [64, 64, 128]
    assert -(-(2**31 - 1) // draws_of(2**31 - 1)) <= 65_535
    monkeypatch.setattr(device_data, "draws_of", lambda width: 256)
    own, expected = both(pools_of([3], [[4]], 400), [0], [399], replacement=False)
    np.testing.assert_array_equal(own, expected)


def test_draws_with_replacement():
    pools = pools_of([0, FAR, 9], [[4], [0, 1, 5, 2**31 - 3], []], 2**31 - 2)
    own, expected = both(pools, [0, 3, 64], [7, 4, 6], replacement=True)
    np.testing.assert_array_equal(own, expected)
    assert expected[0].tolist() == [
        x + (x >= 4) for x in reference_indices(KEY, 0, 2**31 - 3, 7, replacement=True)
    ]


@pytest.mark.breadth
@pytest.mark.parametrize(("n_items", "count"), [(12, 11), (101, 20), (1500, 9), (2**31 - 2, 9)])
def test_draws_without_replacement(n_items, count):
    """48, 24 and 12 rounds; cycles are walked in all but the last two, where it is rare."""
    pools = pools_of([3, FAR], [[5], [0, 1, n_items - 1]], n_items)
    counts = [count, min(count, n_items - 3)]
    own, expected = both(pools, [0, 0], counts, replacement=False)
    np.testing.assert_array_equal(own, expected)
    if n_items == 12:
        assert sorted(own[0]) == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]


@pytest.mark.verify
def test_later_draws_go_on_where_the_first_ended():
    pools = pools_of([3], [[5]], 1025)
    whole, _ = both(pools, [0], [12], replacement=False)
    rest, expected = both(pools, [5], [7], replacement=False)
    np.testing.assert_array_equal(rest, expected)
    np.testing.assert_array_equal(rest, whole[:, 5:])


def test_empty_pools_and_catalogues():
    items = np.array([2, 3, 11, 40])
    pools = pools_of([0, 1], [[0, 1, 2, 3], [2]], 4, items)
    own, expected = both(pools, [0, 0], [0, 3], replacement=False)
    np.testing.assert_array_equal(own, expected)
    assert own[0].tolist() == [-1, -1, -1]
    assert sorted(own[1]) == [2, 3, 40]


@pytest.mark.gpu
@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("n_items", [40, 700, 10**5, 2**31 - 2])
def test_many_draws(n_items, replacement):
    random = np.random.default_rng(0)
    holes = [np.unique(random.integers(0, n_items, random.integers(0, 20))) for _ in range(3_000)]
    pools = pools_of(np.sort(random.integers(0, 2**40, 3_000)), holes, n_items)
    first = random.integers(0, 5, 3_000)
    count = np.minimum(pools.sizes - first, random.integers(0, 200, 3_000))
    own, expected = both(pools, first, count, replacement=replacement)
    np.testing.assert_array_equal(own, expected)
