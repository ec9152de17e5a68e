"""`fullrank.torch.counts` on a GPU: the counts of the processor on the same scores."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from fullrank.torch import counting, counts, cuda_counts, tally  # noqa: E402

DEVICE = torch.device("cpu" if os.environ.get("TRITON_INTERPRET") == "1" else "cuda:0")
KINDS = (torch.float32, torch.bfloat16, torch.float16, torch.float64)


@pytest.fixture
def by_kernel(monkeypatch):
    """Small tiles, and the kernel wherever scores are."""
    monkeypatch.setattr(cuda_counts, "BLOCK", 16)
    monkeypatch.setattr(cuda_counts, "UNROLL", 2)
    monkeypatch.setattr(cuda_counts, "STEPS", 2)
    if DEVICE.type == "cpu":
        monkeypatch.setattr(counting, "usable", lambda block: True)
    with np.errstate(invalid="ignore", over="ignore"):
        yield


def made(random, shape, kind, *, special=True):
    scores = torch.from_numpy(random.normal(size=shape) * 3).round().to(kind)
    if special:
        which = torch.from_numpy(random.random(shape))
        for k, value in enumerate((-np.inf, np.inf, 0.0, -0.0)):
            scores[(which >= k / 20) & (which < (k + 1) / 20)] = value
    return scores


def there_too(exclude):
    if isinstance(exclude, tuple):
        return tuple(one.to(DEVICE) for one in exclude)
    return None if exclude is None else exclude.to(DEVICE)


def check(scores, target, exclude=None):
    there = there_too(exclude)
    found = counts(scores.to(DEVICE), target.to(DEVICE), exclude=there)
    assert found.device.type == DEVICE.type
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "usable", lambda block: False)
        patch.setattr(counting, "tally", tally.by_torch)
        expected = counts(scores, target, exclude=exclude)
    assert torch.equal(found.cpu(), expected)
    return expected


@pytest.mark.breadth
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_items", [173, 1, 16, 64, 65, 129])
def test_the_counts_of_the_processor(by_kernel, kind, n_items):
    random = np.random.default_rng(n_items)
    scores = made(random, (5, n_items), kind)
    target = torch.from_numpy(random.integers(-1, n_items, (5, 2)))
    check(scores, target)
    check(scores, target, torch.from_numpy(random.integers(-1, n_items, (5, 7))))
    check(scores, target, torch.from_numpy(random.random((5, n_items)) < 0.3))
    rows, cells = random.integers(5, size=40), random.integers(-1, n_items, 40)
    check(scores, target, (torch.from_numpy(rows), torch.from_numpy(cells)))


def test_columns_and_rows_that_lie_outside(by_kernel):
    scores = made(np.random.default_rng(3), (4, 20), torch.float32, special=False)
    target = torch.tensor([[0, 20], [25, 3], [-1, 4], [5, 5]])
    check(scores, target)
    expected = check(scores, target, torch.tensor([[1, 2], [2, 20], [2, 99], [-1, -7]]))
    assert expected[..., 0].tolist()[1:3] == [[-2, -2], [0, -2]]
    rows = torch.tensor([3, 4, -1, 1, 1, 9])
    check(scores, target, (rows, torch.tensor([5, 1, 2, -1, 3, -4])))
    check(scores, target[:, :0], torch.tensor([[1], [2], [3], [4]]))


def test_not_a_number(by_kernel):
    random = np.random.default_rng(1)
    for kind in KINDS:
        scores = made(random, (6, 150), kind)
        scores[1, 3] = scores[2, 149] = scores[4, 70] = float("nan")
        target = torch.tensor([0, 0, 149, 1, 2, -100])
        expected = check(scores, target)
        assert (expected[:, 0] == -1).tolist() == [False, True, True, False, True, False]
        gone = torch.tensor([[3], [3], [149], [0], [70], [0]])
        expected = check(scores, target, gone)
        assert (expected[:, 0] == -1).tolist() == [False, False, True, False, False, False]
        check(scores, target, torch.zeros(6, 150, dtype=torch.bool).scatter(1, gone, True))


@pytest.mark.breadth
@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_start_anywhere(by_kernel, kind):
    random = np.random.default_rng(2)
    whole = made(random, (4, 5, 201), kind)
    target = torch.from_numpy(random.integers(-1, 150, (4, 4)))
    check(whole[:, :-1, 7:157], target)
    mask = torch.from_numpy(random.random((4, 4, 150)) < 0.3)
    check(whole[:, 1:, 7:157], target, mask)
    flat = whole.reshape(20, 201)
    check(flat[:4, 3:], target[:, 0], torch.from_numpy(random.random((4, 198)) < 0.3))
    check(flat[::2, :33].contiguous()[:4], target.clamp(max=32))
    check(flat[:1].expand(4, 201), target)
    check(flat[:4], target[:, :1], torch.from_numpy(random.random((1, 201)) < 0.3).expand(4, 201))
    check(flat[:4], target[:, :1], torch.from_numpy(random.random((201, 4)) < 0.3).T)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_items", [1_000_003, 100_000])
def test_many_scores_on_a_gpu(kind, n_items):
    random = np.random.default_rng(5)
    scores = made(random, (64, n_items), kind)
    target = torch.from_numpy(random.integers(-1, n_items, (64, 3)))
    check(scores, target)
    check(scores, target, torch.from_numpy(random.integers(-1, n_items, (64, 300))))
    check(scores, target, torch.from_numpy(random.random((64, n_items)) < 0.01))
    check(scores.T.contiguous().T, target[:, 0])


@pytest.mark.gpu
def test_a_metric_on_a_gpu():
    """The rows stay on the device, nothing waits for it, and the result is that of the CPU."""
    from fullrank.torch import RankMetric

    random = np.random.default_rng(6)
    scores = made(random, (50, 20_000), torch.float32, special=False)
    target = torch.from_numpy(random.integers(-1, 20_000, (50, 3)))
    target[:, 0] = torch.arange(50)
    gone = torch.from_numpy(random.integers(-1, 20_000, (50, 30)))
    here, there = RankMetric("recall@100, ndcg"), RankMetric("recall@100, ndcg")
    here.update(scores, target, torch.arange(50), exclude=gone)
    device = [one.to(DEVICE) for one in (scores, target, torch.arange(50), gone)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the mode is a prototype, and says so
        torch.cuda.set_sync_debug_mode("error")
    try:
        there.update(*device[:3], exclude=device[3])
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert {rows.device.type for rows in there.rows} == {"cuda"}
    assert there.compute() == here.compute()
    np.testing.assert_array_equal(there.exact().ranks, here.exact().ranks)
