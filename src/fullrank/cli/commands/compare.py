"""``fullrank compare``: which model is better, and how sure that is."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Annotated

from fullrank._lib.text import printable
from fullrank.cli import common
from fullrank.cli.rank_options import RanksFiles, Reading, read_models, takes_ranks
from fullrank.cli.shape_options import Anchors, Joint, shaped, told
from fullrank.errors import InputError

PANEL = common.HAVE_RANKS
FIRST = (
    "sample_size", "n_items", "training_items", "column", "model", "metric", "baseline", "test",
    "correction", "paired", "form", "as_json",
)  # fmt: skip
_PANEL = "Comparison"
_CORRECTIONS = ("holm", "bonferroni", "bh", "none")


@takes_ranks
def compare(
    files: RanksFiles,
    reading: Reading,
    metric: common.Metrics = None,
    baseline: Annotated[
        str | None,
        common.option(_PANEL, "--baseline", "Compare the other models with this one only.", "NAME"),
    ] = None,
    test: Annotated[
        str,
        common.option(
            _PANEL, "--test", "Test: t, z, bootstrap, randomization, sign or wilcoxon.", "NAME"
        ),
    ] = "t",
    correction: Annotated[
        str,
        common.option(
            _PANEL,
            "--correction",
            "Multiple-testing correction: holm, bonferroni, bh or none.",
            "NAME",
        ),
    ] = "holm",
    paired: Annotated[
        bool | None,
        common.option(
            _PANEL, "--paired/--unpaired", "Pair models by user. Default: paired if user ids match."
        ),
    ] = None,
    method: Annotated[
        str,
        common.option(
            common.METRICS,
            "--method",
            "Estimator for samples: auto, naive to compare sampled metrics, or a name such as MLE.",
            "NAME",
        ),
    ] = "auto",
    anchor: Anchors = None,
    joint: Joint = False,
    level: common.Level = 0.95,
    form: common.Format = "text",
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Compare models on the same users: differences, tests, and the probability of being best.

    Models come from several files or runs, or from one file with a `model` column. They are
    paired by user; files without a `user` column are compared as samples of different users.

    For example:
      fullrank compare runs/60 runs/61 -m ndcg@10 -m recall@20
      fullrank compare last=runs/60 now=runs/61 --model ease
      fullrank compare ease.csv ials.csv --sample-size 100 --n-items 3000
    """
    from fullrank._lib import checks
    from fullrank.inference import compare as contrast
    from fullrank.metrics import DEFAULT, parse_all

    metrics = [one for given in metric for one in parse_all(given)] if metric else DEFAULT
    found = told(read_models(reading, files, seed=seed, seeds=True), method)
    if len(found.samples) < 2:
        raise InputError(
            f"`FILES` must hold at least two models; there is only {next(iter(found.samples))!r}."
        )
    checks.choice("--correction", correction, _CORRECTIONS)
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
    unread = [
        f"Models were paired by user only; column {name!r} of {paths} was not used (to pair by "
        f"item too, add `--column {shlex.quote(printable(f'item={name}'))}`)."
        for name, paths in found.unread.items()
        if result.paired
    ]
    result = replace(result, assumed=(*found.notes, *unread))
    if as_json:
        common.say_json(result.to_dict())
    else:
        common.say_result(result, form, result.page(n_shown=None))
