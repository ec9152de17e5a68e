"""``fullrank demo``: what sampling does to metrics, in a minute."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from fullrank.demo import Demo, Row


def demo(
    seed: Annotated[int, typer.Option(help="Seed of the split and of the draws.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show on a worked example and on a real model how far sampled metrics are from exact ones.

    Example: fullrank demo --seed 1
    """
    from fullrank.demo import run

    result = run(seed=seed)
    if as_json:
        typer.echo(json.dumps(result.to_dict()))
        return
    from rich.console import Console

    show(result, Console(highlight=False, soft_wrap=True))


def show(result: Demo, console: Console) -> None:
    """Print the two tables, each with what to see in it."""
    console.print("\n[bold]1. Three models on paper[/] (Rendle 2019: five users, 10,000 items)")
    console.print(_table(result.example, result.sample_size))
    console.print(
        "C is the best model by every metric but AUC. Among 100 candidates A seems best by all of "
        "them, and recall@10 is 1 where it should be 0."
    )
    source = "simulated data" if result.simulated else f"{result.data} (MovieLens, GroupLens)"
    console.print(
        f"\n[bold]2. Two models trained here[/] on {source}: {result.n_users:,} users, "
        f"{result.n_items:,} items, one item held out for each user"
    )
    if result.simulated:
        console.print("The data are simulated: an installed wheel comes without MovieLens.")
    console.print(_table(result.models, result.sample_size))
    console.print(
        "corrected: the catalogue's value estimated from the same "
        f"{result.sample_size} candidates. adaptive: estimated from {result.adaptive_size:,.0f} "
        "items a user on average, more for the users at rank 1."
    )
    covers = round(result.n_items / result.sample_size)
    console.print(
        f"Rank 1 among {result.sample_size} candidates stands for any of the first {covers} ranks "
        "or so of the catalogue: what lies below K = 10 is inferred, not seen."
    )


def _table(rows: Iterable[Row], sample_size: int) -> Table:
    from rich import box
    from rich.table import Table

    rows = list(rows)
    columns = {"exact": "exact", "sampled": f"among {sample_size}"}
    columns |= {name: name for name in ("corrected", "adaptive") if getattr(rows[0], name)}
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("metric")
    table.add_column("model")
    for title in columns.values():
        table.add_column(title, justify="right")
    for name in dict.fromkeys(row.metric for row in rows):
        here = [row for row in rows if row.metric == name]
        for row in here:
            table.add_row(
                name if row is here[0] else "",
                row.model,
                *(_marked(row, column, here) for column in columns),
                end_section=row is here[-1],
            )
    return table


def _marked(row: Row, column: str, others: list[Row]) -> str:
    """The value; the best of its kind is bold and starred, so that it shows without colours."""
    value = f"{getattr(row, column):.3f}"
    noise = f" ± {row.spread:.3f}" if column == "sampled" and row.spread is not None else ""
    best = max(f"{getattr(other, column):.3f}" for other in others)
    return f"[bold]* {value}{noise}[/]" if value == best else f"{value}{noise}"
