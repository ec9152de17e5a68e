"""``fullrank report``: one HTML file from runs or files of ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fullrank.cli import common
from fullrank.cli.rank_options import RanksFiles, Reading, Source, read_models, takes_ranks
from fullrank.cli.shape_options import Anchors, Joint, shaped, told

PANEL = common.HAVE_RANKS
FIRST = (
    "sample_size", "n_items", "training_items", "design", "truth", "column", "model", "metric",
    "level", "out", "title", "as_json",
)  # fmt: skip


@takes_ranks
def report(
    files: RanksFiles,
    reading: Reading,
    out: Annotated[
        Path, common.option(common.OUTPUT, "--out", "The page to write.", "FILE.html")
    ] = Path("report.html"),
    metric: Annotated[
        list[str] | None,
        common.option(
            common.METRICS,
            "--metric -m",
            "Metric, such as mrr@10. May be repeated. Default: those of the runs, or recall@10 "
            "and ndcg@10.",
            "NAME@K",
        ),
    ] = None,
    anchor: Anchors = None,
    joint: Joint = False,
    title: Annotated[
        str | None, common.option(common.OUTPUT, "--title", "Title of the page.", "TEXT")
    ] = None,
    level: common.Level = 0.95,
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Write a self-contained HTML report of runs or ranks.

    For example:
      fullrank report runs/61 --out report.html
      fullrank report last=runs/60 now=runs/61 --title "This week"
      fullrank report ranks.csv --sample-size 100 --n-items 3000
    """
    from fullrank.evaluation.result import told_by
    from fullrank.reporting import report as write_report

    common.writable(out, "--out", page=True)
    found = told(read_models(reading, files, seed=seed))
    measured, metrics = told_by([Source.of(one).path for one in files])
    assumed = [note for note in found.notes if note != f"Split: {found.split}"]
    wanted = metric or metrics
    settings: dict[str, Any] = {"metrics": wanted} if wanted else {}
    made = write_report(
        shaped(found.samples, anchor, joint),
        out,
        title=title,
        measured=measured | ({"assumed": " ".join(assumed)} if assumed else {}),
        confidence_level=level,
        rng=seed,
        **settings,
    )
    if as_json:
        common.say_json(made.to_dict())
    else:
        common.say("\n".join([f"Written to {out}.", *found.notes]))
