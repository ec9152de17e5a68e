"""The page of the study kdd2020, from nothing but its JSON."""

from __future__ import annotations

from typing import Any

from reproduction.kdd2020.outcome import sized_data
from reproduction.kdd2020.page_tables import (
    all_errors,
    beta_table,
    bounds_table,
    closer,
    data_table,
    error_table,
    fit_table,
    order_table,
    place_table,
    scheme_errors,
    scheme_table,
    size_table,
    smaller,
    top_table,
    which_is_closer,
)
from reproduction.kdd2020.page_winners import named_table, winner_tables
from reproduction.study import table

_HOLDS = {True: "holds", False: "does not hold", None: "holds in part"}


def page(content: dict[str, Any]) -> str:
    data, model = content["shown"]
    sized = content["sizes"]
    return f"""# Li et al. 2020: mapping functions

D. Li, R. Jin, J. Gao, Z. Liu, *On Sampling Top-K Recommendation Evaluation*, KDD 2020: a sampled
hit rate SHR@k is read as the hit rate of the whole catalogue at another cut-off, HR@f(k). What the
functions are is told [with the estimators](../estimators/mapping.md). Means ± spread over
{content["repeats"]} draws from the exact ranks of the models; what was published, from one draw,
stands in brackets. The paper's ALS is our iALS; its NGCF is not here.

{data_table(content)}

## Table 2: the parameter of the beta distribution

Fitted to samples of 100 with replacement.

{beta_table(content)}

{_differs(content, "001 Table 2")} "from ranks" is the same fit to the exact ranks, each in the
middle of its place: {smaller(content)}.

## Tables 5 and 6: three ways to draw

{model} on {data}. HR@f(k) does not depend on the draw. "smoothed" is our estimate, from the same
sample, of HR at the place of beta@0.5: it is to be held to the column before it. "unseen items"
draws without replacement from what the user has not seen, and ranks so; f is that of the whole
catalogue, as in the paper.

{scheme_table(content, 100)}

{_differs(content, "001 Table 5")}

{scheme_table(content, 1000)}

{_differs(content, "001 Table 6")} Distance from HR at the place of beta@0.5, mean over the k of
both tables:

{scheme_errors(content)}

## Table 7: errors of the mapping functions

{model} on {data}: |HR@f(k) − SHR@k| over all k, at k = 1 and for k = 2 to 10. Below the functions,
estimators at the places of beta@0.5, |estimate of HR@f(k) − HR@f(k)|.

{error_table(content, data, model)}

{_differs(content, "001 Table 7")} The same for all models, mean over them:

{all_errors(content)}

{closer(content)}

## What a function cannot reach

Rank 1 of 100 stands for f(1), and what lies below has to be guessed. The error in % of HR@K, mean
over K = 1 to 50 as in the later papers, mean over the models: the sampled hit rate as it is; the
mapped curve on straight lines between its places; the fitted power law; estimators.

{top_table(content)}

{which_is_closer(content)}

What 100 candidates do not rule out, whatever the distribution of ranks (bounds, 95 %, one draw):

{bounds_table(content)}

## Winners, after Table 3

The table itself is missing from our copy of the paper. The three best models of each data set, by
HR at f(k) of beta@0.5; the best of a row in bold.

{winner_tables(content)}

Who is best by HR@K itself? Of {content["repeats"]} draws the share in % that names that model, by
each way to read HR@K from the sample:

{named_table(content)}

Adaptive samples start at 25 candidates and take {_sizes(content)} items a user.

## Figures

![Hit rates of all items and of 100 candidates](kdd2020-curves-{data}.svg)

{_figure(content, "001 Figure 1")}{_second_curve(content)}

Orders of two models at some k that are the same for SHR@k (in expectation) and HR@f(k), beta@0.5,
and the largest difference in HR that was lost:

{order_table(content)}

Where HR@K comes closest to the expectation of SHR@k: each model has places of its own.

{place_table(content)}

{_figure(content, "001 Figure 2")}

![Densities of the ranks and of the beta distributions fitted to them](kdd2020-beta.svg)

{_figure(content, "001 Figure 3")} Largest distance between the distribution of ranks and a power
law:

{fit_table(content)}

![Mapping functions f(k; a) for several values of a](kdd2020-mapping.svg)

{_figure(content, "001 Figure 4")} {_figure(content, "001 Figure 5")}
{_figure(content, "003 Figure 5")}

![Sampled and global curves laid over each other](kdd2020-alignment-{data}.svg)

{_figure(content, "001 Figure 7")} {_figure(content, "003 Figure 10")}{_second_alignment(content)}

![Mapped curves of samples of 50 to 1,000](kdd2020-sizes.svg)

{_figure(content, "001 Figure 8")} {sized["model"]} on {sized["data"]}, places of
beta@0.5:

{size_table(sized)}

## What the paper says

{_claims(content["claims"])}
"""


def _entry(content: dict[str, Any], item: str) -> dict[str, Any]:
    return next(one for one in content["tables"] if one["item"] == item)


def _differs(content: dict[str, Any], item: str) -> str:
    one = _entry(content, item)
    if "cells" not in one:
        return f"**{item}: {one['state']}.** {one['why']}."
    order = "" if one["order"] is None else f", {100 * one['order']:.0f} % of the orders kept"
    return (
        f"**{item}: {one['state']}**, {one['within']} of {one['cells']} cells within "
        f"{100 * one['tolerance']:.0f} %, or within two standard deviations of one draw"
        f"{order}. What differs: {one['differs']}."
    )


def _figure(content: dict[str, Any], item: str) -> str:
    one = _entry(content, item)
    text = one["why"] if "why" in one else one["says"]
    differs = f" ({one['differs']})" if one.get("differs") else ""
    there = f"; there, {one['data']}, it {_HOLDS[one['holds']]}" if "holds" in one else ""
    return f"**{item}: {one['state']}{there}.** {text[0].upper()}{text[1:]}{differs}."


def _claims(claims: list[dict[str, Any]]) -> str:
    rows = [(one["says"], _HOLDS[one["holds"]], one["found"]) for one in claims]
    return table(["claim", "here", "found"], rows)


def _sizes(content: dict[str, Any]) -> str:
    every = [size for by in content["adaptive_size"].values() for size in by.values()]
    return f"{min(every):,.0f} to {max(every):,.0f}"


def _second_curve(content: dict[str, Any]) -> str:
    other = sized_data(content)
    if other == content["shown"][0]:
        return ""
    return (
        f"\n\n![Hit rates of all items and of 100 candidates](kdd2020-curves-{other}.svg)\n\n"
        f"{_figure(content, '003 Figure 2')}"
    )


def _second_alignment(content: dict[str, Any]) -> str:
    other = content["shown_later"][0]
    if other == content["shown"][0]:
        return ""
    words = f"Sampled and global curves laid over each other, {other}"
    return f"\n\n![{words}](kdd2020-alignment-{other}.svg)"
