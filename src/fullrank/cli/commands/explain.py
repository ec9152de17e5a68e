"""``fullrank explain``: what a sampled metric means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fullrank.cli import common
from fullrank.cli.rank_options import Reading, takes_ranks, whole_number
from fullrank.errors import InputError

if TYPE_CHECKING:
    from fullrank._lib.tabular import Tabular
    from fullrank.designs import Design

PANEL = common.HAVE_RANKS
FIRST = ("design", "sample_size", "n_items", "metric", "ranks", "column", "form", "as_json")


@takes_ranks
def explain(
    reading: Reading,
    design: Annotated[
        str,
        common.option(
            common.SAMPLE,
            "--design",
            "How candidates are drawn, such as sampled:100, or sampled:100,replacement=true if "
            "items can repeat. With --ranks, the design is inferred from the file by default; give "
            "exact for ranks among all items.",
            "DESIGN",
            show_default=False,
        ),
    ] = "infer",
    metric: common.Metrics = None,
    ranks: Annotated[
        Path | None,
        common.option(
            common.INPUT,
            "--ranks",
            "Ranks to explain. Without them, --n-items is required, with --design or "
            "--sample-size.",
            "[NAME=]FILE",
            readable=False,  # said in our own words
        ),
    ] = None,
    form: common.Format = "text",
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Explain what sampled metrics mean for the full catalogue.

    Prints the full-catalogue cut-off that a sampled hit rate corresponds to, the average sampled
    metric of a target at each true rank, and the number of catalogue ranks that rank 1 of the
    sample covers.

    For example:
      fullrank explain --design sampled:100 --n-items 26744 --metric hr@10
      fullrank explain --ranks ranks.csv --sample-size 100 --n-items 3000
    """
    from fullrank.cli.option_values import checked_design
    from fullrank.designs import Design
    from fullrank.designs.inferred import INFER
    from fullrank.inference import explain as say_what
    from fullrank.metrics import DEFAULT, parse_all

    metrics = [one for given in metric or DEFAULT for one in parse_all(given)]
    if ranks is None:
        sampled = reading.sample_size is not None or design != INFER
        if not sampled or reading.n_items is None:
            raise InputError(
                "`--ranks` must be given, or `--design` (such as sampled:100) and `--n-items`."
            )
        design = "sampled" if design == INFER else design
        checked_design("--design", design)
        drawn = _excluding(Design.of(design), reading.excluded())
        size = whole_number("--sample-size", reading.sample_size)
        own = getattr(drawn, "sample_size", None)
        if None not in (size, own) and size != own:
            raise InputError(
                f"`--sample-size` must be omitted, or be that of `--design {design}`, not {size}."
            )
        drawn = drawn if size is None else drawn.of_size(size)
        result: Tabular = say_what(
            metrics=metrics,
            design=drawn,
            n_items=whole_number("--n-items", reading.n_items),
        )
        notes: tuple[str, ...] = ()
    else:
        read = reading.read(ranks, seed=seed)
        result = say_what(read.samples, metrics)
        notes = read.notes
    if as_json:
        common.say_json(result.to_dict() | {"assumed": list(notes)})
        return
    text = "\n\n".join([str(result), *(["\n".join(notes)] if notes else [])])
    common.say_result(result, form, text)


def _excluding(design: Design, excluded: bool | None) -> Design:
    """The design with what `--training-items` says."""
    if excluded is None:
        return design
    stated = True if design.pool == "unseen" else design.excluded
    if stated not in (None, excluded):
        word = "excluded" if stated else "kept"
        raise InputError(f"`--training-items` must be {word}, as in `--design {design}`.")
    return design.with_(excluded=excluded)
