"""The page of aaai2023, from its JSON."""

from __future__ import annotations

import statistics
from typing import Any

from reproduction.aaai2021.published import label
from reproduction.aaai2023 import published as printed
from reproduction.aaai2023.page_tables import LABELS, SECTIONS, section, winners_section
from reproduction.aaai2023.tables import Content
from reproduction.aaai2023.verdict import ALIKE, LITTLE
from reproduction.common.exact import METRICS
from reproduction.runner import PAPERS
from reproduction.study import table

HOLDS = {True: "yes", False: "no", None: "in part"}


def page(content: Content) -> str:
    return "\n".join(
        [
            _head(content),
            _statements(content),
            _won(content),
            _priors(content),
            *(section(content, *one) for one in SECTIONS),
            winners_section(content),
            _figures(content),
            _bounds(content),
            _outcomes(content),
        ]
    )


def _head(content: Content) -> str:
    data = ", ".join(
        f"{name} ({one['n_users']:,} users, {one['n_items']:,} items)"
        for name, one in content["data"].items()
    )
    return f"""# Estimators with priors and adaptive sampling

After {PAPERS["000"]} (000) and chapter 2 of the dissertation (003). {data}; models trained here
(the ranks are kept: [ranks](ranks.md)), one held-out item a user, training items kept as in the
papers. {content["repeats"]} samples of each design; an error is the average over K = 1..50 of
|estimate - exact| / exact in percent, mean ± standard deviation over the samples.

Designs: "fixed n" draws n - 1 items with replacement beside the target; "adaptive 100" doubles
from 100 up to 3,200 while the target is first, with replacement, as published; "adaptive 25" starts
at 25 and "fixed 100 without" draws 100, both without replacement: ours. EM takes 100 steps for
fixed samples and 50 for adaptive ones. "BV_MES, averaged" and the like take their prior from the
mean over all samples, as published; without the word the prior is from the one sample, as a user
has it. The papers do not say where an adaptive sample starts, how many steps EM takes, or which
samples a prior is from: what is called published here is what their sizes, errors and spreads agree
with. The samples and estimates took {content["processor_seconds"]:,.0f} s of one processor; they
are kept.
"""


def _statements(content: Content) -> str:
    rows = [
        (one["paper"], one["says"], HOLDS[one["holds"]], one["found"]) for one in content["claims"]
    ]
    rows += [("ours", one["says"], HOLDS[one["holds"]], one["found"]) for one in content["ours"]]
    return f"""## What holds

A case is a data set with a model, published ({len(printed.DATA)} data sets, five models) or here. A
statement about cases holds where nine in ten are so, and in part from a half; one that rests on
averaged priors is asked with the prior of the single sample too, and holds in part where the two do
not agree.

{table(["paper", "statement", "holds", "found"], rows)}
"""


def _won(content: Content) -> str:
    by_design: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for one in content["wins"]:
        by_design.setdefault((one["data"], one["design"]), {})[one["metric"]] = one
    rows = [
        (data, design, f"{each['recall']['size']:.0f}", *(_first(each[m]) for m in METRICS))
        for (data, design), each in by_design.items()
    ]
    head = ["data", "design", "items a user", *LABELS.values()]
    tilted = label("WMLE")
    return f"""## Which estimator wins, at which cost

The two least errors, mean over the models, among estimators that a user has (no prior averaged over
samples); in brackets that of MLE, where it is neither. "items a user" is what a design costs:
scores computed. "≈" stands between errors less than {100 * ALIKE:.0f} % apart, which 100 samples do
not tell apart. {tilted} is the weighted likelihood inside the tilted family, not the estimator of
the paper.

{table(head, rows)}

![Error of Recall against items drawn for a user, by design and estimator](aaai2023-cost.svg)
"""


def _first(one: dict[str, Any]) -> str:
    sign = "≈" if one["second_error"] < (1 + ALIKE) * one["error"] else "<"
    text = (
        f"{label(one['first'])} {one['error']:.2f} {sign} {label(one['second'])} "
        f"{one['second_error']:.2f}"
    )
    return text if "MLE" in (one["first"], one["second"]) else f"{text} ({one['MLE']:.2f})"


def _priors(content: Content) -> str:
    rows = [
        (
            one["design"],
            one["estimator"],
            f"{one['averaged']:.2f}",
            f"{one['single']:.2f}",
            _left(one["left_percent"]),
        )
        for one in content["priors"]
    ]
    head = ["design", "estimator", "averaged prior", "single sample's prior", "advantage left"]
    return f"""## What is left without averaged priors

The error over that of the estimator the prior is from (MES or MLE), a geometric mean over data
sets, models and metrics: below 1 the prior pays.

{table(head, rows)}

{_gains(content)}
"""


