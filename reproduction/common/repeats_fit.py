"""Every estimator on many samples of one design at once.

What an estimator needs of the design, the kernel P(outcome | R), is the same in every repeat, so
that a hundred repeats cost little more than one: EM runs on all of them side by side, MES in as
many unknowns as the kernel has singular values, and the systems of BV and MN in bins instead of
outcomes. The numbers are those of `fullrank.estimators`, one sample at a time, up to rounding.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fullrank.designs import RankGrid, Uniform
from fullrank.estimators.system import ALL, BASE, System, columns_of, possible_system
from fullrank.estimators.uniform.entropy import solve
from fullrank.estimators.uniform.least_squares import coefficients
from fullrank.estimators.uniform.likelihood import STEPS_ADAPTIVE, STEPS_FIXED
from fullrank.estimators.uniform.smoothed import best_fit
from fullrank.metrics import parse
from fullrank.samples import RankSample

Floats = NDArray[np.float64]

ETA, GAMMA = 0.001, 0.01
WEIGHT, SCALE = "ndcg", 10.0  # of WMLE
_RANK = 1e-15  # singular values below this share of the largest are rounding
_NUMBERS: dict[tuple[object, ...], Floats] = {}  # of CLS, for cells that differ by model alone


class Samples:
    """Samples of one design from the same users, as shares of the same outcomes.

    `shares` has a column for each sample; every method gives a column of P(R) for each.
    """

    def __init__(self, samples: list[RankSample], grid: RankGrid) -> None:
        first = samples[0]
        self.grid, self.adaptive, self.users = grid, first.design.adaptive, first.n_targets
        self.design = first.design
        self.steps = STEPS_ADAPTIVE if self.adaptive else STEPS_FIXED
        self.system = replace(
            possible_system(_seen(samples, grid.n_items), grid), n_targets=self.users
        )
        self.shares = np.stack([_shares(self.system, one) for one in samples], axis=1)
        self.size = float(first.design.rounds(grid.n_items).sizes[0])

    @cached_property
    def uniform(self) -> Floats:
        return np.asarray(self.grid.widths / self.grid.n_items)

    def mle(self) -> Floats:
        """Plain steps of EM from the uniform distribution."""
        return self._em(self.system.table, self.shares, self.uniform)

    def weighted_mle(self) -> Floats:
        """The likelihood weighted by w(r), inside the family of tilted distributions."""
        rank = self.system.place * self.size + 0.5
        weights = parse(WEIGHT).shape(rank / SCALE, self.size)
        tilt = self.system.table @ weights  # E[w | R]
        shares = self.shares * weights[:, None]
        start = self.uniform * tilt
        table = self.system.table * weights / tilt[:, None]
        found = self._em(table, shares / shares.sum(axis=0), start / start.sum())
        mass = found / tilt[:, None]
        return np.asarray(mass / mass.sum(axis=0))

    def _em(self, table: Floats, shares: Floats, start: Floats) -> Floats:
        mass = np.repeat(start[:, None], shares.shape[1], axis=1)
        for _ in range(self.steps):
            expected = table.T @ mass
            ratio = np.divide(shares, expected, out=np.zeros_like(expected), where=shares > 0)
            mass *= table @ ratio
        return mass

    def mes(self) -> Floats:
        """Maximal entropy, in the row space of the kernel.

        With A = USVᵀ the multipliers λ = Vα + (what A does not see): their ridge stays what it
        is, since V is orthonormal, and the heights Aλ = USα need α alone.
        """
        left, values, right = np.linalg.svd(self.system.table, full_matrices=False)
        keep = values > _RANK * values[0]
        table, turned = left[:, keep] * values[keep], right[keep] @ self.shares
        return np.stack(
            [
                solve(replace(self.system, table=table, observed=column), ETA).mass
                for column in turned.T
            ],
            axis=1,
        )

    def smoothed(self) -> Floats:
        """Penalised likelihood, each sample with the penalty that it chooses."""
        found, table = [], self._plain_table()
        for column in self.shares.T:
            seen = column > 0.0
            system = replace(self.system, table=table[:, seen], observed=column[seen])
            found.append(best_fit(system).mass)
        return np.stack(found, axis=1)

    def _plain_table(self) -> Floats:
        """Without the factors c_j(r) of an adaptive design, as in `observed_system`.

        The likelihood does not feel them, but the evidence by which `smoothed` chooses does.
        """
        if not self.adaptive or self.system.keys is None:
            return self.system.table
        size, rank = np.divmod(self.system.keys, BASE)
        size[size == ALL] = self.grid.n_items
        fixed = Uniform(replacement=self.design.replacement)
        return fixed.probabilities(rank, size, n_items=self.grid.n_items, grid=self.grid)

    def bv(self, prior: Floats | None = None, gamma: float = GAMMA) -> Floats:
        """P̂ = D A G⁻¹ P̃, G = (1-γ) AᵀDA + γC, C = diag(Aᵀd); as many priors as samples, or one.

        With B = √D A C^(-1/2) this is √D ((1-γ) BBᵀ + γ)⁻¹ √D A C⁻¹ P̃: a system in bins whose
        eigenvalues lie between γ and 1.
        """
        return self._each(self._bv_of(gamma), self.uniform if prior is None else prior)

    def _bv_of(self, gamma: float) -> Callable[[Floats, Floats], Floats]:
        from scipy.linalg import cho_factor, cho_solve

        table = self.system.table

        def found(prior: Floats, shares: Floats) -> Floats:
            chance = prior @ table
            inverse = np.divide(1.0, chance, out=np.zeros_like(chance), where=chance > 1e-300)
            root = np.sqrt(prior)[:, None]
            scaled = root * table * np.sqrt(inverse)
            moments = (1.0 - gamma) * (scaled @ scaled.T)
            moments[np.diag_indices_from(moments)] += gamma
            right = root * (table @ (inverse[:, None] * shares))
            return np.asarray(root * cho_solve(cho_factor(moments), right))

        return found

    def mn(self, prior: Floats) -> Floats:
        """P̂ = D A G⁻¹ P̃, G = AᵀEA + F, E = D - W/M, F = diag(Aᵀw)/M, with w one for each rank.

        A G⁻¹ = (1 + HE)⁻¹ A F⁻¹ with H = A F⁻¹ Aᵀ, which no sample and no prior changes. Of a
        design that can end among all items G is singular, and this is not for it.
        """
        table, widths = self.system.table, self.grid.widths / self.users
        chance = widths @ table
        inverse = np.divide(1.0, chance, out=np.zeros_like(chance), where=chance > 1e-300)
        moments = (table * inverse) @ table.T
        one = np.eye(self.grid.n_bins)

        def found(prior: Floats, shares: Floats) -> Floats:
            right = table @ (inverse[:, None] * shares)
            solved = np.linalg.solve(one + moments * (prior - widths), right)
            return np.asarray(prior[:, None] * solved)

        return self._each(found, prior)

    def _each(self, found: Callable[[Floats, Floats], Floats], prior: Floats) -> Floats:
        """One prior for all samples, or a column for each; the mass made to sum to 1."""
        if prior.ndim == 1:
            mass = found(prior, self.shares)
        else:
            pairs = zip(prior.T, self.shares.T, strict=True)
            mass = np.concatenate([found(one, column[:, None]) for one, column in pairs], axis=1)
        return np.asarray(mass / mass.sum(axis=0))

    def cls(self, metrics: list[str]) -> Floats:
        """A row for each metric: its numbers x depend on the design alone."""
        key = zlib.crc32(self.system.table.tobytes()), *metrics
        if key not in _NUMBERS:
            averages = [self.grid.averages(parse(metric)) for metric in metrics]
            _NUMBERS[key] = np.array([coefficients(self.system, one) for one in averages])
        return np.asarray(_NUMBERS[key] @ self.shares)


def _seen(samples: list[RankSample], n_items: int) -> RankSample:
    """A sample with each outcome that any of them shows: what is possible is then for all."""
    first = samples[0]
    outcomes = np.concatenate([np.stack([one.sample_size, one.rank]) for one in samples], axis=1)
    sizes, ranks = np.unique(outcomes, axis=1)
    return RankSample.from_ranks(
        ranks,
        sample_size=sizes,
        n_items=n_items,
        design=first.design,
    )


def _shares(system: System, sample: RankSample) -> Floats:
    counts = np.bincount(columns_of(system, sample), minlength=system.observed.size)
    return np.asarray(counts / sample.n_targets)
