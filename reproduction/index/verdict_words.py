"""The verdict for a reader who knows none of the names: what was measured, and with what.

The lines that say what a design or an estimator is are typed, and nothing else.
"""

from __future__ import annotations

from typing import Any

from reproduction.index.verdict import LEVEL
from reproduction.index.verdict_advice import advice, size
from reproduction.index.verdict_text import label, names, table

_SAME = "the same number for every user, drawn"
_DOUBLED = "doubled for the users whose hidden item still stands first, up to 3,200; drawn"
DESIGNS = {
    "fixed 100 without": f"{_SAME} without replacement (ours)",
    "fixed 100": f"{_SAME} with replacement (as published)",
    "fixed 500": f"{_SAME} with replacement (as published)",
    "fixed 1000": f"{_SAME} with replacement (as published)",
    "adaptive 25": f"25 for every user, {_DOUBLED} without replacement (ours)",
    "adaptive 100": f"100 for every user, {_DOUBLED} with replacement (as published)",
}
ESTIMATORS = {
    "naive": "the metric of the sampled rank as it is",
    "CLS": "a value for each sampled rank, never larger for a worse one, by least squares",
    "MLE": "the distribution of ranks that makes the sample likeliest, by EM stopped early",
    "WMLE": "MLE that listens more to users near the top; the form that is printed in the paper "
    "[estimates another distribution](../estimators/weighted.md)",
    "MES": "the distribution of the greatest entropy that fits the sample, η = 0.001 as published",
    "BV 0.1, BV 0.01": "a value for each sampled rank that trades bias for variance; the number "
    "is the weight γ of the variance, and all ranks count alike beforehand",
    "BV_MLE, BV_MES": "the same, with the distribution found by MLE or MES beforehand, γ = 0.01",
    "MN_MLE, MN_MES": "the same, with the weight of the variance from the number of users",
    "smoothed": "MLE of a smooth distribution, the smoothness chosen by the sample; ours",
    "bounds": "the middle of the values that the sample does not rule out; ours",
}


def words(found: dict[str, Any]) -> str:
    parts = [
        "### In plain words",
        _measured(found),
        "Designs, the cheapest first:",
        _designs(found),
        "Estimators ([more about each](../estimators/index.md)):",
        table(["estimator", "what it does"], ([label(k), text] for k, text in _known(found))),
        advice(found),
    ]
    return "\n\n".join(parts)


def _measured(found: dict[str, Any]) -> str:
    left = ""
    if found["pairs_with_every_design"] < found["pairs"]:
        left = (
            f" {found['pairs_with_every_design']} of {found['pairs']} pairs of data set and model "
            "have every design, and tables that compare designs are of these."
        )
    if found["apart"]:
        left += f" Too few have {names(found['apart'])}, which the table by data set shows."
    return (
        "A recommender is tested by hiding an item of every user and looking up its rank among all "
        "items; Recall, NDCG and AP follow from the ranks. To score all items is dear. So a "
        "*design* draws some candidates for a user, and an *estimator* turns the ranks among the "
        "candidates into the metrics over all items. Here the exact ranks are known "
        f"({len(found['models'])} models: {names(found['models'])}; {len(found['data'])} data "
        f"sets: {names(found['data'])}), every design was drawn {found['repeats']} times, and "
        "every estimator was held against the truth. Items that a user has in the training data "
        "stay among the candidates, as they do in the papers. An estimator has the one sample that "
        "a user would have; a prior, where it takes one, comes from that sample.\n\n"
        "The error is the papers': the mean over K = 1..50 of |estimate − exact| / exact, in "
        "percent. Over models, data sets and metrics it is averaged twice. The *geometric* mean "
        "decides the order, for in it no hard data set outvotes the others; the *arithmetic* one "
        "stands beside it. An estimator is first if it is so by both means. Those within "
        f"{100 * LEVEL:.0f} % of the least error by both are *level*, and so are the two that the "
        f"means name where they disagree.{left}"
    )


def _designs(found: dict[str, Any]) -> str:
    rows = [[one["design"], size(one), DESIGNS.get(one["design"], "")] for one in found["designs"]]
    return table(["design", "candidates a user", "how they are drawn"], rows)


def _known(found: dict[str, Any]) -> list[tuple[str, str]]:
    have = {e["estimator"] for one in found["designs"] for e in one["estimators"]}
    return [(key, text) for key, text in ESTIMATORS.items() if have & set(key.split(", "))]
