"""``fullrank bounds``: what a sample does not rule out."""

from __future__ import annotations

from typing import Annotated

from fullrank.cli import common
from fullrank.cli.rank_options import RanksFile, Reading, takes_ranks

PANEL = common.HAVE_RANKS
FIRST = (
    "sample_size", "n_items", "training_items", "design", "truth", "column", "model", "metric",
    "level", "shape", "form", "as_json",
)  # fmt: skip


@takes_ranks
def bounds(
    ranks: RanksFile,
    reading: Reading,
    metric: common.Metrics = None,
    level: Annotated[
        float,
        common.option(common.METRICS, "--level", "Confidence level of the bounds.", "LEVEL"),
    ] = 0.95,
    interval_for: common.IntervalFor = "population",
    shape: Annotated[
        str | None,
        common.option(
            common.METRICS,
            "--shape",
            "Assume a shape for the distribution of ranks: decreasing, which means that no rank is "
            "likelier than a better one.",
            "SHAPE",
        ),
    ] = None,
    until: Annotated[
        int | None,
        common.option(
            common.METRICS,
            "--until",
            "The last rank for which the shape is assumed. Default: all ranks.",
            "RANK",
        ),
    ] = None,
    form: common.Format = "text",
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Print the smallest and largest metric values that are consistent with a sample.

    Bounds assume nothing but how the candidates were drawn. If they are wide, the sample is not
    informative about the metric, and an estimate depends on its assumptions.

    For example:
      fullrank bounds ranks.csv --sample-size 100 --n-items 3000
      fullrank bounds ranks.csv --sample-size 100 --n-items 3000 -m recall@100
      fullrank bounds ranks.csv --sample-size 100 --n-items 3000 --shape decreasing
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
