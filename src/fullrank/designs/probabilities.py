"""The sampling kernel P(r | R): how a sample of candidates shows a target of rank R.

Of n candidates one is the target; the other n - 1 are drawn uniformly from the N - 1
other items. The number r - 1 of those that rank above a target of rank R is

    Binomial(n - 1, (R - 1)/(N - 1))           with replacement
    Hypergeometric(N - 1, R - 1, n - 1)        without

(Rendle 2019, equation 18 and section 4.5). Both are followed from their mode outwards by
the ratio of neighbouring probabilities and normalised by their sum, which keeps about
thirteen digits at any N where differences of log-gammas would lose seven. Probabilities
below 1e-300 come out as 0.

Averages over the ranks a+1..b of a bin are closed. Without replacement, exactly,

    mean P(r | R) = N/n [P(Y_b >= r) - P(Y_a >= r)] / (b - a),

where Y_c ~ Hypergeometric(N, c, n) counts the drawn among the best c. With replacement
the sum over j = R - 1 = a..b-1 is an integral over [a - 1/2, b - 1/2] plus the midpoint
corrections of Euler and Maclaurin: with f the kernel as a function of t = j,

    (N-1)/n [P(X_b >= r) - P(X_a >= r)] - [f'(b-1/2) - f'(a-1/2)]/24
                                        + 7 [f'''(b-1/2) - f'''(a-1/2)]/5760,

X_c ~ Binomial(n, (c - 1/2)/(N - 1)). Narrow bins are summed rank by rank instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks, memory
from fullrank._lib.types import Floats, Ints
from fullrank.designs.grid import RankGrid
from fullrank.errors import InputError

_SUMMED = 64  # widest bin whose binomial kernel is summed rank by rank
_CELLS = 500_000  # table cells computed at a time: about 40 MB
_KEPT, _KEPT_CELLS = 128, 65_536  # tables kept for the next sample, each of half a MB at most


def kernel(
    true_ranks: ArrayLike,
    ranks: ArrayLike | None = None,
    *,
    sample_size: int,
    n_items: int,
    replacement: bool = False,
) -> Floats:
    """P(r | R): one row for each true rank R, one column for each sampled rank r.

    Parameters
    ----------
    true_ranks : ranks R in 1..n_items
    ranks : sampled ranks r in 1..sample_size; default: all of them
    sample_size : candidates n, including the target
    n_items : catalogue size N
    replacement : whether the other candidates were drawn with replacement

    Examples
    --------
    >>> kernel([1, 26, 51], sample_size=3, n_items=51, replacement=True)
    array([[1.  , 0.  , 0.  ],
           [0.25, 0.5 , 0.25],
           [0.  , 0.  , 1.  ]])
    """
    n_items, n = check_sizes(n_items, sample_size, replacement)
    rank = checks.integers("true_ranks", true_ranks, low=1, high=n_items, hint="Ranks are 1-based.")
    reach = min(n, 300 + int(20.0 * np.sqrt(n)))  # of a walk from the mode, at most
    memory.ask("sample_size", 64 * reach, f"the kernel of {n:,} candidates")
    if ranks is None:
        cells = n * max(1, rank.size)
        memory.ask("sample_size", 16 * cells, f"{rank.size:,} × {n:,} probabilities")
    wanted = np.arange(1, n + 1) if ranks is None else ranks
    r = checks.integers("ranks", wanted, low=1, high=n, hint="Ranks are 1-based.")
    return _at_ranks(rank, r, n, n_items, replacement)


def kernel_averages(
    ranks: ArrayLike, *, sample_size: int, n_items: int, replacement: bool, grid: RankGrid
) -> Floats:
    """The mean of P(r | R) over each bin of the grid: shape (n_bins, len(ranks)).

    The grid may reach beyond `n_items` (a common grid for users with catalogues of their
    own); a rank that does not exist contributes 0.
    """
    n_items, n = check_sizes(n_items, sample_size, replacement)
    r = checks.integers("ranks", ranks, low=1, high=n, hint="Ranks are 1-based.")
    # samples of one design ask for few ranks of the same tables again and again: models, draws
    top = min(n, 1 << int(r.max(initial=1) - 1).bit_length())
    if top * grid.widths.size > _KEPT_CELLS:
        return _averages(grid.edges, r, n, n_items, replacement)
    return _first_columns(grid.edges.tobytes(), top, n, n_items, replacement)[:, r - 1]


@lru_cache(_KEPT)
def _first_columns(edges: bytes, top: int, n: int, n_items: int, replacement: bool) -> Floats:
    """The averages of the ranks 1..top, of a grid whose edges are these bytes."""
    ranks = np.arange(1, top + 1)
    return _averages(np.frombuffer(edges, np.int64), ranks, n, n_items, replacement)


def _averages(grid_edges: Ints, r: Ints, n: int, n_items: int, replacement: bool) -> Floats:
    # a bin that reaches into the first or last ranks is cut there: the corrections of Euler
    # and Maclaurin fail where the kernel falls to 0 within a few ranks
    cuts = [_SUMMED, n_items - _SUMMED] if replacement else []
    edges = np.unique(np.concatenate([grid_edges, cuts]).clip(0, n_items).astype(np.int64))
    sums = _bin_sums(edges, r, n, n_items, replacement)
    ends = np.searchsorted(edges, np.minimum(grid_edges, n_items))
    widths = np.diff(grid_edges)
    filled = np.flatnonzero(np.diff(ends))  # a bin beyond the last item has no sums
    averages = np.zeros((widths.size, r.size))
    averages[filled] = np.add.reduceat(sums, ends[filled]) / widths[filled, None]
    return averages


def _bin_sums(edges: Ints, r: Ints, n: int, n_items: int, replacement: bool) -> Floats:
    """The sum of P(r | R) over the ranks between each two edges."""
    low, high = edges[:-1], edges[1:]
    widths = high - low
    sums = np.zeros((low.size, r.size))
    narrow = widths <= (_SUMMED if replacement else 1)
    if narrow.any():
        starts = np.cumsum(widths[narrow]) - widths[narrow]
        within = np.arange(widths[narrow].sum()) - np.repeat(starts, widths[narrow])
        rank = np.repeat(low[narrow], widths[narrow]) + within + 1
        sums[narrow] = np.add.reduceat(_at_ranks(rank, r, n, n_items, replacement), starts)
    if not narrow.all():
        closed = _binomial_sums if replacement else _hypergeometric_sums
        sums[~narrow] = closed(low[~narrow], high[~narrow], r, n, n_items)
    return sums


def at_most(ranks: Ints, t: Ints, n: int, n_items: int, replacement: bool) -> Floats:
    """P(r <= t | R) of a fixed size n, one row for each R."""
    table = np.ones((ranks.size, t.size))
    short = t < n
    if not short.any():
        return table
    if replacement:
        from scipy.special import betaincc

        share = (ranks - 1.0) / (n_items - 1.0)
        table[:, short] = betaincc(t[short], n - t[short], share[:, None])
        return table
    # P(Hypergeometric(N - 1, R - 1, n - 1) >= t) is (n - 1)/(N - 1) times the sum over the
    # ranks below R of the kernel of n - 1 among N - 1 items (the closed sum above)
    edges = np.unique(np.concatenate([[0, n_items - 1], ranks - 1]))
    grid = RankGrid(edges)
    means = kernel_averages(
        t[short], sample_size=n - 1, n_items=n_items - 1, replacement=False, grid=grid
    )
    beyond = np.cumsum(means * grid.widths[:, None], axis=0) * ((n - 1.0) / (n_items - 1.0))
    beyond = np.concatenate([np.zeros((1, beyond.shape[1])), beyond])
    table[:, short] = np.clip(1.0 - beyond[np.searchsorted(edges, ranks - 1)], 0.0, 1.0)
    return table


def hypergeometric(y: Ints, population: int, marked: Ints, drawn: int) -> Floats:
    """P(y of the drawn are marked): one row for each number marked, one column for each y."""
    return _Hypergeometric(population, marked, drawn).table(y, tails=False).pmf


def check_sizes(n_items: int, sample_size: int, replacement: bool) -> tuple[int, int]:
    """Catalogue and sample size that go together."""
    n_items = checks.integer("n_items", n_items, low=1)
    sample_size = checks.integer("sample_size", sample_size, low=1)
    if not checks.flag("replacement", replacement) and sample_size > n_items:
        raise InputError(
            f"`sample_size` must be at most `n_items` = {n_items} without replacement, "
            f"not {sample_size}."
        )
    if replacement and n_items == 1 and sample_size > 1:
        raise InputError("`n_items` must be at least 2 if `sample_size` is above 1, not 1.")
    return n_items, sample_size


def _at_ranks(rank: Ints, r: Ints, n: int, n_items: int, replacement: bool) -> Floats:
    if replacement:
        above, below = (rank - 1).astype(np.float64), (n_items - rank).astype(np.float64)
        return _Binomial(above, below, n - 1).table(r - 1, tails=False).pmf
    return hypergeometric(r - 1, n_items - 1, rank - 1, n - 1)


def _hypergeometric_sums(low: Ints, high: Ints, r: Ints, n: int, n_items: int) -> Floats:
    ends, where = np.unique(np.concatenate([low, high]), return_inverse=True)
    table = _Hypergeometric(n_items, ends, n).table(r)
    return n_items / n * table.step(where[: low.size], where[low.size :], low, n / n_items, r)


def _binomial_sums(low: Ints, high: Ints, r: Ints, n: int, n_items: int) -> Floats:
    ends, where = np.unique(np.concatenate([low, high]), return_inverse=True)
    t = ends - 0.5
    s = n_items - 1 - t
    table = _Binomial(t, s, n).table(r)
    first, last = where[: low.size], where[low.size :]
    integral = (n_items - 1) / n * table.step(first, last, low, n / n_items, r)
    # f(t) = C(n-1, r-1) θ^(r-1) (1-θ)^(n-r) is r/(nθ) times the binomial of n at r;
    # f' = f g, f''' = f (g^3 + 3 g g' + g'')
    t, s = t[:, None], s[:, None]
    f = table.pmf * r / n * ((n_items - 1) / t)
    up, down = (r - 1) / t, (n - r) / s
    g = up - down
    g1 = -(up / t) - down / s
    g2 = 2.0 * (up / t**2 - down / s**2)
    correction = f * (-g / 24.0 + 7.0 / 5760.0 * (g**3 + 3.0 * g * g1 + g2))
    return np.asarray(integral + correction[last] - correction[first])


@dataclass(frozen=True)
class _Table:
    """Probabilities of counts: rows are distributions, columns the counts asked for."""

    pmf: Floats  # P(Y = y)
    below: Floats  # P(Y < y)
    above: Floats  # P(Y >= y)

    def step(self, first: Ints, last: Ints, low: Ints, rate: float, r: Ints) -> Floats:
        """P(Y_last >= r) - P(Y_first >= r), from the tail that loses no digits."""
        rising = self.above[last] - self.above[first]
        falling = self.below[first] - self.below[last]
        return np.where(low[:, None] * rate > r - 1, falling, rising)


class _Counts:
    """A family of distributions of a count 0..n, one a row, followed from the mode."""

    n: int
    mode: Ints  # per row
    variance: Floats  # per row, an upper bound

    def up(self, rows: slice, y: Floats) -> Floats:
        """P(y + 1) / P(y)."""
        raise NotImplementedError

    def down(self, rows: slice, y: Floats) -> Floats:
        """P(y - 1) / P(y)."""
        raise NotImplementedError

    def table(self, y: Ints, *, tails: bool = True) -> _Table:
        shape = (self.mode.size, y.size)
        pmf = np.empty(shape)
        below, above = (np.empty(shape if tails else (0, 0)) for _ in range(2))
        # Bernstein: beyond this distance from the mean the tail is below exp(-745) = 0
        reach = np.ceil(252.0 + np.sqrt(61_700.0 + 1490.0 * self.variance)).astype(np.int64)
        start = 0
        while start < self.mode.size:
            rows = self._chunk(start, reach)
            walk = _Walk(self, rows, int(reach[rows].max()), y)
            pmf[rows] = walk.pmf()
            if tails:
                below[rows], above[rows] = walk.tails()
            start = rows.stop
        return _Table(pmf, below, above)

    def _chunk(self, start: int, reach: Ints) -> slice:
        cells = np.maximum.accumulate(np.minimum(reach[start:], self.n) + 1)
        fits = (np.arange(1, cells.size + 1) * cells) <= _CELLS
        return slice(start, start + max(1, int(np.count_nonzero(fits))))


class _Walk:
    """Some rows of a family, from the mode outwards: rise[k] = P(mode + k) / P(mode)."""

    def __init__(self, counts: _Counts, rows: slice, reach: int, y: Ints) -> None:
        mode = counts.mode[rows, None]
        n_up = int(min(reach, counts.n - mode.min()))
        n_down = int(min(reach, mode.max()))
        self.rise = _products(counts.up(rows, (mode + np.arange(n_up)).astype(np.float64)))
        self.fall = _products(counts.down(rows, (mode - np.arange(n_down)).astype(np.float64)))
        self.total = self.rise.sum(axis=1, keepdims=True) + self.fall[:, 1:].sum(
            axis=1, keepdims=True
        )
        self.k = y[None, :] - mode

    def pmf(self) -> Floats:
        """P(Y = y)."""
        near = np.where(self.k >= 0, _take(self.rise, self.k), _take(self.fall, -self.k))
        return np.asarray(near / self.total)

    def tails(self) -> tuple[Floats, Floats]:
        """P(Y < y) and P(Y >= y), each summed from its far end where it is the small one."""
        up = np.cumsum(self.rise[:, ::-1], axis=1)[:, ::-1]
        down = np.cumsum(self.fall[:, ::-1], axis=1)[:, ::-1]
        over, under = _take(up, self.k), _take(down, 1 - self.k)
        # y above the mode: all of Y >= y is in `up`; otherwise all of Y < y is in `down`
        right = self.k > 0
        above = np.where(right, over, self.total - under)
        below = np.where(right, self.total - over, under)
        return below / self.total, above / self.total


def _products(ratios: Floats) -> Floats:
    """1 and the running products; a ratio of 0 ends the support."""
    start = np.ones((ratios.shape[0], 1))
    # past the end of the support the ratios mean nothing: keep them from growing
    return np.concatenate([start, np.cumprod(np.clip(ratios, 0.0, None), axis=1)], axis=1)


def _take(values: Floats, index: Ints) -> Floats:
    """values[row, index], 0 outside."""
    inside = (index >= 0) & (index < values.shape[1])
    taken = np.take_along_axis(values, np.where(inside, index, 0), axis=1)
    return np.where(inside, taken, 0.0)


class _Binomial(_Counts):
    """Binomial(n, above / (above + below)), one row for each pair."""

    def __init__(self, above: Floats, below: Floats, n: int) -> None:
        self.n = n
        total = above + below
        share = above / np.where(total > 0, total, 1.0)
        self.mode = np.minimum(np.floor((n + 1) * share), n).astype(np.int64)
        self.variance = n * share * (1.0 - share)
        # a share of 0 or 1 has its mode at the end of the support, where the other factor
        # of the ratio is 0: any positive number may stand for the 0 in the denominator
        self.odds_up = above / np.where(below > 0, below, 1.0)
        self.odds_down = below / np.where(above > 0, above, 1.0)

    def up(self, rows: slice, y: Floats) -> Floats:
        return np.asarray((self.n - y) / (y + 1.0) * self.odds_up[rows, None])

    def down(self, rows: slice, y: Floats) -> Floats:
        return np.asarray(y / (self.n - y + 1.0) * self.odds_down[rows, None])


class _Hypergeometric(_Counts):
    """Hypergeometric: of `population`, `marked` (a row each); n drawn."""

    def __init__(self, population: int, marked: Ints, n: int) -> None:
        self.n = n
        self.marked = marked.astype(np.float64)
        self.rest = float(population) - self.marked - n
        share = self.marked / max(population, 1)
        mode = np.floor((n + 1.0) * (self.marked + 1.0) / (population + 2.0))
        # the support is max(0, marked + n - population) .. min(marked, n)
        mode = np.clip(mode, np.maximum(0.0, -self.rest), np.minimum(self.marked, n))
        self.mode = mode.astype(np.int64)
        self.variance = n * share * (1.0 - share)

    def up(self, rows: slice, y: Floats) -> Floats:
        marked, rest = self.marked[rows, None], self.rest[rows, None]
        return (marked - y) / (y + 1.0) * ((self.n - y) / (rest + y + 1.0))

    def down(self, rows: slice, y: Floats) -> Floats:
        marked, rest = self.marked[rows, None], self.rest[rows, None]
        return y / (marked - y + 1.0) * ((rest + y) / (self.n - y + 1.0))
