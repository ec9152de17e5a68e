"""``fullrank demo``: what sampling does to metrics, in a minute."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
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
    else:
        _show(result)


def _show(result: Demo) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
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
    covers = round(result.n_items / result.sample_size)
    console.print(
        f"Rank 1 among {result.sample_size} candidates stands for any of the first {covers} ranks "
        f"or so of the catalogue: no metric at K = 10 survives that. Adaptive sampling goes on only "
        f"for the users at rank 1, and looks at {result.adaptive_size:,.0f} items a user on average."
    )


def _table(rows: Iterable[Row], sample_size: int) -> Table:
    from rich import box
    from rich.table import Table

    rows = list(rows)
    spread = any(row.spread is not None for row in rows)
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("metric")
    table.add_column("model")
    table.add_column("exact", justify="right")
    table.add_column(f"among {sample_size}" + (" (± spread)" if spread else ""), justify="right")
    for name in dict.fromkeys(row.metric for row in rows):
        here = [row for row in rows if row.metric == name]
        best = max(row.exact for row in here), max(row.sampled for row in here)
        for row in here:
            noise = "" if row.spread is None else f" ± {row.spread:.3f}"
            table.add_row(
                name if row is here[0] else "",
                row.model,
                _marked(row.exact, best[0]),
                _marked(row.sampled, best[1], noise),
                end_section=row is here[-1],
            )
    return table


def _marked(value: float, best: float, noise: str = "") -> str:
    """The value; the best of its kind is bold and starred, so that it shows without colours."""
    if round(value, 3) == round(best, 3):
        return f"[bold]* {value:.3f}{noise}[/]"
    return f"{value:.3f}{noise}"
