"""Li et al. 2020 (KDD): mapping functions from sampled to global hit rates.

Tables 2, 5, 6 and 7, winners in the style of Table 3, Figures 1 to 5, 7 and 8, and our own
estimators in the same tables. Draws 100 samples from the stored ranks of each of five models (study
`ranks`). Figure 8 uses Book-Crossing if FULLRANK_DATA has it. Draws are cached, so that an
interrupted run resumes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from fullrank.errors import InputError
from fullrank.inference import bounds
from fullrank.samples import simulate
from reproduction.common.bank import DATA, QUICK_DATA, bank
from reproduction.kdd2020.books import NAME as BOOKS
from reproduction.kdd2020.books import books
from reproduction.kdd2020.curves import (
    YELP_ITEMS,
    Known,
    alignment,
    best_places,
    beta_fit,
    curves,
    density,
    dominance,
    shapes_of_f,
    sizes,
)
from reproduction.kdd2020.outcome import tables
from reproduction.kdd2020.repeats import Drawn, drawn
from reproduction.kdd2020.schemes import schemes
from reproduction.kdd2020.tables import KS, beta_cells, mapping_errors, top_errors, winners

REPEATS = 100


SHOWN = ("ml-1m", "MultiVAE")  # of Tables 5-7 and Figure 7
SHOWN_LATER = ("pinterest-20-part", "EASE")  # of Figure 10 of the dissertation
LARGEST = ("yelp-diffnet", "NeuMF")  # in the place of Book-Crossing
BOUNDED = ("recall@1", "recall@10", "recall@50")


def study(asked: argparse.Namespace) -> dict[str, Any]:
    worlds = _worlds(asked.quick)
    draws = {data: _draws(data, known, asked) for data, known in worlds.items()}
    names = list(worlds)
    shown, later, largest = (_there(one, worlds) for one in (SHOWN, SHOWN_LATER, LARGEST))
    data, model = shown
    cells, seconds = schemes(
        data,
        worlds[data][model],
        bank(data, excluded=True)[model],
        asked.repeats,
        jobs=asked.jobs,
        cache=asked.cache,
    )
    start = time.perf_counter()
    many = books(asked.cache, epochs=1 if asked.quick else 10)
    content: dict[str, Any] = {
        "repeats": asked.repeats,
        "data": [_about(name, known) for name, known in worlds.items()],
        "absent": [] if asked.quick else [one for one in DATA[:-1] if one not in worlds],
        "shown": list(shown),
        "shown_later": list(later),
        "beta": [cell for n in names for cell in beta_cells(n, worlds[n], draws[n])],
        "schemes": cells,
        "mappings": [row for n in names for row in mapping_errors(n, worlds[n], draws[n])],
        "adaptive_size": {
            n: {m: round(float(d.sizes.mean()), 1) for m, d in draws[n].items()} for n in names
        },
        "top": [row for n in names for row in top_errors(n, worlds[n], draws[n])],
        "bounds": [row for n in names for row in _bounds(n, worlds[n])],
        "winners": [winners(n, worlds[n], draws[n]) for n in names],
        "curves": {n: curves(worlds[n]) for n in dict.fromkeys((data, largest[0]))},
        "orders": {n: _orders(curves(worlds[n])) for n in names},
        "dominance": {n: dominance(worlds[n]) for n in names},
        "best_places": {n: {m: best_places(r, KS) for m, r in worlds[n].items()} for n in names},
        "beta_fit": {n: {m: beta_fit(r, draws[n][m]) for m, r in worlds[n].items()} for n in names},
        "density": density(worlds[later[0]][later[1]]),
        "shapes_of_f": {
            "shown": shapes_of_f(worlds[data][model].n_items),
            "yelp": shapes_of_f(YELP_ITEMS),
        },
        "alignment": {d: alignment(worlds[d][m]) for d, m in dict.fromkeys((shown, later))},
        "sizes": (
            {"data": BOOKS, "model": "NeuMF"} | sizes(many, asked.repeats)
            if many is not None
            else {"data": largest[0], "model": largest[1]}
            | sizes(worlds[largest[0]][largest[1]], asked.repeats)
        ),
    }
    # of all runs, for what was drawn before is not drawn again
    seconds += sum(float(one.seconds) for by in draws.values() for one in by.values())
    content["seconds"] = round(seconds + time.perf_counter() - start, 1)
    return content | {"tables": tables(content)}


def figures(content: dict[str, Any], folder: Path) -> None:
    from reproduction.kdd2020.draw import figures as draw  # which needs matplotlib

    draw(content, folder)


def _worlds(quick: bool) -> dict[str, Known]:
    """The data sets whose ranks are kept."""
    found = {}
    for name in (QUICK_DATA,) if quick else DATA[:-1]:
        try:
            found[name] = bank(name)
        except InputError as error:
            print(f"without {name}: {error}", flush=True)
    if not found:
        raise InputError("There are no ranks: make them with `python -m reproduction run ranks`.")
    return found


def _there(wanted: tuple[str, str], worlds: dict[str, Known]) -> tuple[str, str]:
    """What a table of the paper is about, or what is here in its place."""
    data = wanted[0] if wanted[0] in worlds else next(iter(worlds))
    return data, wanted[1] if wanted[1] in worlds[data] else next(iter(worlds[data]))


def _draws(data: str, known: Known, asked: argparse.Namespace) -> dict[str, Drawn]:
    return {
        model: drawn(f"{data}-{model}", one, asked.repeats, jobs=asked.jobs, cache=asked.cache)
        for model, one in known.items()
    }


def _about(name: str, known: Known) -> dict[str, Any]:
    first = next(iter(known.values()))
    return {
        "data": name,
        "n_users": int(first.ranks.size),
        "n_items": first.n_items,
        "models": list(known),
    }


def _orders(found: dict[str, Any]) -> dict[str, Any]:
    return {key: found[key] for key in ("orders", "orders_kept", "largest_lost")}


def _bounds(data: str, known: Known) -> list[dict[str, Any]]:
    """What one sample of 100 does not rule out (95 %)."""
    rows = []
    for model, one in known.items():
        sample = simulate(
            one.ranks, n_items=one.n_items, design="sampled:100,replacement=true", rng=0
        )
        found = bounds(sample, BOUNDED)
        for name in BOUNDED:
            low, high = found[name]
            exact = float((one.ranks <= int(name.split("@")[1])).mean())
            rows.append(
                {
                    "data": data,
                    "model": model,
                    "metric": name,
                    "low": round(low, 4),
                    "high": round(high, 4),
                    "exact": round(exact, 4),
                    "held": bool(low <= exact <= high),
                }
            )
    return rows
