"""Exact ranks as columns and a head of settings, and checked again when they come back."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank.errors import InputError
from fullrank.samples.exact_ranks import HIDDEN, POLICIES, ExactRanks

FORMAT = 2  # of 1, users were row numbers in run folders
KIND = "ExactRanks"
NULLABLE = (*HIDDEN, "more_than")  # columns of ranks up to K in which values are missing
_COUNTS = ("above", "equal", "candidates", "n_targets", "offset")


def packed(ranks: ExactRanks) -> tuple[dict[str, Any], dict[str, Any]]:
    """What both file formats hold: a head of settings, and columns."""
    return {"format": FORMAT, "kind": KIND, **ranks.settings()}, ranks.columns()


def may_have_nulls(head: dict[str, Any], name: str) -> bool:
    """Whether a column of the file may have missing values."""
    return head.get("kind") == KIND and head.get("max_rank") is not None and name in NULLABLE


def lacking(error: Exception) -> str:
    """Return what a file lacks, or else the message of the error, as the end of a sentence."""
    return f"{checks.because(error)}{' is missing' if isinstance(error, KeyError) else ''}"


def unpacked(head: dict[str, Any], columns: dict[str, Any]) -> ExactRanks:
    """Check again what was read: a file can be changed by anyone."""
    try:
        beyond, columns = _filled(head.get("max_rank"), columns)
        ties = checks.choice("ties", head["ties"], POLICIES)
        counts = {name: checks.integers(name, columns[name], low=0) for name in _COUNTS}
        size = counts["above"].size
        if size == 0:
            raise InputError("`path` must hold at least one rank; it is empty.")
        for name in ("before",) if ties == "random" else ():
            counts[name] = checks.integers(name, columns[name], low=0)
        if "count" in columns:
            counts["count"] = checks.integers("count", columns["count"], low=1)
        if beyond is not None and "n_scored" in columns:
            counts["n_scored"] = checks.integers("n_scored", columns["n_scored"], low=1)
        if "time" in columns:
            counts["time"] = checks.integers("time", columns["time"])
        weight = checks.weights("weight", columns["weight"], size)
        pool = checks.choice("pool", head["pool"], ("all", "unseen"))
        seed, precision = head.get("seed"), str(head.get("precision", "exact"))
    except (KeyError, TypeError) as error:
        raise InputError(f"`path` must hold complete exact ranks: {lacking(error)}.") from error
    for name, values in counts.items():
        if values.size != size:
            raise InputError(
                f"`{name}` must have as many rows as the other columns, {size}, not {values.size}."
            )
    names: dict[str, Any] = {
        name: checks.ids(name, columns[name], size) for name in ("user", "item") if name in columns
    }
    _check(counts, ties)
    censored: dict[str, Any] = {}
    if beyond is not None:
        censored = {"max_rank": int(head["max_rank"]), "beyond": checks.frozen(beyond)}
    undecided = head.get("n_undecided")
    frozen: dict[str, Any] = {name: checks.frozen(values) for name, values in counts.items()}
    ranks = ExactRanks(
        **frozen,
        **names,
        **censored,
        weight=checks.frozen(weight),
        ties=ties,
        pool=pool,
        precision=precision,
        seed=None if seed is None else checks.integer("seed", seed, low=0),
        n_undecided=None if undecided is None else checks.integer("n_undecided", undecided, low=0),
    )
    if beyond is not None:
        late = ~beyond & (ranks.ranks > ranks.max_rank)
        checks.reject("rank", ranks.ranks, late, f"be at most {ranks.max_rank} or missing")
    return ranks


def _filled(max_rank: Any, columns: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Which targets are beyond `max_rank`, and the columns with what these are held as."""
    if max_rank is None:
        return None, columns
    k = checks.integer("max_rank", max_rank, low=1)
    more = np.ma.asarray(columns["more_than"])
    beyond = ~np.ma.getmaskarray(more)
    checks.integers("more_than", np.ma.getdata(more)[beyond], low=k, high=k)
    filled = dict(columns)
    for name in HIDDEN:
        if name not in columns:
            continue
        values = np.ma.asarray(columns[name])
        if not np.array_equal(np.ma.getmaskarray(values), beyond):
            raise InputError(
                f"`{name}` must be missing where `more_than` says {k}, and only there."
            )
        plain = np.array(np.ma.getdata(values))
        plain[beyond] = 0
        filled[name] = plain
    offset = checks.integers("offset", columns["offset"], size=beyond.size, low=0)
    filled["above"] = np.where(beyond, np.maximum(k - offset, 0), filled["above"])
    return beyond, filled


def masked(values: list[Any]) -> Any:
    """A list of JSON as an array in which None is missing."""
    missing = np.array([one is None for one in values], np.bool_)
    whole = [0 if one is None else one for one in values]
    return np.ma.masked_array(np.asarray(whole), missing)


def _check(counts: dict[str, Any], ties: str) -> None:
    """Counts that no catalogue could give are refused."""
    n, offset = counts["n_targets"], counts["offset"]
    checks.reject("n_targets", n, n < 1, "be at least 1")
    checks.reject("offset", offset, offset >= n, "be below `n_targets`")
    most = counts["candidates"] - n
    taken = counts["above"] + counts["equal"]
    fits = "be at most `candidates` − `n_targets` − `equal`"
    checks.reject("above", counts["above"], taken > most, fits)
    if "n_scored" in counts:
        each = counts["n_scored"] / counts.get("count", 1)
        checks.reject(
            "n_scored", counts["n_scored"], each > counts["candidates"], "be at most `candidates`"
        )
    if ties == "random":
        before = counts["before"]
        checks.reject("before", before, before > counts["equal"], "be at most `equal`")
