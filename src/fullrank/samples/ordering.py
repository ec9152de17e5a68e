"""Does a sampled metric order two models as the exact metric does, and from which sample size?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks, memory, tabular
from fullrank._lib.types import Floats, Ints
from fullrank.designs.design import Design
from fullrank.designs.expected import expected_metric
from fullrank.designs.uniform import Uniform
from fullrank.errors import InputError
from fullrank.metrics import Metric, parse

_SIZES = 120  # sample sizes looked at, unless they are given
_TIE = 1e-12  # differences below this count as none


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Consistency(tabular.Tabular):
    """Expected sampled values of a metric for two rank lists, size by size.

    Attributes
    ----------
    metric, n_items, design : the settings
    exact : the exact values of the first and the second list
    sample_sizes : the sizes examined, including the target
    expected : their expected sampled values, shape (2, sizes)
    agrees : whether the order is the exact one, at each size
    from_size : the sample size from which the order agrees at every size examined; None if it
        does not agree at the largest
    """

    metric: Metric
    n_items: int
    design: Design
    exact: tuple[float, float]
    sample_sizes: Ints
    expected: Floats
    agrees: NDArray[np.bool_]
    from_size: int | None

    @property
    def consistent(self) -> bool:
        """Whether the order is right at every size examined."""
        return bool(self.agrees.all())

    def __str__(self) -> str:
        first, second = self.exact
        sign = "=" if abs(first - second) <= _TIE else "<" if first < second else ">"
        says = "same order at every sample size"
        if self.from_size is None:
            says = f"a different order even at n = {self.sample_sizes[-1]:,}"
        elif not self.consistent:
            says = f"same order from n = {self.from_size:,} on, another order at some smaller n"
        return f"{self.metric}: exact {first:.4g} {sign} {second:.4g}; sampled: {says}"

    def _title(self) -> str:
        return str(self)

    def _records(self) -> list[dict[str, Any]]:
        columns = (self.sample_sizes, *self.expected, self.agrees)
        names = ("sample_size", "first", "second", "agrees")
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [f"{one['sample_size']:,}", f"{one['first']:.4f}", f"{one['second']:.4f}",
             "yes" if one["agrees"] else "no"]
            for one in self._records()
        ]  # fmt: skip
        return ["candidates", "first", "second", "as exact"], rows

    def plot(self, ax: Any = None, *, labels: tuple[str, str] = ("first", "second")) -> Any:
        """Draw both expected sampled values against the sample size. Returns the axes."""
        ax = tabular.axes(ax)
        for values, label in zip(self.expected, labels, strict=True):
            ax.plot(self.sample_sizes, values, label=label)
        ax.set(xscale="log", xlabel="candidates n", ylabel=f"expected sampled {self.metric}")
        ax.legend()
        return ax


def consistency(
    first: ArrayLike,
    second: ArrayLike,
    metric: str | Metric,
    *,
    n_items: int,
    design: str | Design = "sampled",
    sample_sizes: ArrayLike | None = None,
) -> Consistency:
    """Check whether a sampled metric orders two lists of ranks as the exact metric does.

    Parameters
    ----------
    first, second : true ranks of two models on the same targets
    metric : such as ``"recall@10"``
    n_items : catalogue size N
    design : ``"sampled"``, or ``"sampled:replacement=true"``; its size is what is examined
    sample_sizes : candidates n to examine, including the target; default: sizes from 2 to N
        on a log scale, and the size at which the order turns right is searched between them

    Notes
    -----
    Definition 1 of Rendle 2019, for these two lists: the order of the expectations, so
    that no simulation is needed. AUC is the only metric that is consistent for all lists.

    Examples
    --------
    >>> a, c = [100] * 5, [212, 2, 743, 5342, 1548]
    >>> print(consistency(a, c, "ndcg", n_items=10_000))
    ndcg: exact 0.1502 < 0.208; sampled: same order from n = 686 on, another order at some smaller n
    """
    metric = parse(metric)
    n_items = checks.integer("n_items", n_items, low=2)
    lists = [_ranks(name, ranks, n_items) for name, ranks in (("first", first), ("second", second))]
    drawn = Design.of(design)
    if not isinstance(drawn, Uniform):
        raise InputError(
            f"`design` must have a fixed sample size, such as 'sampled', not {str(drawn)!r}."
        )
    exact = tuple(float(metric.weights(ranks, n_items).mean()) for ranks in lists)

    def means(size: int) -> Floats:
        of_size = drawn.of_size(size)
        return np.asarray(
            [expected_metric(r, metric, n_items=n_items, design=of_size).mean() for r in lists]
        )

    def agree(values: Floats) -> bool:
        return _sign(values[0] - values[1]) == _sign(exact[0] - exact[1])

    sizes = _sizes(sample_sizes, n_items)
    expected = np.stack([means(int(size)) for size in sizes], axis=1)
    agrees = np.asarray([agree(column) for column in expected.T])
    wrong = np.flatnonzero(~agrees)
    if wrong.size == 0:
        from_size: int | None = int(sizes[0])
    elif wrong[-1] == sizes.size - 1:
        from_size = None
    else:
        low, high = int(sizes[wrong[-1]]), int(sizes[wrong[-1] + 1])
        while sample_sizes is None and high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if agree(means(middle)) else (middle, high)
        from_size = high
    return Consistency(
        metric=metric,
        n_items=n_items,
        design=drawn,
        exact=(exact[0], exact[1]),
        sample_sizes=checks.frozen(sizes),
        expected=checks.frozen(expected),
        agrees=checks.frozen(agrees),
        from_size=from_size,
    )


def _ranks(name: str, ranks: ArrayLike, n_items: int) -> Ints:
    clean = checks.integers(name, ranks, low=1, high=n_items, hint="Ranks are 1-based.")
    if clean.size == 0:
        raise InputError(f"`{name}` must hold at least one rank; it is empty.")
    return clean


def _sizes(sample_sizes: ArrayLike | None, n_items: int) -> Ints:
    if sample_sizes is None:
        _ask(n_items)
        return np.unique(np.rint(np.geomspace(2, n_items, _SIZES)).astype(np.int64))
    sizes = np.unique(checks.integers("sample_sizes", sample_sizes, low=2))
    if sizes.size == 0:
        raise InputError("`sample_sizes` must hold at least one size; it is empty.")
    _ask(int(sizes[-1]))
    return sizes


def _ask(most: int) -> None:
    memory.ask("sample_sizes", 64 * most, f"every rank among {most:,} candidates")


def _sign(difference: float) -> int:
    return 0 if abs(difference) <= _TIE else (1 if difference > 0 else -1)
