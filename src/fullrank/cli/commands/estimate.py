"""``fullrank estimate``: from ranks among sampled candidates to metrics of the catalogue."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fullrank.cli import common
from fullrank.cli.rank_options import RanksFile, Reading, Source, takes_ranks
from fullrank.cli.shape_options import Anchors, Joint, shaped, told
from fullrank.errors import InputError

if TYPE_CHECKING:
    from fullrank.inference import Estimates

PANEL = common.HAVE_RANKS


@takes_ranks
def estimate(
    ranks: RanksFile,
    reading: Reading,
    metric: common.Metrics = None,
    method: Annotated[
        str, typer.Option("--method", help="auto, or an estimator's name, such as MLE or BV_MES.")
    ] = "auto",
    anchor: Anchors = None,
    joint: Joint = False,
    bounds: Annotated[
        bool, typer.Option("--bounds", help="Add bounds that assume nothing about the ranks.")
    ] = False,
    level: common.Level = 0.95,
    interval_for: Annotated[
        str,
        typer.Option(
            "--interval-for",
            help="population: intervals for the population of users; users: for these users only.",
        ),
    ] = "population",
    uncertainty: Annotated[
        str, typer.Option("--uncertainty", help="Standard errors by influence or bootstrap.")
    ] = "influence",
    resamples: Annotated[int, typer.Option("--resamples", help="Refits of the bootstrap.")] = 500,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", help="Also write an HTML report.", metavar="FILE.html", readable=False
        ),
    ] = None,
    form: common.Format = "text",
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Estimate the metrics of the full catalogue from ranks among sampled candidates.

    Naive metrics, corrected ones with intervals, and the limits of the
    sample, for each model in a column model. Where a column user names
    users more than once, n_targets and offset describe their targets.

    Example: fullrank estimate ranks.csv --sample-size 100 --n-items 26744

    A TREC run: fullrank estimate run.trec --qrels qrels.txt --n-items 26744
    """
    common.writable(report, "--report", page=True)
    path = Source.of(ranks).path
    if report is not None and report.exists() and path.exists() and report.samefile(path):
        raise InputError(f"`--report` must not take the place of the ranks in {path}.")
    from fullrank.inference import estimate as fit
    from fullrank.metrics import DEFAULT, parse_all
    from fullrank.reporting import drawn_metrics

    metrics = [one for given in metric for one in parse_all(given)] if metric else DEFAULT
    rows = None if report is None else True  # a report pairs models by user
    read = reading.read(ranks, rows=rows, seed=seed, seeds=report is None)
    read = told(read, method)
    samples = shaped(read.samples, anchor, joint, method)
    with common.progress("refits") as refits:
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
        f"To see what would pin {blind[0]} down: fullrank plan --metric {blind[0]} --margin 5% "
        f"--users {one.n_users} --pilot {typed}"
    )
    return [says]
