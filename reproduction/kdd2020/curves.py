"""What the figures of Li et al. 2020 show, in numbers."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from fullrank.designs import Uniform, kernel
from fullrank.estimators import Mapping
from fullrank.samples import simulate
from reproduction.common.exact import Ranks
from reproduction.kdd2020.repeats import PLACED, SIZE, Drawn, Floats, functions, hit_rates, places

Known = dict[str, Ranks]  # by model

RELATIVE_A = (0.2, 0.4, 0.6, 0.8)
NEAR_A = (0.24, 0.26, 0.28, 0.32, 0.34)
AROUND = 0.3
YELP_ITEMS = 25_815  # of the Yelp in the papers: Figure 5 of the dissertation needs nothing else
SIZES = (50, 100, 200, 500, 1000)
ALIGNED = ("linear", "bound", "beta@1", "beta@0.5")


def expected_curve(known: Ranks, size: int = SIZE, *, replacement: bool = True) -> Floats:
    """The expectation of SHR@k, k = 1..n (equation 4)."""
    ranks, counts = np.unique(known.ranks, return_counts=True)
    chances = kernel(ranks, sample_size=size, n_items=known.n_items, replacement=replacement)
    return np.asarray((counts / counts.sum()) @ chances).cumsum()


def curves(known: Known) -> dict[str, Any]:
    """Figure 1: HR@K and the expectation of SHR@k of every model, and how many orders agree."""
    n_items = next(iter(known.values())).n_items
    at = places(functions(n_items)[PLACED])
    mapped = {model: hit_rates(one.ranks, at) for model, one in known.items()}
    sampled = {model: expected_curve(one) for model, one in known.items()}
    same, differ = 0, []
    for a, b in combinations(known, 2):
        whole, drawn = mapped[a] - mapped[b], sampled[a] - sampled[b]
        ordered = whole * drawn > 0
        told = whole != 0
        same += int(np.count_nonzero(ordered & told))
        differ += np.abs(whole[~ordered & told]).tolist()
    ks = cut_offs(n_items)
    return {
        "n_items": n_items,
        "top_place": int(at[9]),
        "cut_offs": ks.tolist(),
        "exact": {model: _short(hit_rates(one.ranks, ks)) for model, one in known.items()},
        "sampled": {model: _short(values) for model, values in sampled.items()},
        "orders": same + len(differ),
        "orders_kept": same,
        "largest_lost": round(max(differ, default=0.0), 4),
    }


def dominance(known: Known) -> dict[str, int]:
    """Theorem 2.1: pairs with one curve nowhere below the other, and those that stay so.

    Pairs of models, and each model beside itself with every rank a tenth worse.
    """
    pairs = list(combinations(known.values(), 2))
    above = [pair for pair in pairs if _above(*pair)] + [
        pair[::-1] for pair in pairs if _above(*pair[::-1])
    ]
    moved = [(one, _worse(one)) for one in known.values()]
    return {
        "pairs": len(above),
        "kept": sum(_stays(*pair) for pair in above),
        "of": len(pairs),
        "moved": len(moved),
        "moved_kept": sum(_stays(*pair) for pair in moved),
    }


def _above(one: Ranks, other: Ranks) -> bool:
    every = np.arange(1, one.n_items + 1)
    return bool((hit_rates(one.ranks, every) >= hit_rates(other.ranks, every)).all())


def _worse(one: Ranks) -> Ranks:
    return Ranks(np.minimum(one.ranks + one.ranks // 10 + 1, one.n_items), one.n_items)


def _stays(one: Ranks, other: Ranks) -> bool:
    return all(
        bool(
            (
                expected_curve(one, size, replacement=with_)
                >= expected_curve(other, size, replacement=with_) - 1e-12
            ).all()
        )
        for size in (SIZE, 10)
        for with_ in (True, False)
    )


def best_places(known: Ranks, ks: tuple[int, ...]) -> dict[str, Any]:
    """Figure 2: the cut-offs at which HR comes closest to the expectation of SHR@k."""
    every = hit_rates(known.ranks, np.arange(1, known.n_items + 1))
    wanted = expected_curve(known)
    after = np.searchsorted(every, wanted).clip(1, known.n_items - 1)
    first = np.abs(every[after - 1] - wanted) <= np.abs(every[after] - wanted)
    nearest = np.where(first, after, after + 1)
    distance = np.abs(every[nearest - 1] - wanted)
    return {
        "places": {str(k): int(nearest[k - 1]) for k in ks},
        "largest_distance": round(float(distance.max()), 5),
    }


def cut_offs(n_items: int) -> np.ndarray:
    return np.unique(np.geomspace(1, n_items, 150).astype(np.int64))


def beta_fit(known: Ranks, drawn: Drawn) -> dict[str, Any]:
    """Figure 3: how far a power law is from the distribution of ranks."""
    every = np.arange(1, known.n_items + 1)
    exact = hit_rates(known.ranks, every)
    tried = {"beta@0.5": 0.5, "beta@0.6": 0.6, "beta@1": 1.0, "beta@P": float(drawn.a.mean())}
    share = (every - 1.0) / (known.n_items - 1.0)
    return {
        "a": {name: round(a, 4) for name, a in tried.items()},
        "distance": {
            name: round(float(np.abs(share**a - exact).max()), 4) for name, a in tried.items()
        },
    }


def density(known: Ranks) -> dict[str, Any]:
    """Figure 3: how dense the ranks are, beside ranks that are spread evenly over the items."""
    edges = np.unique(np.geomspace(1, known.n_items + 1, 40).astype(np.int64))
    counts = np.histogram(known.ranks, edges)[0]
    return {
        "edges": edges.tolist(),
        "density": _short(counts / known.ranks.size / np.diff(edges) * known.n_items),
    }


def shapes_of_f(n_items: int) -> dict[str, Any]:
    """Figures 4 and 5: f(k; a) beside f(k; 1) and beside f(k; 0.3); is f monotone in a?"""
    values = {
        a: Mapping(sample_size=SIZE, n_items=n_items, a=a).values()
        for a in (*RELATIVE_A, 1.0, AROUND, *NEAR_A)
    }
    grid = [
        Mapping(sample_size=SIZE, n_items=n_items, a=float(a)).values()
        for a in np.arange(0.05, 1.51, 0.05)
    ]
    steps = np.diff(np.array(grid)[:, :-1], axis=0)
    return {
        "n_items": n_items,
        "relative": {f"{a:g}": _short(values[a] / values[1.0] - 1.0) for a in RELATIVE_A},
        "apart": {f"{a:g}": _short(values[a] - values[AROUND]) for a in NEAR_A},
        "grows_with_a": bool((steps > 0).all()),
        "falls_with_a": bool((steps < 0).all()),
    }


def alignment(known: Ranks) -> dict[str, Any]:
    """Figure 7: the sampled curve of one draw at f(k), beside HR@K, and HR@f(k) at k."""
    sample = simulate(
        known.ranks, n_items=known.n_items, design=Uniform(SIZE, replacement=True), rng=0
    )
    mapped = {name: functions(known.n_items)[name] for name in ALIGNED}
    ks = cut_offs(known.n_items)
    return {
        "cut_offs": ks.tolist(),
        "exact": _short(hit_rates(known.ranks, ks)),
        "sampled": _short(mapped["bound"].curve(sample)[1]),
        "places": {name: _short(one.values()) for name, one in mapped.items()},
        "at_places": {
            name: _short(hit_rates(known.ranks, places(one))) for name, one in mapped.items()
        },
    }


def sizes(known: Ranks, repeats: int) -> dict[str, Any]:
    """Figure 8: mapped curves of samples of 50 to 1,000, and how far they are from HR@K."""
    ks = cut_offs(known.n_items)
    rows = []
    for size in (one for one in SIZES if one < known.n_items):
        mapping = functions(known.n_items, size)[PLACED]
        exact = hit_rates(known.ranks, places(mapping))
        thin = np.unique(np.geomspace(1, size, 60).astype(np.int64)) - 1  # of what is drawn
        drawn = [
            mapping.curve(
                simulate(
                    known.ranks,
                    n_items=known.n_items,
                    design=Uniform(size, replacement=True),
                    rng=seed,
                )
            )[1]
            for seed in range(repeats)
        ]
        rows.append(
            {
                "size": size,
                "places": _short(mapping.values()[thin]),
                "sampled": _short(drawn[0][thin]),
                "mean_error": round(float(np.abs(np.array(drawn) - exact).mean()), 5),
                "largest_error": round(float(np.abs(np.array(drawn) - exact).max(1).mean()), 5),
                "first_place": round(float(mapping.values()[0]), 1),
            }
        )
    return {"cut_offs": ks.tolist(), "exact": _short(hit_rates(known.ranks, ks)), "rows": rows}


def _short(values: Floats) -> list[float]:
    return [float(f"{value:.5g}") for value in values]
