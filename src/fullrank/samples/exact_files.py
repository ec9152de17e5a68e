"""Exact ranks as columns and a head of settings, and checked again when they come back."""

from __future__ import annotations

from typing import Any

from fullrank._lib import checks
from fullrank.errors import InputError
from fullrank.samples.exact_ranks import POLICIES, ExactRanks

FORMAT = 2  # of 1, users were row numbers in run folders
KIND = "ExactRanks"
_COUNTS = ("above", "equal", "candidates", "n_targets", "offset")


def packed(ranks: ExactRanks) -> tuple[dict[str, Any], dict[str, Any]]:
    """What both file formats hold: a head of settings, and columns."""
    return {"format": FORMAT, "kind": KIND, **ranks.settings()}, ranks.columns()


def unpacked(head: dict[str, Any], columns: dict[str, Any]) -> ExactRanks:
    """Check again what was read: a file can be changed by anyone."""
    try:
        ties = checks.choice("ties", head["ties"], POLICIES)
        counts = {name: checks.integers(name, columns[name], low=0) for name in _COUNTS}
        size = counts["above"].size
        if size == 0:
            raise InputError("`path` must hold at least one rank; it is empty.")
        for name in ("before",) if ties == "random" else ():
            counts[name] = checks.integers(name, columns[name], low=0)
        if "count" in columns:
            counts["count"] = checks.integers("count", columns["count"], low=1)
        if "time" in columns:
            counts["time"] = checks.integers("time", columns["time"])
        weight = checks.weights("weight", columns["weight"], size)
        pool = checks.choice("pool", head["pool"], ("all", "unseen"))
        seed, precision = head.get("seed"), str(head.get("precision", "exact"))
    except (KeyError, TypeError) as error:
        raise InputError(f"`path` must hold whole exact ranks: {checks.because(error)}.") from error
    for name, values in counts.items():
        if values.size != size:
            raise InputError(
                f"`{name}` must have {size} rows, as the others; it has {values.size}."
            )
    names: dict[str, Any] = {
        name: checks.ids(name, columns[name], size) for name in ("user", "item") if name in columns
    }
    _check(counts, ties)
    undecided = head.get("n_undecided")
    frozen: dict[str, Any] = {name: checks.frozen(values) for name, values in counts.items()}
    return ExactRanks(
        **frozen,
        **names,
        weight=checks.frozen(weight),
        ties=ties,
        pool=pool,
        precision=precision,
        seed=None if seed is None else checks.integer("seed", seed, low=0),
        n_undecided=None if undecided is None else checks.integer("n_undecided", undecided, low=0),
    )


def _check(counts: dict[str, Any], ties: str) -> None:
    """Counts that no catalogue could give are refused."""
    n, offset = counts["n_targets"], counts["offset"]
    checks.reject("n_targets", n, n < 1, "be at least 1")
    checks.reject("offset", offset, offset >= n, "be below `n_targets`")
    most = counts["candidates"] - n
    taken = counts["above"] + counts["equal"]
    checks.reject("above", counts["above"], taken > most, "leave room among `candidates`")
    if ties == "random":
        before = counts["before"]
        checks.reject("before", before, before > counts["equal"], "be at most `equal`")
