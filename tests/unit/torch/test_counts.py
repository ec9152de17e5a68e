"""`counts` beside a loop over candidates, on the processor."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch")

from fullrank.errors import InputError  # noqa: E402
from fullrank.torch import counts  # noqa: E402
from tests.unit.torch.brute_force import count, count_rows  # noqa: E402

KINDS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def made(random, shape, kind, special=0.0):
    """Scores with many ties, and some -inf, inf, 0.0 and -0.0."""
    scores = torch.from_numpy(random.normal(size=shape) * 4).round().to(kind)
    which = torch.from_numpy(random.random(shape))
    for k, value in enumerate((-np.inf, np.inf, 0.0, -0.0)):
        scores[(which >= k * special) & (which < (k + 1) * special)] = value
    return scores


def made_exclusions(random, n_rows, n_items):
    return [
        random.choice(n_items, random.integers(0, n_items), replace=True) for _ in range(n_rows)
    ]


def padded(lists, dtype=torch.int64):
    width = max(map(len, lists), default=0)
    rows = [[*one, *[-1] * (width - len(one))] for one in lists]
    return torch.tensor(rows, dtype=dtype).reshape(len(lists), width)


def forms(lists, n_items):
    """The same exclusion in each form that is taken."""
    mask = np.zeros((len(lists), n_items), bool)
    for row, one in enumerate(lists):
        mask[row, one] = True
    rows = np.repeat(np.arange(len(lists)), [len(one) for one in lists])
    columns = np.concatenate(lists)
    mixed = np.random.default_rng(0).permutation(rows.size)
    return {
        "mask": torch.from_numpy(mask),
        "columns": padded(lists),
        "int32": padded(lists, torch.int32),
        "pairs": (torch.from_numpy(rows[mixed]), torch.from_numpy(columns[mixed])),
        "arrays": (rows, columns),
        "lists": [one.tolist() for one in lists],
        "sets": [set(one.tolist()) for one in lists],
        "tensors": [torch.from_numpy(one) for one in lists],
        "scipy": sparse.csr_matrix(mask.astype(np.float32)),
        "stored zeros": stored_zeros(mask),
        "torch": torch.from_numpy(mask).to_sparse(),
        "torch, numbers": torch.from_numpy(mask).float().to_sparse(),
    }


def stored_zeros(mask):
    """A sparse array that stores what it does not exclude, too."""
    found = sparse.csc_array(np.ones(mask.shape))
    found.data = mask.T.astype(float).ravel()
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("special", [0.0, 0.1])
def test_every_form_of_exclusion(kind, special):
    random = np.random.default_rng(3)
    scores = made(random, (7, 31), kind, special)
    target = random.integers(0, 31, 7)
    lists = made_exclusions(random, 7, 31)
    lists[2] = np.append(lists[2], target[2])  # its own
    plain = scores.double().numpy()
    assert counts(scores, torch.from_numpy(target)).tolist() == count_rows(plain, target).tolist()
    expected = count_rows(plain, target, lists)
    for name, form in forms(lists, 31).items():
        found = counts(scores, torch.from_numpy(target), exclude=form)
        assert found.dtype == torch.int64
        np.testing.assert_array_equal(found.numpy(), expected, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_several_targets_and_padding(kind):
    random = np.random.default_rng(4)
    scores = made(random, (6, 23), kind, 0.1)
    target = random.integers(-3, 23, (6, 4))
    lists = made_exclusions(random, 6, 23)
    plain = scores.double().numpy()
    for exclude, known in ((None, None), (padded(lists), lists), (forms(lists, 23)["mask"], lists)):
        found = counts(scores, torch.from_numpy(target), exclude=exclude)
        np.testing.assert_array_equal(found.numpy(), count_rows(plain, target, known))


def test_positions_of_sequences():
    random = np.random.default_rng(5)
    scores = made(random, (3, 5, 17), torch.float32, 0.1)
    target = random.integers(-2, 17, (3, 5))
    target[0, 0] = -100
    flat = scores.double().numpy().reshape(15, 17)
    lists = made_exclusions(random, 15, 17)
    expected = count_rows(flat, target.reshape(-1), lists).reshape(3, 5, 3)
    mask = forms(lists, 17)["mask"].reshape(3, 5, 17)
    columns = padded(lists).reshape(3, 5, -1)
    for form in (mask, columns):
        found = counts(scores, torch.from_numpy(target), exclude=form)
        np.testing.assert_array_equal(found.numpy(), expected)
    cut = counts(scores[:, :-1], torch.from_numpy(target[:, 1:]))
    expected = count_rows(
        scores[:, :-1].double().numpy().reshape(12, 17), target[:, 1:].reshape(-1)
    )
    np.testing.assert_array_equal(cut.reshape(12, 3).numpy(), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("view", ["transposed", "every second", "from the middle", "expanded"])
def test_blocks_that_are_not_contiguous(kind, view):
    random = np.random.default_rng(6)
    scores = made(random, (12, 12), kind, 0.1)
    scores = {
        "transposed": lambda: scores.T,
        "every second": lambda: scores[::2, ::2],
        "from the middle": lambda: scores[3:, 5:],
        "expanded": lambda: scores[:1].expand(4, 12),
    }[view]()
    target = random.integers(0, scores.shape[1], scores.shape[0])
    lists = made_exclusions(random, *scores.shape)
    for exclude, known in (
        (None, None),
        (padded(lists), lists),
        (forms(lists, scores.shape[1])["mask"], lists),
    ):
        found = counts(scores, torch.from_numpy(target), exclude=exclude)
        np.testing.assert_array_equal(
            found.numpy(), count_rows(scores.double().numpy(), target, known)
        )


def test_a_few_by_hand():
    nan, inf = float("nan"), float("inf")
    scores = torch.tensor(
        [
            [0.0, -0.0, 1.0, -inf],  # -0.0 ties with 0.0; a masked item is no candidate
            [inf, inf, 1.0, -inf],
            [-inf, -inf, 1.0, 2.0],  # a target that is masked ranks last
            [-inf, -inf, -inf, -inf],
            [0.0, nan, 1.0, 2.0],
            [nan, 0.0, 1.0, 2.0],
            [0.0, 1.0, 2.0, 3.0],
            [0.0, 1.0, nan, 3.0],
        ]
    )
    target = torch.tensor([0, 0, 0, 1, 0, 0, 4, -100])
    assert counts(scores, target).tolist() == [
        [1, 1, 3], [0, 1, 3], [2, 0, 3], [0, 0, 1], [-1] * 3, [-1] * 3, [-2] * 3, [0] * 3,
    ]  # fmt: skip
    excluded = torch.tensor([[1, 1, 0], [2, -1, -1], [2, 3, 0], [1, 1, 1], [1, 1, 1], [0, 0, 0],
                             [0, 0, 0], [4, 5, 6]])  # fmt: skip
    assert counts(scores, target, exclude=excluded).tolist() == [
        [1, 0, 2], [0, 1, 2], [0, 0, 1], [0, 0, 1], [2, 0, 3], [-1] * 3, [-2] * 3, [0] * 3,
    ]  # fmt: skip
    excluded[1, 2] = 4
    assert counts(scores, target, exclude=excluded)[1].tolist() == [-2] * 3
    assert counts(scores, target, exclude=(torch.tensor([0, 8]), torch.tensor([4, 0])))[
        [0, 1, 7]
    ].tolist() == [[-2] * 3, [0, 1, 3], [0] * 3]


def test_the_smallest_blocks():
    whole, both = torch.int64, torch.tensor([0, 0])
    one = torch.tensor([[0.5], [float("-inf")]])
    assert counts(one, both).tolist() == [[0, 0, 1]] * 2
    assert counts(one, both, exclude=both[:, None]).tolist() == [[0, 0, 1]] * 2
    none = torch.empty(0, 5)
    assert counts(none, torch.empty(0, dtype=whole)).shape == (0, 3)
    assert counts(none, torch.empty(0, 2, dtype=whole), exclude=[]).shape == (0, 2, 3)
    ones = torch.ones(2, 3)
    assert counts(ones, torch.empty(2, 0, dtype=whole)).shape == (2, 0, 3)
    assert counts(ones[:, None][:, :0], torch.empty(2, 0, dtype=whole)).shape == (2, 0, 3)
    for nothing in (torch.empty(2, 0, dtype=whole), ([], []), [[], []]):
        assert counts(ones, both, exclude=nothing).tolist() == [[0, 2, 3]] * 2
    assert counts(ones, [0, 1], exclude=[[], [0]]).tolist() == [[0, 2, 3], [0, 1, 2]]


def test_targets_of_any_whole_type_and_scores_with_gradients():
    scores = torch.tensor([[3.0, 1.0, 2.0]], requires_grad=True)
    for kind in (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64):
        assert counts(scores * 2, torch.tensor([2], dtype=kind)).tolist() == [[1, 0, 3]]
    assert not counts(scores, torch.tensor([2])).requires_grad
    with torch.no_grad():
        assert counts(scores, np.array([1])).tolist() == [[2, 0, 3]]
    assert scores.tolist() == [[3.0, 1.0, 2.0]]


def test_arrays_that_torch_cannot_share():
    scores = torch.tensor([[3.0, 1.0, 2.0], [1.0, 2.0, 2.0]])
    frozen = np.array([2, 1])
    frozen.setflags(write=False)
    expected = [[1, 0, 3], [0, 1, 3]]
    assert counts(scores, frozen).tolist() == expected
    assert counts(scores, np.array([1, 2])[::-1]).tolist() == expected
    assert counts(scores, np.array([2, 1], ">i4")).tolist() == expected
    lists = [frozen[:0], frozen[:1]]
    assert counts(scores, frozen, exclude=lists).tolist() == [[1, 0, 3], [0, 0, 2]]
    assert counts(scores, frozen, exclude=(frozen[1:], frozen[:1])).tolist() == [
        [1, 0, 3],
        [0, 0, 2],
    ]


def test_as_many_columns_as_items():
    """A row may have them all; only zeros and ones would be a mask."""
    scores = torch.tensor([[3.0, 1.0, 2.0]])
    every = torch.tensor([[2, 0, 1]])
    assert counts(scores, every).tolist() == [[[1, 0, 3], [0, 0, 3], [2, 0, 3]]]
    padded = torch.tensor([[0, 1, -1]])
    assert counts(scores, torch.tensor([2]), exclude=padded).tolist() == [[0, 0, 1]]
    assert counts(scores[:, :2], padded[:, :2], exclude=padded[:, 1:]).tolist() == [
        [[0, 0, 1], [1, 0, 2]]
    ]


def test_what_comes_from_a_device_has_arrived():
    """A copy to the host that does not block would be read too early."""
    asked = []

    class OnDevice(torch.Tensor):
        def to(self, *arguments, non_blocking=False, **settings):
            asked.append(non_blocking)
            return torch.tensor([2])

    target = torch.tensor([0]).as_subclass(OnDevice)
    assert counts(torch.tensor([[3.0, 1.0, 2.0]]), target).tolist() == [[1, 0, 3]]
    assert asked == [False]


def test_floats_of_eight_bits():
    scores = torch.tensor([[1.0, 2.0, 2.0, 0.5]]).to(torch.float8_e4m3fn)
    assert counts(scores, torch.tensor([1])).tolist() == [[0, 1, 4]]


ONES = torch.ones(2, 3)
BOTH = torch.tensor([0, 0])


@pytest.mark.parametrize(
    ("scores", "target", "exclude", "message"),
    [
        (ONES.long(), BOTH, None, "`scores`.*float.*int64"),
        (ONES.numpy(), BOTH, None, "`scores`.*tensor.*ndarray"),
        (ONES[0], BOTH, None, r"`scores`.*\(3,\)"),
        (ONES[:, :0], BOTH, None, r"`scores`.*\(2, 0\)"),
        (ONES, [0.0, 0.0], None, "`target`.*whole.*float"),
        (ONES, [True, False], None, "`target`.*whole.*bool"),
        (ONES, [0, 0, 0], None, r"`target`.*\(2, 3\).*\(3,\)"),
        (ONES[:, None], BOTH, None, r"`target`.*positions.*\(2,\)"),
        (ONES, "no", None, "`target`"),
        (ONES, BOTH, ONES[:, :2].bool(), r"`exclude`.*\(2, 3\).*\(2, 2\)"),
        (ONES, BOTH, ONES, "`exclude`.*float32"),
        (ONES, BOTH, ONES.byte(), r"`exclude`.*mask.*bool.*uint8"),
        (ONES, BOTH, ONES.long(), r"`exclude`.*mask.*bool.*int64"),
        (ONES[:, None], BOTH[:, None], ONES[:, None].int(), r"`exclude`.*mask.*bool.*int32"),
        (ONES, torch.eye(2, 3, dtype=torch.int64), None, "`target`.*columns.*0 or 1"),
        (ONES, BOTH, sparse.csr_array(np.ones((3, 2))), r"`exclude`.*\(2, 3\).*\(3, 2\)"),
        (ONES[:, None], BOTH[:, None], ONES.to_sparse(), "`exclude`.*3 dimensions"),
        (ONES, BOTH.to_sparse(), None, "`target`.*dense"),
        (ONES, BOTH, BOTH, r"`exclude`.*\(2, any\).*\(2,\)"),
        (ONES, BOTH, BOTH[:1, None], r"`exclude`.*\(2, any\).*\(1, 1\)"),
        (ONES, BOTH, [[1]], "`exclude`.*2 in all, not 1"),
        (ONES, BOTH, [[1], [0.5]], "`exclude`.*float64"),
        (ONES, BOTH, ([0], [1], [2]), "`exclude`.*tuple of length 3"),
        (ONES, BOTH, ([0], [1, 2]), r"`exclude`.*\(1,\).*\(2,\)"),
        (ONES, BOTH, ([0.5], [1]), "`exclude`.*float64"),
    ],
)
def test_wrong_arguments(scores, target, exclude, message):
    with pytest.raises(InputError, match=message):
        counts(scores, target, exclude=exclude)


def test_parts_of_a_block(monkeypatch):
    """The same counts whatever is looked at together."""
    from fullrank.torch import counting, excluded_tally, exclusions, tally

    random = np.random.default_rng(7)
    scores = made(random, (9, 40), torch.float32, 0.05)
    target = torch.from_numpy(random.integers(-1, 40, (9, 2)))
    lists = made_exclusions(random, 9, 40)
    every = forms(lists, 40)
    expected = count_rows(scores.double().numpy(), target.numpy(), lists)
    monkeypatch.setattr(tally, "CELLS", 9 * 7)
    monkeypatch.setattr(tally, "THREADED", 1)
    monkeypatch.setattr(exclusions, "CELLS", 11)
    monkeypatch.setattr(excluded_tally, "CELLS", 11)
    for way in (tally.by_loops, tally.by_torch):
        monkeypatch.setattr(counting, "tally", way)
        if way is tally.by_torch:
            monkeypatch.setattr(excluded_tally, "by_loops", excluded_tally.by_torch)
        for block in (scores, scores.T.contiguous().T):
            for name in ("mask", "columns", "pairs"):
                found = counts(block, target, exclude=every[name])
                np.testing.assert_array_equal(found.numpy(), expected, err_msg=name)


def test_not_a_number_among_numbers():
    """NaN of either sign, between other scores, in every type; +inf is a score."""
    for kind in KINDS:
        row = torch.tensor([1.0, float("inf"), -1.0, 0.5, 2.0, 3.0]).to(kind)
        bad = torch.stack([row, row, row, row])
        bad[1, 4], bad[2, 4] = float("nan"), -float("nan")
        bad[3] = torch.tensor(float("nan")).to(kind)
        target = torch.zeros(4, dtype=torch.int64)
        assert counts(bad, target).tolist() == [[3, 0, 6], [-1] * 3, [-1] * 3, [-1] * 3]
        gone = torch.full((4, 1), 4)
        mask = torch.zeros(4, 6, dtype=torch.bool)
        mask[:, 4] = True
        for exclude in (gone, mask):
            found = counts(bad, target, exclude=exclude).tolist()
            assert found == [[2, 0, 5]] * 3 + [[-1] * 3]


def test_the_brute_force():
    assert count([1.0, 2.0, 2.0, 3.0], 1, {3}) == [0, 1, 3]
