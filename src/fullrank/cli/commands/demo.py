"""``fullrank demo``: what sampling does to metrics, in a minute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fullrank.cli import common

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from fullrank.cli.demonstration import Demo, Draws, Row
    from fullrank.inference import Interval

PANEL = common.NEW_HERE


def demo(
    seed: common.Seed = 0,
    report: Annotated[
        Path, typer.Option("--report", help="Where to write the report.", metavar="FILE")
    ] = Path("report.html"),
    as_json: common.AsJson = False,
) -> None:
    """Show on paper and on five trained models how far sampled metrics are from exact ones.

    Example: fullrank demo --report out/report.html
    """
    from fullrank.cli.demonstration import run
    from fullrank.engines import Processes

    common.writable(report, "--report")
    with common.progress("Sampling 100 times") as progress:
        result = run(seed=seed, engine=Processes(), progress=progress)
    missing = _write(result, report)
    if as_json:
        common.say_json(result.to_dict() | {"report": None if missing else str(report)})
        return
    from rich.console import Console

    screen = Console(highlight=False)
    show(result, Console(highlight=False, width=max(80, min(screen.width, 100))))
    common.say(f"\n{missing}" if missing else f"\nFigures: {report}")


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


def show(result: Demo, console: Console) -> None:
    """Print the three tables, each with what to see in it."""
    console.print("\n[bold]1. Three models on paper[/] (Rendle 2019: five users, 10,000 items)")
    console.print(_example(result.example, result.sample_size))
    console.print(
        "C is the best model by every metric but AUC. Among 100 candidates A seems best by all of "
        "them, and recall@10 is 1 where it should be 0."
    )
    source = "simulated data" if result.simulated else f"{result.data} (MovieLens, GroupLens)"
    console.print(
        f"\n[bold]2. Five models trained here[/] on {source}: {result.n_users:,} users, "
        f"{result.n_items:,} items, one item held out for each user"
    )
    if result.simulated:
        console.print("The data are simulated: an installed wheel comes without MovieLens.")
    console.print(_models(result.models, result.sample_size))
    console.print(
        f"among {result.sample_size}: the usual way, ranked among {result.sample_size} candidates. "
        "corrected: the catalogue's value estimated from those same candidates, with a 95 % "
        f"interval. adaptive: from {result.adaptive_size:,.0f} items a user on average, more for "
        f"the users on top. allowed: what the {result.sample_size} candidates do not rule out, "
        "whatever the distribution of ranks."
    )
    covers = round(result.n_items / result.sample_size)
    console.print(
        f"Rank 1 among {result.sample_size} candidates covers about the first {covers} ranks "
        "of the catalogue: what lies below K = 10 is inferred, not seen."
    )
    console.print(
        f"\n[bold]3. Drawn {result.draws[0].n_draws} times:[/] how often each approach is right"
    )
    console.print(_draws(result.draws, result.sample_size))
    console.print(
        "A pair is right when the better model by exact ranks is put first; the error is that of "
        f"the values, relative to the exact ones. Among {result.sample_size} candidates K = 10 "
        f"covers about K = {10 * covers:,} of the catalogue: the order of the uncorrected "
        "values is steady, but answers another question. Corrected values answer the right one, as "
        "far as the candidates can tell; adaptive samples tell more."
    )


def _example(rows: Iterable[Row], sample_size: int) -> Table:
    table = _table("", "exact", f"among {sample_size}")
    for metric, here in _by_metric(rows):
        table.add_row(f"[bold]{metric}[/]")
        for row in here:
            table.add_row(
                f"  {row.model}",
                _marked(row, "exact", here),
                _marked(row, "naive", here) + f" (SD {row.spread:.3f})",
                end_section=row is here[-1],
            )
    return table


def _models(rows: Iterable[Row], sample_size: int) -> Table:
    table = _table("", "exact", f"among {sample_size}", "corrected", "adaptive", "allowed")
    for metric, here in _by_metric(rows):
        table.add_row(f"[bold]{metric}[/]")
        for row in here:
            table.add_row(
                f"  {row.model}",
                _marked(row, "exact", here),
                _marked(row, "naive", here),
                f"{_marked(row, 'corrected', here)} {_ends(row.corrected_interval)}",
                f"{_marked(row, 'adaptive', here)} {_ends(row.adaptive_interval)}",
                _ends(row.allowed),
                end_section=row is here[-1],
            )
    return table


def _draws(found: Iterable[Draws], sample_size: int) -> Table:
    from fullrank.cli.demonstration import APPROACHES

    table = _table("", f"among {sample_size}", *APPROACHES[1:])
    for one in found:
        table.add_row(f"[bold]{one.metric}[/]")
        table.add_row(
            f"  names {one.best} the winner",
            *(f"[bold]{one.winner[s]:.0%}[/]" for s in APPROACHES),
        )
        for (better, worse), shares in one.pairs.items():
            table.add_row(f"  {better} > {worse}", *(f"{shares[s]:.0%}" for s in APPROACHES))
        table.add_row("  all pairs", *(f"{one.ordered(s):.0%}" for s in APPROACHES))
        table.add_row("  error", *(f"{one.error[s]:.0%}" for s in APPROACHES), end_section=True)
    return table


def _table(first: str, *columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False, collapse_padding=True)
    table.add_column(first, no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _by_metric(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    rows = list(rows)
    for name in dict.fromkeys(row.metric for row in rows):
        yield name, [row for row in rows if row.metric == name]


def _marked(row: Row, column: str, others: list[Row]) -> str:
    """The value; the best of its kind is bold and starred, so that it shows without colours."""
    value = f"{getattr(row, column):.3f}"
    best = max(f"{getattr(other, column):.3f}" for other in others)
    return f"[bold]*{value}[/]" if value == best else value


def _ends(interval: Interval | None) -> str:
    """An interval without leading zeros: there are three of them in a line."""
    return "–" if interval is None else "–".join(f"{end:.3f}".lstrip("0") for end in interval)
