"""``fullrank report``: one HTML file from runs or files of ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli import common
from fullrank.cli.rank_options import Reading, Source, read_models, takes_ranks
from fullrank.cli.shape_options import Anchors, Joint, shaped, told

PANEL = common.HAVE_RANKS


@takes_ranks
def report(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Folders that `fullrank evaluate` wrote, and files of ranks.",
            metavar="[NAME=]FILES...",
            readable=False,  # said in our own words
            show_default=False,
        ),
    ],
    reading: Reading,
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("report.html"),
    metric: common.Metrics = None,
    anchor: Anchors = None,
    joint: Joint = False,
    title: Annotated[str | None, typer.Option(help="Its title.")] = None,
    level: common.Level = 0.95,
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Write a report of one run or several, or of ranks from anywhere: one file, no network.

    Example: fullrank report run --out report.html

    Named: fullrank report last=runs/60 now=runs/61 --out report.html
    """
    from fullrank.evaluation.result import told_by
    from fullrank.reporting import report as write_report

    common.writable(out, "--out", page=True)
    found = told(read_models(reading, files, seed=seed))
    measured, metrics = told_by([Source.of(one).path for one in files])
    wanted = metric or metrics
    settings: dict[str, Any] = {"metrics": wanted} if wanted else {}
    made = write_report(
        shaped(found.samples, anchor, joint),
        out,
        title=title,
        measured=measured | ({"assumed": " ".join(found.notes)} if found.notes else {}),
        confidence_level=level,
        rng=seed,
        **settings,
    )
    if as_json:
        common.say_json(made.to_dict())
    else:
        common.say("\n".join([f"Written to {out}.", *found.notes]))