def _gains(content: Content) -> str:
    """Over which estimator single priors gain, and how MES itself does as samples grow."""
    gained = [one["estimator"] for one in content["priors"] if one["single"] < 1 - LITTLE]
    over = {base: sum(name.endswith(base) for name in gained) for base in ("MES", "MLE")}
    means = {
        base: {
            design: statistics.fmean(
                error
                for row in content["verdict"]
                if row["design"] == design
                for error in row["errors"][base]
            )
            for design in content["designs"]
        }
        for base in ("MES", "MLE")
    }
    rows = [
        (design, *(f"{means[base][design]:.1f}" for base in means)) for design in content["designs"]
    ]
    lines = len(content["priors"])
    return f"""The prior of the single sample gains in {len(gained)} of {lines} lines,
{over["MES"]} times over MES and {over["MLE"]} times over MLE. A gain over MES is not one over MLE:
MES keeps the published η = 0.001 at every size, which probably is too much for large samples. Mean
errors in percent, over data sets, models and metrics:

{table(["design", "MES", "MLE"], rows)}"""


_ON_FIGURES = """## The blind spot

000 Figure 1, 003 Figures 7 and 8, there on ml-20m. Above, how often each rank among 100 comes out;
below, the error of Recall@K from 100 items, and what adaptive samples make of it.

![Shares of the ranks among 100 and errors of Recall at K by data set](aaai2023-blind-spot.svg)

## How deep to sample

000 Figure 2, 003 Figure 9, there on yelp. Users whose target is first get twice as many items,
until all are drawn. C_j is the number of items drawn at a level for each user who leaves rank 1
there; the errors are those of a sample that stops at the level.

![Cost of a level and error of a sample that ends there, by share of items](aaai2023-depth.svg)
"""


def _left(percent: float | None) -> str:
    if percent is None:
        return "there was none"
    return f"{percent:.0f} %" if percent > 0 else "none"


def _figures(content: Content) -> str:
    parts = [_ON_FIGURES]
    for one in content["depth"]:
        rows = [
            (
                f"{level['size']:,}",
                f"{level['percent_of_items']:.1f}",
                f"{level['stopping']:,.0f}",
                f"{level['cost']['mean']:,.0f}" if level["cost"] else "",
                f"{level['average_size']:.0f}",
                *(f"{x:.2f}" for name in ("MLE", "smoothed") for x in level["errors"][name]),
            )
            for level in one["levels"]
        ]
        drawn = "with" if one["replacement"] else "without"
        errors = [f"{name} {LABELS[m]}" for name in ("MLE", "smoothed") for m in METRICS]
        head = ["size", "% of items", "users who stop", "C_j", "items a user", *errors]
        parts.append(f"**{one['data']}**, {one['model']}, {one['design']}, {drawn} replacement.\n")
        parts.append(table(head, rows) + "\n")
    return "\n".join(parts)


def _bounds(content: Content) -> str:
    rows = []
    for data in content["data"]:
        for design in content["designs"]:
            each = [
                one for one in content["bounds"] if (one["data"], one["design"]) == (data, design)
            ]
            width = [statistics.fmean(one["width_at_10"][m] for one in each) for m in range(3)]
            held = statistics.fmean(one["held_percent"] for one in each)
            rows.append((data, design, f"{held:.1f}", *(f"{one:.2f}" for one in width)))
    head = ["data", "design", "hold, %", *(f"{name}@10" for name in LABELS.values())]
    repeats = content["bounds"][0]["repeats"]
    return f"""## Bounds

No estimate but an interval that holds whatever the ranks are, at 95 % for all metrics and cut-offs
at once, from the first {repeats} samples of each design: how often it holds them all, and its width
at 10 over the exact value, mean over the models. In the tables above "bounds, middle" is the error
of its middle at K = 1, 5, 10, 20 and 50.

{table(head, rows)}
"""


def _outcomes(content: Content) -> str:
    rows = []
    for one in content["tables"]:
        within = f"{one['within']} of {one['cells']}" if "cells" in one else ""
        wide = f"{one['two_sd']}" if "cells" in one else ""
        apart = f"{one['median_percent']:.0f} %" if "cells" in one else ""
        order = "" if one.get("order") is None else f"{100 * one['order']:.0f} %"
        why = one.get("differs") or one.get("why", "")
        if one["state"] == "on other data":
            why = f"{one['says']}: {HOLDS[one['holds']]} on {one['data']}; {why}"
        rows.append((one["item"], one["state"], within, wide, apart, order, why))
    head = ["item", "state", "cells within", "within two sd", "median distance", "pairs in order",
            "what differs"]  # fmt: skip
    return f"""## Table by table

A cell is within where it lies no further from the published one than 15 % or two standard errors of
the two means (of a count of winners: two of its binomial deviations), where those are wider.
"within two sd" counts the cells within two published standard deviations: the spread of single
repeats, which is wide. A table is reproduced when nine in ten cells are within, in order when nine
in ten pairs of a row are; where the data of a figure are not here, its statement is tested on
others.

{table(head, rows)}
"""
