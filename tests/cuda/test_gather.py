"""The kernels of gathered products beside those of the CPU."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from fullrank.models.neural.learners import gather_cuda, gather_kernels  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.mark.breadth
@pytest.mark.parametrize(("n", "m", "d"), [(3, 5, 7), (4, 1, 64), (2, 70, 64), (2, 9, 1)])
def test_products_and_their_gradients(n: int, m: int, d: int) -> None:
    generator = torch.Generator().manual_seed(0)
    users, table = torch.randn(n, d, generator=generator), torch.randn(11, d, generator=generator)
    slopes = torch.randn(n, m, generator=generator)
    items = torch.randint(11, (n, m), generator=generator)
    given = (users, table, items)

    found = torch.empty(n, m, device=DEVICE)
    gather_cuda.dots(*(one.to(DEVICE) for one in given), found)
    expected = torch.empty(n, m)
    gather_kernels.dots(*(one.numpy() for one in given), expected.numpy())
    torch.testing.assert_close(found.cpu(), expected)

    sums = [torch.zeros_like(one, device=DEVICE) for one in (users, table)]
    gather_cuda.dots_backward(*(one.to(DEVICE) for one in (*given, slopes)), *sums)
    right = [torch.zeros_like(one) for one in (users, table)]
    gather_kernels.dots_backward(
        *(one.numpy() for one in (*given, slopes)), *(one.numpy() for one in right)
    )
    for ours, theirs in zip(sums, right, strict=True):
        torch.testing.assert_close(ours.cpu(), theirs)
