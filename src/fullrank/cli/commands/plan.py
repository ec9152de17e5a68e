"""``fullrank plan``: how many users and items a wanted precision takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullrank.cli import common
from fullrank.cli.rank_options import Reading, takes_ranks, whole_number
from fullrank.cli.shape_options import told
from fullrank.errors import InputError

if TYPE_CHECKING:
    from fullrank.designs import Design
    from fullrank.samples import RankSample

PANEL = common.HAVE_RANKS
SHAPE = 0.35
_ASSUMED = (
    "No pilot: Recall@K = (K/N)^{:g} is assumed (EASE has 0.38 on MovieLens-1M and Pinterest, 0.34 "
    "on Gowalla, 0.16 on citeulike-a). A pilot of your own ranks plans better."
)


@takes_ranks
def plan(
    reading: Reading,
    metric: Annotated[
        str, typer.Option("--metric", "-m", help="What is to be measured.", metavar="NAME")
    ] = "ndcg@10",
    users: Annotated[
        str | None,
        typer.Option("--users", help="Number of test users. Default: those of the pilot."),
    ] = None,
    margin: Annotated[
        str | None,
        typer.Option("--margin", help="Half-width of the interval: 0.005, or a share as 2%."),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option("--budget", help="Instead of a margin: items that may be scored in all."),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option("--difference", help="Instead of a margin: the difference of two models."),
    ] = None,
    power: Annotated[
        float, typer.Option("--power", help="Statistical power for the difference.")
    ] = 0.8,
    pilot: Annotated[
        list[Path] | None,
        typer.Option(
            "--pilot",
            help="Ranks to plan from; two models plan for their difference.",
            metavar="[NAME=]FILE",
            readable=False,  # said in our own words
        ),
    ] = None,
    shape: Annotated[
        float | None,
        typer.Option("--shape", help="Instead of a pilot, the a of Recall@K = (K/N)^a."),
    ] = None,
    tried: Annotated[
        list[str] | None,
        typer.Option(
            "--try",
            help="A design to compare, such as sampled:100, adaptive:25 or exact; give it again "
            "for more. Default: many of each kind.",
            metavar="DESIGN",
        ),
    ] = None,
    interval_for: Annotated[
        str,
        typer.Option("--interval-for", help="users: the metric of these; or the population."),
    ] = "users",
    level: common.Level = 0.95,
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Plan a measurement: users, items and cost for a wanted precision, by design.

    Example: fullrank plan --n-items 1_000_000 --users 50_000 --metric ndcg@10 --margin 2%

    From a pilot: fullrank plan --pilot run/ranks/ease.parquet --margin 2%
    """
    from fullrank.inference import plan as make_plan

    samples, assumed = _pilots(reading, pilot or [], seed)
    if not samples:
        if reading.n_items is None:
            raise InputError("`--n-items` must be given without a pilot.")
        if reading.design != "infer" or reading.sample_size is not None:
            option = "--design" if reading.design != "infer" else "--sample-size"
            raise InputError(
                f"`{option}` must be given with `--pilot`, whose ranks it describes. Name the "
                "designs to compare by `--try sampled:100`."
            )
        shape = SHAPE if shape is None else shape
        assumed = [_ASSUMED.format(shape)]
    n_users = whole_number("--users", users)
    if n_users is None:
        if not samples:
            raise InputError("`--users` must be given without a pilot.")
        n_users = samples[0].n_users or samples[0].n_targets
    with common.progress("designs") as designs:
        result = make_plan(
            metric,
            n_items=None if samples else whole_number("--n-items", reading.n_items),
            n_users=n_users,
            pilot=(samples[0] if len(samples) == 1 else samples) if samples else None,
            shape=shape,
            margin=_margin(margin, budget, difference, len(samples)),
            budget=budget,
            difference=difference,
            power=power,
            designs=None if tried is None else [_design(one) for one in tried],
            interval_for=interval_for,
            confidence_level=level,
            progress=designs,
        )
    if as_json:
        common.say_json(result.to_dict() | {"assumed": assumed})
    else:
        common.say("\n".join([*assumed, *([""] if assumed else []), str(result)]))


def _pilots(reading: Reading, paths: list[Path], seed: int) -> tuple[list[RankSample], list[str]]:
    """The samples of the pilots and what was assumed; users are needed where there are two."""
    rows = True if len(paths) == 2 or len(reading.model or ()) == 2 else None
    found = [told(reading.read(path, rows=rows, seed=seed)) for path in paths]
    samples = [sample for one in found for sample in one.samples.values()]
    if len(samples) > 2:
        names = ", ".join(repr(name) for one in found for name in one.samples)
        raise InputError(
            f"`--pilot` must hold one model or two; there are {len(samples)}: pick by "
            f"`--model NAME` from {names}."
        )
    if len(samples) == 2 and any(getattr(one, "rows", one) is None for one in samples):
        found = [told(reading.read(path, rows=True, seed=seed)) for path in paths]
        samples = [sample for one in found for sample in one.samples.values()]
    return samples, list(dict.fromkeys(note for one in found for note in one.notes))


def _design(text: str) -> Design:
    from fullrank.cli.option_values import checked_design
    from fullrank.designs import Design

    checked_design("--try", text)
    return Design.of(text)


def _margin(
    margin: str | None, budget: float | None, difference: float | None, n_pilots: int
) -> Any:
    """A share as text, a half-width as a number; 5 % if nothing else is asked for."""
    if margin is None:
        return "5%" if budget is None and difference is None and n_pilots < 2 else None
    if margin.strip().endswith("%"):
        return margin
    try:
        return float(margin)
    except ValueError:
        raise InputError(f"`--margin` must be a number, or a share as 2%, not {margin!r}.") from (
            None
        )
