"""Tables 5 and 6 of Li et al. 2020: three ways to draw candidates, samples of 100 and of 1,000.

With and without replacement from all items, and without replacement from the items that the user
has not seen (the paper's "actual"). For the last a target's rank and the pool are the user's own,
and how many items each user has seen is kept in `reproduction/results/ranks/kdd2020-seen.npz`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.designs import RankGrid, Uniform
from fullrank.errors import InputError
from fullrank.estimators import Mapping, smoothed
from fullrank.samples import RankSample, simulate
from reproduction.common.exact import Ranks
from reproduction.common.kept import RESULTS, keep_arrays
from reproduction.kdd2020.published import MAPPED, SCHEMES
from reproduction.kdd2020.repeats import Floats, functions, hit_rates, kept_repeats, key_of, places
from reproduction.ranks.data import world
from reproduction.study import spread

KEPT = RESULTS / "ranks" / "kdd2020-seen.npz"
UNSEEN = "unseen items"


def seen(name: str, kept: Ranks, excluded: Ranks) -> np.ndarray:
    """How many training items each user has, in the order of the ranks."""
    counts = _read(name)
    if counts is None:
        found = world(name)
        counts = found.whole.user_counts()[found.test.pairs()[0]]
        if KEPT.parent.is_dir() and name == "ml-1m":
            keep_arrays(KEPT, **{name: counts.astype(np.uint16)})
    above = kept.ranks - excluded.ranks
    if counts.size != above.size or (above > counts).any():
        raise InputError(f"`ranks` of {name} must be of the users that {KEPT.name} counts.")
    return counts


def _read(name: str) -> np.ndarray | None:
    if KEPT.is_file():
        with np.load(KEPT) as content:
            if name in content:
                return np.asarray(content[name], dtype=np.int64)
    return None


def schemes(
    name: str, kept: Ranks, excluded: Ranks, repeats: int, *, jobs: int, cache: Path
) -> tuple[list[dict[str, Any]], float]:
    """A cell for each size, scheme, k and column; and the seconds that drawing took."""
    counts = seen(name, kept, excluded)
    cells, seconds = [], 0.0
    for size, published in SCHEMES.items():
        work = partial(_repeat, size=size, kept=kept, excluded=excluded, counts=counts)
        path = cache / "kdd2020" / f"schemes-{name}-{size}-{repeats}.npz"
        found = kept_repeats(path, key_of(kept, excluded), work, repeats, jobs)
        seconds += float(found["seconds"])
        for s, (scheme, rows) in enumerate(published.items()):
            known = excluded if scheme == UNSEEN else kept
            for r, row in enumerate(rows):
                head = {"size": size, "scheme": scheme, "k": row[0]}
                cells += [
                    head | cell for cell in _cells(row, size, known, found["values"][:, s, r])
                ]
    return cells, seconds


def _cells(
    row: tuple[Any, ...], size: int, known: Ranks, values: Floats
) -> Iterator[dict[str, Any]]:
    """`values` has repeats, and SHR@k or what smoothed makes of HR at the place of beta@0.5."""
    k, sampled, *printed = row
    mapped = functions(known.n_items, size)
    drawn, estimate = spread(values[:, 0]), spread(values[:, 1])
    yield {"column": "SHR", "published": sampled, **_measured(drawn)}
    for column, value in zip(MAPPED, printed, strict=True):
        exact = hit_rates(known.ranks, places(mapped[column])[[k - 1]])[0]
        yield {"column": column, "published": value, "measured": round(float(exact), 4)}
    yield {"column": "smoothed", "published": None, **_measured(estimate)}


def _measured(found: dict[str, float]) -> dict[str, float]:
    return {"measured": found["mean"], "measured_sd": found["sd"]}


def _repeat(
    seed: int, size: int, kept: Ranks, excluded: Ranks, counts: np.ndarray
) -> dict[str, Any]:
    """Schemes, k, and the two of `_cells`."""
    n_items = kept.n_items
    draw = partial(simulate, kept.ranks, n_items=n_items, rng=seed)
    samples = {
        "with replacement": draw(design=Uniform(size, replacement=True)),
        "without replacement": draw(design=Uniform(size)),
        UNSEEN: unseen_sample(excluded.ranks, n_items - counts, size, seed),
    }
    at = places(Mapping(sample_size=size, n_items=n_items, a=0.5))
    grid = RankGrid.default(n_items)
    found = []
    for scheme, rows in SCHEMES[size].items():
        sample = samples[scheme]
        shares = np.bincount(sample.rank, sample.weight, size + 1)[1:].cumsum() / sample.n_targets
        estimate = smoothed(sample, grid=grid)
        found.append(
            [[shares[k - 1], float(estimate.cdf(at[[k - 1]])[0])] for k in (row[0] for row in rows)]
        )
    return {"values": found}


def unseen_sample(ranks: np.ndarray, pools: np.ndarray, size: int, seed: int) -> RankSample:
    """Candidates without replacement from what the user has not seen, the target among them."""
    above = np.random.default_rng(seed).hypergeometric(ranks - 1, pools - ranks, size - 1)
    return RankSample.from_ranks(above + 1, sample_size=size, n_items=pools)
