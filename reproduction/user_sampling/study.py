"""Sampled users, each ranked among all items, against all users ranked among sampled items.

Tables 6 and 7 of Li (dissertation), section 2.8.6: the average over K = 1..50 of the relative error
of recall and NDCG, for the five models. Everything is drawn from the stored ranks (the study
`ranks`); item samples are those of `common.repeats`, which are kept in out/repeats.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

from fullrank.data import sample_users
from fullrank.samples import RankDistribution
from reproduction.common.bank import banks
from reproduction.common.exact import KS, Judge, Ranks
from reproduction.common.repeats import CACHE, Cell, computed, every_cell, fill
from reproduction.user_sampling.outcome import METRICS, published, tables

REPEATS = 100

USERS = (1000, 5000, 10_000)
# label, design and estimator; the first two are published
ITEMS = (
    ("100 items, MN_MES", "fixed 100", "MN_MES"),
    ("500 items, MN_MES", "fixed 500", "MN_MES"),
    ("adaptive 100 to 3200, MLE", "adaptive 100", "MLE"),
    ("adaptive 25 to 3200, smoothed", "adaptive 25", "smoothed"),
)
AVERAGED = "MN_MES, averaged"
QUICK_MODELS = ("EASE",)
DIGITS = 6  # more than a page shows


def study(asked: argparse.Namespace) -> dict[str, Any]:
    sizes: dict[str, dict[str, int]] = {}
    rows: list[dict[str, Any]] = []
    known_of = banks(asked.quick, QUICK_MODELS)
    every = every_cell(known_of, dict.fromkeys(design for _, design, _ in ITEMS))
    fill(every, repeats=asked.repeats, cache=asked.cache, jobs=asked.jobs)
    for data, known in known_of.items():
        sizes[data] = {"n_users": int(known["EASE"].ranks.size), "n_items": known["EASE"].n_items}
        for model in known:
            rows += _items(data, model, known[model], asked)
            rows += [_users(data, model, known[model], n, asked) for n in drawn(known[model])]
            print(f"{data}, {model}", flush=True)
    content = {"repeats": asked.repeats, "sizes": sizes, "rows": rows}
    first = next(iter(sizes))
    found = {"data": first, **sizes[first], **content}
    return found | {"tables": tables(found), "matched": _matched(found)}


def _items(data: str, model: str, known: Ranks, asked: argparse.Namespace) -> list[dict[str, Any]]:
    """Rows of designs that sample items for every user."""
    cells = [Cell(data, model, design) for _, design, _ in ITEMS]
    found = computed(cells, repeats=asked.repeats, cache=asked.cache, jobs=asked.jobs)
    rows = []
    for cell, (label, _, estimator) in zip(cells, ITEMS, strict=True):
        repeats = found[cell]
        scored = known.ranks.size * float(repeats.sizes.mean())
        row = _row(data, model, label, scored, repeats.errors(estimator))
        if estimator == "MN_MES":
            averaged = repeats.errors(AVERAGED)
            row["averaged"] = {m: _spread(averaged[:, j]) for j, m in enumerate(METRICS)}
        rows.append(row)
    return rows


def drawn(known: Ranks) -> list[int]:
    """The numbers of users to draw: the published ones up to 60 % of all users."""
    n_users = known.ranks.size
    return [n for n in USERS if n <= 0.6 * n_users] or [n_users // 2]


def _users(
    data: str, model: str, known: Ranks, n_users: int, asked: argparse.Namespace
) -> dict[str, Any]:
    """Some users drawn without replacement, and the error of recall that theory predicts.

    A share p has the standard deviation √(p (1 - p) (1 - n/M) / n), and a normal variable errs by
    √(2/π) of its own on average.
    """
    work = partial(_errors, known=known, judge=Judge(known), n_users=n_users)
    errors = np.array([work(seed) for seed in range(asked.repeats)])
    recall = np.array([np.mean(known.ranks <= k) for k in KS])
    p = recall[recall > 0]
    left_out = 1 - n_users / known.ranks.size
    theory = np.sqrt(2 / np.pi * (1 - p) / p * left_out / n_users).mean()
    row = _row(data, model, f"{n_users:,} users", n_users * known.n_items, errors)
    return row | {"users_drawn": n_users, "theory": round(100 * float(theory), DIGITS)}


def _errors(seed: int, known: Ranks, judge: Judge, n_users: int) -> list[float]:
    chosen = sample_users(known.ranks.size, n_users, rng=seed).user_rows
    seen = RankDistribution.from_ranks(known.ranks[chosen], n_items=known.n_items, grid=judge.grid)
    return judge.errors(seen.mass)


def _spread(values: np.ndarray) -> dict[str, float]:
    found = {"mean": values.mean(), "sd": values.std(ddof=1)}
    return {name: round(float(value), DIGITS) for name, value in found.items()}


def _row(data: str, model: str, label: str, scored: float, errors: np.ndarray) -> dict[str, Any]:
    there = published(data, model, label)
    return {
        "data": data,
        "model": model,
        "design": label,
        "scored_millions": round(scored / 1e6, DIGITS),
        **{metric: _spread(errors[:, j]) for j, metric in enumerate(METRICS)},
        "published": there,
    }


def _matched(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The smallest draw of users beside the adaptive sample of items."""
    rows = {(one["data"], one["model"], one["design"]): one for one in content["rows"]}
    found = []
    for data, model in dict.fromkeys((one["data"], one["model"]) for one in content["rows"]):
        users = next(rows[key] for key in rows if key[:2] == (data, model) and "users" in key[2])
        items = rows[data, model, ITEMS[-1][0]]
        found.append(
            {
                "data": data,
                "model": model,
                "users": {"millions": users["scored_millions"], "recall": users["recall"]["mean"]},
                "items": {"millions": items["scored_millions"], "recall": items["recall"]["mean"]},
            }
        )
    return found


def options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(cache=CACHE)
