"""Sampled users, each ranked among all items, against all users ranked among sampled items.

After Tables 6 and 7 of the dissertation (003, section 2.8.6): the average over K = 1..50 of the
relative error of recall and NDCG, for the five models. Everything is drawn from the kept ranks
(`ranks.py`); item samples are those of `_repeats`, which are kept in out/repeats.
"""

from __future__ import annotations

import argparse
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from fullrank.ranking import sample_users
from fullrank.sampling import RankDistribution
from reproduction.aaai2023 import published as printed
from reproduction.aaai2023.tables import Content, standing
from reproduction.common.bank import banks
from reproduction.common.exact import KS, Judge, Ranks
from reproduction.common.repeats import CACHE, Cell, computed, every_cell, fill
from reproduction.outcome import claim, compare, holds_for, missing
from reproduction.user_sampling.page import METRICS, expected, published

REPEATS = 100

USERS = (1000, 5000, 10_000)
# label, design and estimator; the first of each pair is published
ITEMS = (
    ("100 items, MN_MES", "fixed 100", "MN_MES"),
    ("500 items, MN_MES", "fixed 500", "MN_MES"),
    ("adaptive 100 to 3200, MLE", "adaptive 100", "MLE"),
    ("adaptive 25 to 3200, smoothed", "adaptive 25", "smoothed"),
)
AVERAGED = "MN_MES, averaged"
NEAR = 0.2  # a mean over 100 repeats is itself uncertain by some 5 %
QUICK_MODELS = ("EASE",)
DIGITS = 6  # enough that a page rounds once


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
    outcomes = {"tables": _tables(found), "claims": _claims(found), "matched": _matched(found)}
    return found | outcomes


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
    """How many users to draw: the published numbers that leave two in five out."""
    n_users = known.ranks.size
    return [n for n in USERS if n <= 0.6 * n_users] or [n_users // 2]


def _users(
    data: str, model: str, known: Ranks, n_users: int, asked: argparse.Namespace
) -> dict[str, Any]:
    """Some users drawn without replacement, and what theory says of the error of recall.

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


def _tables(content: Content) -> list[dict[str, Any]]:
    rows = {(one["data"], one["model"], one["design"]): one for one in content["rows"]}
    found = []
    for item, metric in (("003 Table 6", "recall"), ("003 Table 7", "ndcg")):
        cells, absent = [], []
        for name, models in printed.USER_SAMPLING[metric].items():
            data = standing({"data": content["sizes"]}, name)
            if data is None:
                absent.append(name)
            for model, columns in models.items():
                for label, (mean, sd) in columns.items():
                    one = rows.get((data or "", model, label))
                    measured = one and one.get("averaged", one)[metric]
                    factor = expected(name, content, label)
                    cells.append(
                        {
                            "row": f"{name} {model}",
                            "column": label,
                            "published": factor * mean,
                            "published_sd": factor * sd,
                            "measured": measured and measured["mean"],
                            "measured_sd": measured and measured["sd"],
                        }
                    )
        if all(cell["measured"] is None for cell in cells):
            found.append(missing(item, f"{' and '.join(absent)} are not here"))
        else:
            found.append(_compared(content, item, cells, absent))
    return found


def _compared(
    content: Content, item: str, cells: list[dict[str, Any]], absent: list[str]
) -> dict[str, Any]:
    return compare(item, cells, differs=_differs(content, absent), repeats=content["repeats"])


def _differs(content: Content, absent: list[str]) -> str:
    says = []
    if standing({"data": content["sizes"]}, "pinterest-20") == "pinterest-20-part":
        users = content["sizes"]["pinterest-20-part"]["n_users"]
        grown = expected("pinterest-20", content, "100 items")
        says.append(
            f"{users:,} of the {printed.USERS['pinterest-20']:,} users of pinterest-20: errors of "
            f"items held to the published times {grown:.2f}, of users to what a larger share errs"
        )
    says.append("models trained here")
    says.append("users drawn without replacement (003 does not say how)")
    if absent:
        says.append(f"{' and '.join(absent)} not here")
    return "; ".join(says)


def _claims(content: Content) -> list[dict[str, Any]]:
    """What section 2.8.6 of 003 states."""
    drawn_rows = [one for one in content["rows"] if "users_drawn" in one]
    falls = [
        one[m]["mean"] > other[m]["mean"]
        for one, other in pairwise(drawn_rows)
        if (one["data"], one["model"]) == (other["data"], other["model"])
        for m in METRICS
    ]
    few = [
        one["recall"]["mean"]
        for one in drawn_rows
        if one["data"] == "ml-20m" and one["users_drawn"] == USERS[0]
    ]
    ratios = [one["recall"]["mean"] / one["theory"] for one in drawn_rows]
    near = sum(abs(ratio - 1) <= NEAR for ratio in ratios)
    found = [
        claim(
            "003",
            "the error falls as more users are drawn (Recall, NDCG)",
            holds_for(sum(falls), len(falls)) if falls else None,
            f"at {sum(falls)} of {len(falls)} steps",
        ),
        claim(
            "003",
            "how well n users do depends on n and the metric, hardly on how many users there are",
            holds_for(near, len(ratios)),
            f"in {near} of {len(ratios)} cases the error of Recall is within {100 * NEAR:.0f} % of "
            "√(2 (1 - p) (1 - n/M) / (π n p)), mean over K, where M stands only in the share drawn",
        ),
    ]
    if few:
        says = "1,000 users give Recall within 4 to 8 % on ml-20m"
        text = f"{min(few):.1f} to {max(few):.1f} %"
        inside = sum(4 <= one <= 8 for one in few)
        found.append(claim("003", says, holds_for(inside, len(few)), text))
    return found


def _matched(content: Content) -> list[dict[str, Any]]:
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
