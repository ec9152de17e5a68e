"""``fullrank compare``: which model is better, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fullrank.cli import common
from fullrank.cli.rank_options import Reading, read_models, takes_ranks
from fullrank.cli.shape_options import Anchors, Joint, shaped, told
from fullrank.errors import InputError

PANEL = common.HAVE_RANKS


@takes_ranks
def compare(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Files of ranks, and folders that `fullrank evaluate` wrote.",
            metavar="[NAME=]FILES...",
            readable=False,  # said in our own words
            show_default=False,
        ),
    ],
    reading: Reading,
    metric: common.Metrics = None,
    test: Annotated[
        str,
        typer.Option("--test", help="t, z, bootstrap, randomization, sign or wilcoxon."),
    ] = "t",
    correction: Annotated[
        str, typer.Option("--correction", help="For many tests: holm, bonferroni, bh or none.")
    ] = "holm",
    baseline: Annotated[
        str | None, typer.Option("--baseline", help="Compare every model with this one alone.")
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="The estimator for samples; naive for sampled metrics.")
    ] = "auto",
    anchor: Anchors = None,
    joint: Joint = False,
    paired: Annotated[
        bool | None,
        typer.Option(
            "--paired/--unpaired", help="Pair models by user. Default: paired when user ids match."
        ),
    ] = None,
    level: common.Level = 0.95,
    form: common.Format = "text",
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Compare models on the same users: differences, tests, and the probability of being best.

    Models come from several files, or from one with a column model. They are
    paired by the columns user and item; without a column user, they are
    compared as measured on different users.

    Example: fullrank compare runs/ease runs/ials -m ndcg@10 -m recall@20

    One model, two runs: fullrank compare last=runs/60 now=runs/61

    Or: fullrank compare ease.csv ials.csv --sample-size 100 --n-items 26744
    """
    from fullrank.inference import compare as contrast
    from fullrank.metrics import DEFAULT, parse_all

    metrics = [one for given in metric for one in parse_all(given)] if metric else DEFAULT
    found = told(read_models(reading, files, seed=seed, seeds=True), method)
    if len(found.samples) < 2:
        raise InputError(
            f"`FILES` must hold two models or more; there is only {next(iter(found.samples))!r}."
        )
    result = contrast(
        shaped(found.samples, anchor, joint, method),
        metrics,
        test=test,
        correction=None if correction == "none" else correction,
        confidence_level=level,
        baseline=baseline,
        method=method,
        paired=paired,
        rng=seed,
    )
    result = replace(result, assumed=found.notes)
    if as_json:
        common.say_json(result.to_dict())
    else:
        common.say_result(result, form, result.page(n_shown=None))
