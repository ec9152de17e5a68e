"""The tables of ``fullrank demo``: one in short, or all of them, each with what to see in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from fullrank._lib.text import enumerated

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from fullrank.cli.demonstration import Demo, Draws, Row
    from fullrank.inference import Interval

SIMULATED = "The data are simulated, because an installed wheel does not contain MovieLens."


def show(result: Demo, console: Console) -> None:
    """Print one table: what the usual sample says, its correction, and the exact values."""
    metric, rows = next(_by_metric(result.models))
    among = result.sample_size
    best = max(rows, key=lambda row: row.exact)
    console.print(f"\n[bold]{metric} of five models[/] on {_data(result)}")
    if result.simulated:
        console.print(SIMULATED)
    console.print(_short(rows, among))
    console.print(
        f"Among {among} sampled candidates, {best.model} has a {metric} of {best.naive:.3f}. Among "
        f"all items that the user had not seen, it scores {best.exact:.3f}. The same {among} "
        f"candidates, corrected, give {best.corrected:.3f} (95 % interval "
        f"{_ends(best.corrected_interval)}). Adaptive samples ({result.adaptive_size:,.0f} items "
        f"per user on average) give {best.adaptive:.3f}."
    )
    close = [row.model for row in rows if _overlap(row, best)]
    if len(close) > 1:
        console.print(f"The intervals of {enumerated(close)} overlap, so their order is uncertain.")


def show_all(result: Demo, console: Console) -> None:
    """Print the three tables, each with what to see in it."""
    console.print("\n[bold]1. Three models on paper[/] (Rendle 2019: five users, 10,000 items)")
    console.print(_example(result.example, result.sample_size))
    console.print(
        "C is the best model by every metric except AUC. Among 100 candidates, A appears best by "
        "every metric, and its recall@10 is 1 instead of 0."
    )
    console.print(f"\n[bold]2. Five models trained here[/] on {_data(result)}")
    if result.simulated:
        console.print(SIMULATED)
    console.print(_models(result.models, result.sample_size))
    console.print(
        f"among {result.sample_size}: the metric among {result.sample_size} sampled candidates, "
        "as it is usually reported. corrected: the full-catalogue metric, estimated from the same "
        "candidates, with a 95 % interval. adaptive: estimated from "
        f"{result.adaptive_size:,.0f} items per user on average, more for users whose target "
        f"ranks near the top. bounds: the values consistent with the {result.sample_size} "
        "candidates, with no assumption about the ranks."
    )
    # of the items that a user had not seen, as in the report
    covers = round(next(iter(result.estimates.values())).diagnosis.resolution)
    console.print(
        f"{result.sample_size} candidates hardly distinguish the first {covers} ranks of the "
        "catalogue, so a metric at K = 10 is inferred, not observed."
    )
    console.print(
        f"\n[bold]3. {result.draws[0].n_draws} repeated draws:[/] how often each approach is right"
    )
    console.print(_draws(result.draws, result.sample_size))
    console.print(
        "A pair is right when the model with the higher exact value comes first. The error is "
        "the mean absolute relative error of the values."
    )
    console.print(
        f"K = 10 among {result.sample_size} candidates corresponds to about K = {10 * covers:,} in "
        "the catalogue. The naive values therefore order the models by a different metric: they "
        "hardly change between draws, and are right where the models have the same order at both "
        "cut-offs. The corrected values estimate the right metric, but from "
        f"{result.sample_size} candidates they vary too much to order close models. Adaptive "
        "samples vary less."
    )


def _overlap(row: Row, best: Row) -> bool:
    """Whether the corrected intervals of two models have a value in common."""
    one, other = row.corrected_interval, best.corrected_interval
    return one is not None and other is not None and one.low <= other.high and other.low <= one.high


def _data(result: Demo) -> str:
    source = "simulated data" if result.simulated else f"{result.data} (MovieLens, GroupLens)"
    return (
        f"{source}: {result.n_users:,} users, {result.n_items:,} items, one item held out for "
        "each user"
    )


def _short(rows: list[Row], sample_size: int) -> Table:
    table = _table("", "exact", f"among {sample_size}", "corrected", "adaptive")
    for row in rows:
        table.add_row(
            row.model,
            _marked(row, "exact", rows),
            _marked(row, "naive", rows),
            f"{_marked(row, 'corrected', rows)} {_ends(row.corrected_interval)}",
            f"{_marked(row, 'adaptive', rows)} {_ends(row.adaptive_interval)}",
        )
    return table


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
    table = _table("", "exact", f"among {sample_size}", "corrected", "adaptive", "bounds")
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
            *(f"[bold]{_percent(one.winner[s])}[/]" for s in APPROACHES),
        )
        for (better, worse), shares in one.pairs.items():
            table.add_row(f"  {better} > {worse}", *(_percent(shares[s]) for s in APPROACHES))
        table.add_row("  all pairs", *(_percent(one.ordered(s)) for s in APPROACHES))
        table.add_row("  error", *(_percent(one.error[s]) for s in APPROACHES), end_section=True)
    return table


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


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
