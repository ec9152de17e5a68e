"""``fullrank estimate``: from ranks among sampled candidates to metrics of the catalogue."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fullrank.cli import common
from fullrank.cli.rank_options import RanksFile, Reading, Source, takes_ranks
from fullrank.cli.shape_options import Anchors, Joint, shaped, told
from fullrank.errors import InputError

if TYPE_CHECKING:
    from fullrank.inference import Estimates

PANEL = common.HAVE_RANKS
FIRST = (
    "sample_size", "n_items", "training_items", "design", "truth", "column", "model",
    "metric", "bounds", "report", "form", "as_json",
)  # fmt: skip


@takes_ranks
def estimate(
    ranks: RanksFile,
    reading: Reading,
    metric: common.Metrics = None,
    method: common.Method = "auto",
    anchor: Anchors = None,
    joint: Joint = False,
    bounds: Annotated[
        bool,
        common.option(
            common.METRICS, "--bounds", "Add bounds that assume nothing about the ranks."
        ),
    ] = False,
    level: common.Level = 0.95,
    interval_for: common.IntervalFor = "population",
    uncertainty: Annotated[
        str,
        common.option(
            common.METRICS,
            "--uncertainty",
            "How standard errors are computed: influence (a formula) or bootstrap.",
            "HOW",
        ),
    ] = "influence",
    resamples: Annotated[
        int, common.option(common.METRICS, "--resamples", "Number of bootstrap refits.", "N")
    ] = 500,
    report: Annotated[
        Path | None,
        common.option(
            common.OUTPUT, "--report", "Also write an HTML report.", "FILE.html", readable=False
        ),
    ] = None,
    form: common.Format = "text",
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Estimate full-catalogue metrics from ranks among sampled candidates.

    Prints the sampled (naive) metrics and the estimates with confidence intervals, for each model
    in the file. A file with several targets per user needs a `user` column.

    For example:
      fullrank estimate ranks.csv --sample-size 100 --n-items 3000
      fullrank estimate ranks.csv --sample-size 100 --n-items 3000 -m mrr@10
      fullrank estimate wide.csv --column rank=a,b --sample-size 100 --n-items 3000
      fullrank estimate run.trec --qrels qrels.txt --n-items 3000
    """
    path = Source.of(ranks).path
    if report is not None and _same(report, path):
        raise InputError(f"`--report` must not overwrite the ranks in {path}.")
    common.writable(report, "--report", page=True)
    from fullrank.inference import estimate as fit
    from fullrank.metrics import DEFAULT, parse_all
    from fullrank.reporting import drawn_metrics

    metrics = [one for given in metric for one in parse_all(given)] if metric else DEFAULT
    rows = None if report is None else True  # a report pairs models by user
    read = reading.read(ranks, rows=rows, seed=seed, seeds=report is None)
    read = told(read, method)
    samples = shaped(read.samples, anchor, joint, method)
    with common.progress("refits" if uncertainty == "bootstrap" else "estimating") as refits:
        found = fit(
            samples,
            metrics,
            also=() if report is None else drawn_metrics(samples.values(), metrics),
            method=method,
            confidence_level=level,
            interval_for=interval_for,
            uncertainty=uncertainty,
            n_resamples=resamples,
            progress=refits,
            rng=seed,
        )
    found = replace(found.with_bounds() if bounds else found, assumed=read.notes)
    if report is not None:
        from fullrank.reporting import report as write_report

        measured = {"ranks": path.name, "seed": str(seed)}
        measured |= {"assumed": " ".join(read.notes)} if read.notes else {}
        write_report(found, report, measured=measured, method=method, rng=seed)
    if as_json:
        common.say_json(found.to_dict())
        return
    text = "\n".join([str(found), *_next(found, reading.shown(ranks))])
    common.say_result(found, form, text)
    if report is not None and form == "text":
        common.say(f"\nReport: {report}")


def _next(found: Estimates, typed: str) -> list[str]:
    """What to type where a model's sample is blind."""
    (one, *others), blind = found.values(), [n for e in found.values() for n in e.diagnosis.blind]
    if others or not blind or one.distribution is None:
        return []
    says = (
        f"To plan a sample that is informative about {blind[0]}: "
        f"fullrank plan --metric {blind[0]} --margin 5% --pilot {typed}"
    )
    return [says]


def _same(one: Path, other: Path) -> bool:
    """Whether both are the same file, and there."""
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)
