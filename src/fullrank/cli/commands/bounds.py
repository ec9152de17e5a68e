"""``fullrank bounds``: what a sample does not rule out."""

from __future__ import annotations

from typing import Annotated

import typer

from fullrank.cli import common
from fullrank.cli.rank_options import RanksFile, Reading, takes_ranks

PANEL = common.HAVE_RANKS


@takes_ranks
def bounds(
    ranks: RanksFile,
    reading: Reading,
    metric: common.Metrics = None,
    level: common.Level = 0.95,
    interval_for: Annotated[
        str,
        typer.Option(
            "--interval-for",
            help="population: for the population of users; users: for these users only.",
        ),
    ] = "population",
    shape: Annotated[
        str | None,
        typer.Option(
            "--shape", help="decreasing: assume that no rank is likelier than a better one."
        ),
    ] = None,
    until: Annotated[
        int | None, typer.Option("--until", help="The last rank for which the shape is assumed.")
    ] = None,
    form: common.Format = "text",
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Bound the metrics of the full catalogue: the least and the most that the ranks allow.

    Nothing is assumed but how the candidates were drawn. Wide bounds mean
    that the sample is not informative, whatever an estimate says.

    Example: fullrank bounds ranks.csv --sample-size 100 --n-items 26744
    """
    from fullrank.inference import bounds as bound
    from fullrank.inference.estimation.remarks import described
    from fullrank.metrics import DEFAULT, parse_all

    metrics = [one for given in metric or DEFAULT for one in parse_all(given)]
    found = reading.read(ranks, seed=seed)
    results = bound(
        found.samples,
        metrics,
        shape=shape,
        until=until,
        interval_for=interval_for,
        confidence_level=level,
    )
    if as_json:
        common.say_json(results.to_dict() | {"assumed": list(found.notes)})
        return
    text = "\n".join([*described(found.samples), *found.notes, "", str(results)])
    common.say_result(results, form, text)
