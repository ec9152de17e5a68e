"""What the ranks that a sample does not resolve are assumed to look like, on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fullrank.cli.common import METRICS, option
from fullrank.errors import InputError

if TYPE_CHECKING:
    from fullrank.samples import ExactRanks, RankSample
    from fullrank.samples.read_ranks import Ranks

_SAY = "`--training-items excluded` or `--training-items kept`"

Anchors = Annotated[
    list[Path] | None,
    option(
        METRICS,
        "--anchor",
        "Exact ranks of a cheap model on the same data, as a file or run folder that fullrank "
        "wrote; the shape of their distribution informs the estimates. Requires that training "
        "items were excluded. May be repeated.",
        "FILE",
        readable=False,  # said in our own words
    ),
]
Joint = Annotated[
    bool,
    option(
        METRICS,
        "--joint",
        "Estimate all models together, with one shape for the distribution of their ranks. "
        "Requires that training items were excluded.",
    ),
]


def told(found: Ranks, method: str = "auto") -> Ranks:
    """With a note where it matters whether training items were excluded, and is not known."""
    from fullrank.inference.estimation.doubts import training_notes

    notes = training_notes(_each(found.samples.values()), method, _SAY)
    return replace(found, notes=(*found.notes, *notes))


def _each(samples: Iterable[Any]) -> list[Any]:
    """The samples, those of seeds one by one."""
    from fullrank.samples import Seeds

    found = [one.samples.values() if isinstance(one, Seeds) else [one] for one in samples]
    return [part for several in found for part in several]


def shaped(
    samples: Mapping[str, Any], anchors: list[Path] | None, joint: bool, method: str = "auto"
) -> Mapping[str, Any]:
    """The samples with the shape of other models on the same data, or of each other."""
    if not anchors and not joint:
        return samples
    if anchors and joint:
        raise InputError(
            "`--joint` must not be given with `--anchor`: both set the shape of the distribution."
        )
    from fullrank.estimators import anchored, jointly

    drawn = _drawn(samples, "--joint" if joint else "--anchor", method)
    if joint:
        if len(drawn) < 2:
            raise InputError(
                f"`--joint` must be used with at least two sampled models; there is only "
                f"{next(iter(drawn))!r}."
            )
        made = jointly(drawn)
    else:
        ranks = [one for path in anchors or [] for one in _exact_ranks(path)]
        made = anchored(drawn, ranks)
    return {name: made.get(name, one) for name, one in samples.items()}


def _drawn(samples: Mapping[str, Any], option: str, method: str) -> dict[str, RankSample]:
    """The samples that are estimated, all of which can borrow."""
    from fullrank.inference.estimation.doubts import borrows

    if not borrows(method):
        raise InputError(f"`{option}` needs `--method` auto or smoothed, not {method}.")
    from fullrank.samples import Seeds

    for one in samples.values():
        if isinstance(one, Seeds):
            raise InputError(f"`{option}` must not be given for several seeds of a model.")
    drawn = {name: one for name, one in samples.items() if not one.exhausted}
    if not drawn:
        raise InputError(
            f"`{option}` must be omitted for exact ranks: it is only for sampled ones."
        )
    for one in drawn.values():
        if one.design.excluded is False:
            raise InputError(
                f"`{option}` must be omitted when training items are kept: it helps only when "
                "training items are excluded."
            )
    return drawn


def _exact_ranks(path: Path) -> list[ExactRanks]:
    from fullrank._lib import files
    from fullrank.evaluation.result import Evaluation
    from fullrank.samples import ExactRanks
    from fullrank.samples.read_ranks import read_own

    folder = files.existing(path, "--anchor", folders=True).is_dir()
    found: list[Any] = list(Evaluation.read(path).samples.values()) if folder else [read_own(path)]
    if not all(isinstance(one, ExactRanks) for one in found):
        raise InputError(f"`--anchor` must hold exact ranks that fullrank wrote; {path} does not.")
    return found
