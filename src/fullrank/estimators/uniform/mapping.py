"""Which global K a sampled k corresponds to: SHR@k ≈ HR@f(k) (Li et al. 2020).

Only hit rates of fixed designs can be mapped; every other metric needs P(R).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks, extras
from fullrank._lib.types import Floats
from fullrank.errors import InputError
from fullrank.estimators.system import check_sample
from fullrank.samples import RankSample

KINDS = ("linear", "bound", "beta")
_STEPS = 100


@dataclass(frozen=True, kw_only=True)
class Mapping:
    """A mapping function f from sampled cut-offs k = 1..n to global ones.

    Parameters
    ----------
    kind : "linear" (equation 9), "bound" (13) or "beta" (16-18)
    sample_size : n, including the target
    n_items : N
    a : the parameter of beta@a; 1 is the uniform distribution, 0.5 the paper's choice

    Examples
    --------
    >>> f = Mapping(kind="beta", sample_size=100, n_items=10_000, a=1.0)
    >>> round(f(10), 6), round(f.inverse(1000.9), 6)
    (1000.9, 10.0)
    """

    kind: str = "beta"
    sample_size: int
    n_items: int
    a: float = 0.5

    def __post_init__(self) -> None:
        checks.choice("kind", self.kind, KINDS)
        checks.integer("sample_size", self.sample_size, low=2)
        checks.integer("n_items", self.n_items, low=2)
        checks.positive("a", self.a)

    def __str__(self) -> str:
        return f"beta@{self.a:.2g}" if self.kind == "beta" else self.kind

    def __call__(self, k: ArrayLike) -> Any:
        """f(k), the global cut-off of a sampled one; a float or an array as k is."""
        wanted = checks.integers("k", np.atleast_1d(np.asarray(k)), low=1, high=self.sample_size)
        values = self.values()[wanted - 1]
        return values if np.ndim(k) else float(values[0])

    def values(self) -> Floats:
        """f(1), …, f(n)."""
        n, last = self.sample_size, self.n_items - 1
        k = np.arange(1.0, n + 1.0)
        if self.kind == "linear":
            return (k - 1.0) / (n - 1.0) * last + 1.0
        if self.kind == "bound":
            return np.minimum(np.floor((k - 0.5) * last / (n - 1.0) + 0.5), self.n_items)
        from scipy.special import betaln

        # ((f(k) - 1)/(N - 1))^a is a running sum of a C(n-1, i) B(a + i, n - i), i < k,
        # of which each is (i + a)/(i + 1) times the one before (equations 15-17)
        i = np.arange(n - 1.0)
        growth = np.concatenate([[0.0], np.cumsum(np.log1p((self.a - 1.0) / (i + 1.0)))])
        terms = self.a * np.exp(betaln(self.a, n) + growth)
        return np.asarray(last * np.cumsum(terms) ** (1.0 / self.a) + 1.0)

    def inverse(self, global_k: ArrayLike) -> Any:
        """The sampled cut-off that corresponds to a global one, between whole numbers."""
        wanted = checks.reals("global_k", np.atleast_1d(np.asarray(global_k)), low=1.0)
        values = np.interp(wanted, self.values(), np.arange(1.0, self.sample_size + 1.0))
        return values if np.ndim(global_k) else float(values[0])

    def curve(self, sample: RankSample) -> tuple[Floats, Floats]:
        """The sampled hit-rate curve in global coordinates: f(k) and SHR@k, k = 1..n."""
        _check(sample, self.sample_size)
        if sample.n_items != self.n_items:
            own = "a catalogue for each user" if sample.n_items is None else sample.n_items
            raise InputError(f"`sample` must have the mapping's {self.n_items} items, not {own}.")
        shares = np.bincount(sample.rank, sample.weight, self.sample_size + 1)[1:]
        return self.values(), np.cumsum(shares) / shares.sum()

    def plot(self, sample: RankSample, ax: Any = None) -> Any:
        """Draw the sampled hit-rate curve in global coordinates. Returns the axes."""
        plt = extras.load("matplotlib.pyplot", extra="plot", purpose="Drawing")
        ax = ax if ax is not None else plt.subplots()[1]
        ax.plot(*self.curve(sample), label=f"sampled, mapped by {self}")
        ax.set(xscale="log", xlabel="cut-off K in the catalogue", ylabel="hit rate")
        ax.legend()
        return ax


def fit_beta(sample: RankSample) -> Mapping:
    """beta@P: the parameter a fitted to the sample itself (equation 19).

    a ← -M / Σ_u ln((f(r_u; a) - 1)/(N - 1)), repeated until it stands.
    """
    size = _check(sample, None)
    if sample.n_items is None:
        raise InputError(
            "`sample` must have one catalogue for all users; its users' catalogues differ."
        )
    a = 0.5
    for _ in range(_STEPS):
        mapping = Mapping(sample_size=size, n_items=sample.n_items, a=a)
        share = (mapping.values()[sample.rank - 1] - 1.0) / (sample.n_items - 1.0)
        total = -float(sample.weight @ np.log(np.clip(share, 1e-300, 1.0)))
        # every target at the last rank: the distribution is as far right as a reaches
        new = min(float(sample.weight.sum()) / total, 100.0) if total > 0.0 else 100.0
        if abs(new - a) <= 1e-10 * a:
            break
        a = new
    return Mapping(sample_size=size, n_items=sample.n_items, a=new)


def alignment_errors(
    mapping: Mapping, sample: RankSample, exact_ranks: ArrayLike
) -> dict[str, float]:
    """How far HR@f(k) is from SHR@k: the columns of Table 7 of Li et al. 2020.

    Mean absolute and relative differences over all k, at k = 1 and over k = 2..10.
    """
    ranks = np.sort(checks.integers("exact_ranks", exact_ranks, low=1, high=mapping.n_items))
    if ranks.size == 0:
        raise InputError("`exact_ranks` must hold at least one rank; it is empty.")
    places, sampled = mapping.curve(sample)
    exact = np.searchsorted(ranks, np.floor(places + 1e-9), side="right") / ranks.size
    absolute = np.abs(exact - sampled)
    relative = np.divide(absolute, sampled, out=np.zeros_like(absolute), where=sampled > 0)
    return {
        "abs": float(absolute.mean()),
        "rel": float(relative.mean()),
        "abs@1": float(absolute[0]),
        "rel@1": float(relative[0]),
        "abs@2-10": float(absolute[1:10].mean()),
        "rel@2-10": float(relative[1:10].mean()),
    }


def _check(sample: RankSample, size: int | None) -> int:
    check_sample(sample)
    sizes = np.unique(sample.sample_size)
    if sample.design.adaptive or sizes.size != 1:
        given = f"this one has {sizes[0]:,} to {sizes[-1]:,} candidates"
        if sample.design.adaptive:
            given = "it is adaptive"
        raise InputError(
            "`sample` must have a fixed design with one sample size for a mapping function; "
            f"{given}."
        )
    if not sample.design.uniform:
        raise InputError(
            "`sample` must have candidates drawn uniformly for a mapping function; "
            f"those of {sample.design} are not."
        )
    if size is not None and int(sizes[0]) != size:
        raise InputError(
            f"`sample` must have the mapping's size, {size} candidates, not {sizes[0]}."
        )
    return int(sizes[0])
