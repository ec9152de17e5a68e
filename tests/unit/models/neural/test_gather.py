"""Rows of tables and their products, against what plain operations make of them."""

from typing import Any

import pytest

from fullrank.models.neural.learners import gather

pytestmark = pytest.mark.usefixtures("torch")


def normal(torch: Any, *shape: int, seed: int = 0) -> Any:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, requires_grad=True)


@pytest.mark.parametrize(("n", "m", "d"), [(4, 1, 3), (6, 40, 8), (1, 5, 1)])
def test_products_of_rows(torch: Any, n: int, m: int, d: int) -> None:
    users, table = normal(torch, n, d), normal(torch, 9, d, seed=1)
    items = torch.randint(9, (n, m), generator=torch.Generator().manual_seed(2))
    slopes = normal(torch, n, m, seed=3).detach()
    found = gather.dots(users, table, items)
    expected = (users[:, None] * table[items]).sum(-1)
    torch.testing.assert_close(found, expected)
    for ours, theirs in zip(
        torch.autograd.grad(found, [users, table], slopes),
        torch.autograd.grad(expected, [users, table], slopes),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs)


def test_products_of_what_lies_elsewhere_in_memory(torch: Any) -> None:
    """Slices and transposes, and gradients that are one number for all."""
    users, table = normal(torch, 3, 5), normal(torch, 3, 7, seed=1)
    items = torch.tensor([[0, 6, 1], [2, 2, 2], [3, 0, 5], [1, 1, 0], [4, 5, 6]])[:, :2]
    found = gather.dots(users.T, table.T, items).sum()
    expected = (users.T[:, None] * table.T[items]).sum()
    for ours, theirs in zip(
        torch.autograd.grad(found, [users, table]),
        torch.autograd.grad(expected, [users, table]),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs)


def test_rows_that_are_taken_more_than_once(torch: Any) -> None:
    table = normal(torch, 5, 3)
    index, slopes = torch.tensor([4, 0, 4, 4]), normal(torch, 4, 3, seed=1).detach()
    found = gather.take(table, index)
    torch.testing.assert_close(found, table[index])
    (ours,) = torch.autograd.grad(found, table, slopes)
    (theirs,) = torch.autograd.grad(table[index], table, slopes)
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("shape", [(3,), (2, 2), (40,), (10, 5)])
def test_mean_squares_of_few_and_of_many(torch: Any, shape: tuple[int, ...]) -> None:
    table = normal(torch, 8, 3)
    index = torch.randint(8, shape, generator=torch.Generator().manual_seed(2))
    found, expected = gather.mean_square(table, index), table[index].square().sum(-1).mean()
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(
        torch.autograd.grad(found, table), torch.autograd.grad(expected, table)
    )
