"""``fullrank plan``: how many users and items a wanted precision takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fullrank.cli import common
from fullrank.cli.rank_options import Reading, takes_ranks, whole_number
from fullrank.cli.shape_options import told
from fullrank.errors import InputError

if TYPE_CHECKING:
    from fullrank.designs import Design
    from fullrank.samples import RankSample

PANEL = common.HAVE_RANKS
FIRST = (
    "n_items", "users", "pilot", "column", "model", "sample_size", "metric", "margin", "budget",
    "difference", "tried", "as_json",
)  # fmt: skip
SHAPE = 0.35
_POWER = 0.8
_ASSUMED = (
    "No pilot: Recall@K = (K/N)^{:g} is assumed (the exponent of EASE is 0.38 on MovieLens-1M and "
    "Pinterest, 0.34 on Gowalla, 0.16 on citeulike-a). A pilot of your own ranks gives a better "
    "plan."
)


@takes_ranks
def plan(
    reading: Reading,
    metric: Annotated[
        str, common.option(common.PRECISION, "--metric -m", "Metric to measure.", "NAME@K")
    ] = "ndcg@10",
    users: Annotated[
        str | None,
        common.option(
            common.SAMPLE, "--users", "Number of test users available. Default: no limit.", "N"
        ),
    ] = None,
    margin: Annotated[
        str | None,
        common.option(
            common.PRECISION,
            "--margin",
            "Half-width of the confidence interval: 0.005, or relative, such as 2%. Default: 5%, "
            "unless a budget, a difference or a pilot of two models is given.",
            "WIDTH",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        common.option(
            common.PRECISION,
            "--budget",
            "Instead of a margin: total number of items to score, such as 1e7.",
            "N",
        ),
    ] = None,
    difference: Annotated[
        float | None,
        common.option(
            common.PRECISION,
            "--difference",
            "Instead of a margin: the difference to detect between two models, such as 0.01.",
            "SIZE",
        ),
    ] = None,
    power: Annotated[
        float,
        common.option(
            common.PRECISION, "--power", "Probability of detecting the difference.", "POWER"
        ),
    ] = _POWER,
    pilot: Annotated[
        list[Path] | None,
        common.option(
            common.INPUT,
            "--pilot",
            "Pilot ranks to plan from. With two models, the plan is for their difference.",
            "[NAME=]FILE",
            readable=False,  # said in our own words
        ),
    ] = None,
    design: Annotated[
        str,
        common.option(
            common.SAMPLE,
            "--design",
            "How the candidates of the pilot were drawn, such as sampled:100; infer determines it "
            "from the file. For the designs to compare, see --try.",
            "DESIGN",
        ),
    ] = "infer",
    sample_size: Annotated[
        str | None,
        common.option(
            common.SAMPLE,
            "--sample-size",
            "Candidates per target of the pilot, including the target: a number or a column.",
            "N",
        ),
    ] = None,
    shape: Annotated[
        float | None,
        common.option(
            common.PRECISION,
            "--shape",
            f"Instead of a pilot: the exponent a in Recall@K = (K/N)^a. Default: {SHAPE:g}.",
            "A",
        ),
    ] = None,
    tried: Annotated[
        list[str] | None,
        common.option(
            common.PRECISION,
            "--try",
            "Design to compare, such as sampled:100, adaptive:25 or exact. May be repeated. "
            "Default: many of each kind.",
            "DESIGN",
        ),
    ] = None,
    interval_for: common.IntervalFor = "population",
    level: common.Level = 0.95,
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Plan an evaluation: the users, candidates and cost of each design for a given precision.

    For example:
      fullrank plan --n-items 1e6 --metric ndcg@10 --margin 10%
      fullrank plan --n-items 1e6 --users 50_000 --budget 1e8
      fullrank plan --pilot ranks.csv --sample-size 100 --n-items 3000 --margin 5%
    """
    from fullrank.inference import plan as make_plan

    samples, assumed = _pilots(reading, pilot or [], seed)
    if not samples:
        if reading.n_items is None:
            raise InputError("`--n-items` or `--pilot` must be given.")
        if design != "infer" or sample_size is not None:
            option = "--design" if design != "infer" else "--sample-size"
            raise InputError(
                f"`{option}` must not be given without `--pilot`, whose ranks it describes. To "
                "name the designs to compare, use `--try`, as in `--try sampled:100`."
            )
        shape = SHAPE if shape is None else shape
        assumed = [_ASSUMED.format(shape)]
    of_two = difference is not None or (len(samples) == 2 and margin is None and budget is None)
    if power != _POWER and not of_two:
        raise InputError(
            "`--power` must not be given without `--difference` or a pilot of two models, to which "
            "it applies."
        )
    n_users = whole_number("--users", users)
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
            f"`--pilot` must hold one or two models; there are {len(samples)}: choose with "
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
        raise InputError(
            f"`--margin` must be a number or a percentage such as 2%, not {margin!r}."
        ) from (None)
