"""``fullrank demo``: what sampling does to metrics, in a minute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fullrank.cli import common

if TYPE_CHECKING:
    from fullrank.cli.demonstration import Demo

PANEL = common.NEW_HERE
FIGURES = (".png", ".svg", ".pdf")


def demo(
    every: Annotated[
        bool,
        typer.Option("--all", help="Print all tables, with bounds and 100 repeated draws."),
    ] = False,
    figure: Annotated[
        Path | None,
        typer.Option("--figure", help="Also draw the table as a PNG, SVG or PDF.", metavar="FILE"),
    ] = None,
    report: Annotated[
        Path, typer.Option("--report", help="Where to write the report.", metavar="FILE")
    ] = Path("report.html"),
    seed: common.Seed = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the numbers of all tables as JSON.")
    ] = False,
) -> None:
    """Train five models, and show how far sampled metrics are from exact ones.

    Example: fullrank demo --figure demo.png
    """
    from fullrank.cli.demonstration import run
    from fullrank.engines import Processes
    from fullrank.errors import InputError

    common.writable(report, "--report")
    common.writable(figure, "--figure")
    if figure is not None and figure.suffix.lower() not in FIGURES:
        raise InputError(
            f"`--figure` must end in {', '.join(FIGURES[:-1])} or {FIGURES[-1]}, not "
            f"{figure.name!r}."
        )
    long = every or as_json
    with common.progress("Training and sampling") as progress:
        result = run(
            seed=seed, brief=not long, engine=Processes() if long else None, progress=progress
        )
    if not as_json:
        _print(result, every)
    if figure is not None:
        from fullrank.cli.demo_figure import save

        save(result, figure)
    missing = _write(result, report)
    if as_json:
        common.say_json(result.to_dict() | {"report": None if missing else str(report)})
        return
    common.say(missing or f"Report: {report}")
    if figure is not None:
        common.say(f"Figure: {figure}")
    if not every:
        example = f"--sample-size {result.sample_size} --n-items {result.n_items}"
        common.say("More tables and 100 repeated draws: fullrank demo --all")
        common.say(f"Your own ranks: fullrank estimate ranks.csv {example}")


def _print(result: Demo, every: bool) -> None:
    """The tables come before the report, which takes longer to write than they to read."""
    from rich.console import Console

    from fullrank.cli import demo_tables

    screen = Console(highlight=False)
    console = Console(highlight=False, width=max(80, min(screen.width, 100)))
    (demo_tables.show_all if every else demo_tables.show)(result, console)
    console.print()


def _write(result: Demo, report: Path) -> str | None:
    """Write the report; where its extra is not installed, what to do about it."""
    from fullrank.errors import MissingExtraError
    from fullrank.reporting import report as write_report

    try:
        write_report(
            result.estimates,
            report,
            exact=result.exact,
            title=f"fullrank demo: {result.data}",
            measured={"Data": result.data, "Seed": str(result.seed)},
            rng=result.seed,
        )
    except MissingExtraError as error:
        return str(error)
    return None
