"""Read scored candidates of other systems and rank them: TREC runs, RecBole, NCF, plain tables.

Such a file lists candidates with their scores; a column ``label`` or a second file marks the
targets. The rank of a target that is not listed is unknown, because the list was cut above it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank._lib.checks import RandomState, generator
from fullrank._lib.files import PathLike, existing
from fullrank._lib.text import counted
from fullrank._lib.types import Ints
from fullrank.designs import Design, infer_design
from fullrank.designs.inferred import INFER
from fullrank.errors import InputError
from fullrank.samples.read_ranks import Ranks
from fullrank.samples.sample import RankSample
from fullrank.tables.candidate_files import lists_unseen, read_scored, read_truth
from fullrank.tables.table import Table, stem

ROLES = ("user", "item", "score", "label", "model")
TIES = ("random", "best", "worst")
_UNSEEN = (
    "Training items are assumed to be excluded, because NCF's negatives are items that the user "
    "has not seen."
)


def read_candidates(
    path: PathLike | Table,
    *,
    truth: PathLike | None = None,
    n_items: int,
    columns: Mapping[str, str] | None = None,
    sample_size: int | None = None,
    design: str | Design = INFER,
    excluded: bool | None = None,
    ties: str = "random",
    encoding: str | None = None,
    rng: RandomState = None,
) -> Ranks:
    """Read scored candidates, and rank the targets among them.

    Parameters
    ----------
    path : a TREC run (``query Q0 document rank score tag``; order is by score, the rank column is
        ignored, and several tags are several models); or a table in any format of `read_ranks`
        with columns for user, item and score, and perhaps ``label`` and ``model``
    truth : the targets, if there is no label: TREC qrels (``query 0 document relevance``, a
        target if above 0), NCF's ``.test.negative`` or ``.test.rating``, or a table with columns
        for user and item
    n_items : number of items that candidates are drawn from, including the target: the catalogue
        or, if training items were never drawn, the catalogue without them
    columns : names of columns in the table, as ``{"score": "logit"}``; usual names are recognised
    sample_size : candidates of each target, including itself; default: the number listed. It is
        larger if the list was cut below every target
    design, encoding : as in `read_ranks`
    excluded : whether training items were excluded (`Design`); default: True for NCF's
        ``.test.negative``, which lists items that the user has not seen, else unknown
    ties : {"random", "best", "worst"}
        How to rank a target among candidates with the same score
    rng : random seed of ties="random"

    Returns
    -------
    Ranks
        Multi-target users keep the offsets that their estimate needs.

    Examples
    --------
    >>> read_candidates("run.trec", truth="qrels.txt", n_items=26_744)  # doctest: +SKIP
    """
    checks.choice("ties", ties, TIES)
    items = checks.integer("n_items", n_items, low=1)
    for role in columns or {}:
        checks.role(role, ROLES)
    source = path if isinstance(path, Table) else existing(path)
    path = source.path if isinstance(source, Table) else source
    scored = read_scored(source, columns or {}, items=truth is not None, encoding=encoding)
    told = None if truth is None else read_truth(existing(truth, "truth"), encoding)
    random = generator(rng)
    listed = {
        model: _targets(columns, told, path, truth, ties, random)
        for model, columns in _by_model(scored).items()
    }
    size = {model: _sizes(one, sample_size) for model, one in listed.items()}
    rank, drawn, pool = (
        np.concatenate(parts)
        for parts in zip(
            *((one.rank, size[model], items - one.targets + 1) for model, one in listed.items()),
            strict=True,
        )
    )
    found, notes = infer_design(rank, drawn, pool, design=design)
    if excluded is None and truth is not None and lists_unseen(Path(truth)):
        excluded, notes = True, (*notes, _UNSEEN)
    if excluded is not None:
        found = found.with_(excluded=excluded)
    samples = {
        model: RankSample.from_ranks(
            one.rank,
            sample_size=size[model],
            n_items=items,
            design=found.with_(ties=ties),
            user=one.user,
            item=one.item,
            n_targets=one.targets,
            offset=one.offset,
        )
        for model, one in listed.items()
    }
    said = [
        f"{model}: {note}" if len(listed) > 1 else note
        for model, one in listed.items()
        for note in one.notes
    ]
    names = {model or stem(path): sample for model, sample in samples.items()}
    return Ranks(samples=names, notes=(*said, *notes))


@dataclass(frozen=True, kw_only=True)
class _Targets:
    """The targets of one model: where each stands among its user's candidates."""

    user: NDArray[Any]
    item: NDArray[Any] | None
    rank: Ints  # among the candidates that are no targets
    offset: Ints
    targets: Ints  # of the same user
    listed: Ints  # candidates of the same user, targets among them
    notes: tuple[str, ...]


def _by_model(scored: Any) -> dict[str, Any]:
    """The candidates of each model; "" where the file does not name several."""
    models = scored.pop("model", None)
    names = [] if models is None else np.unique(models).tolist()
    if len(names) < 2:
        return {names[0] if names else "": scored}
    return {
        model: {name: column[models == model] for name, column in scored.items()} for model in names
    }


def _targets(
    scored: Any,
    told: Any,
    path: PathLike,
    truth: PathLike | None,
    ties: str,
    random: np.random.Generator,
) -> _Targets:
    scored, again = _once(scored, told)
    user, names, relevant, notes = _labelled(scored, told, path, truth)
    if again:
        repeats = "1 candidate repeats a target of its user and was left out."
        if again > 1:
            repeats = f"{again:,} candidates repeat a target of their user and were left out."
        notes += (repeats,)
    score = np.asarray(scored["score"])
    checks.reject("score", score, np.isnan(score), "be numbers")
    keys = {"random": random.random(score.size), "best": ~relevant, "worst": relevant}
    rank, offset, place, n_listed, tied = _placed(user, score, relevant, keys[ties])
    if tied and ties == "random":
        share = "shares its" if tied == 1 else "share their"
        score_of = f"{tied:,} of {counted(rank.size, 'target')} {share} score"
        notes += (f"{score_of} with other candidates; ties are broken at random.",)
    owner = user[place]
    return _Targets(
        user=names[owner],
        item=np.asarray(scored["item"])[place] if "item" in scored else None,
        rank=rank,
        offset=offset,
        targets=np.bincount(owner, minlength=len(names))[owner],
        listed=n_listed,
        notes=notes,
    )


def _sizes(one: _Targets, sample_size: int | None) -> Ints:
    """Candidates that are no targets, and the target: as listed, or as the caller says."""
    size = one.listed - one.targets + 1
    if sample_size is None:
        return size
    asked = checks.integer("sample_size", sample_size, low=1)
    if (size > asked).any():
        raise InputError(
            f"`sample_size` must be at least {int(size.max()):,}, the number of candidates that "
            f"are listed, not {asked:,}."
        )
    return np.full(size.size, asked)


def _once(scored: Any, told: Any) -> tuple[Any, int]:
    """Every target once: NCF's negatives hold some again, which are no candidates beside it."""
    if told is None:
        return scored, 0
    pairs = set(zip(told["user"].tolist(), told["item"].tolist(), strict=True))
    keep = np.ones(scored["user"].size, bool)
    seen = set()
    for place, pair in enumerate(
        zip(scored["user"].tolist(), scored["item"].tolist(), strict=True)
    ):
        if pair in pairs:
            keep[place] = pair not in seen
            seen.add(pair)
    if keep.all():
        return scored, 0
    return {name: column[keep] for name, column in scored.items()}, int((~keep).sum())


def _labelled(
    scored: Any, told: Any, path: PathLike, truth: PathLike | None
) -> tuple[Ints, NDArray[Any], NDArray[np.bool_], tuple[str, ...]]:
    """For every candidate its user and whether it is a target; users without targets are out."""
    names, user = np.unique(scored["user"], return_inverse=True)
    if told is None:
        if "label" not in scored:
            raise InputError(
                f"`truth` must be given, or the column that marks targets must be named with "
                f"`columns={{'label': 'NAME'}}`: {path} has no `label` column."
            )
        relevant = scored["label"] > 0
        missing = 0
    else:
        relevant, missing = _found(scored, told, set(names.tolist()), path)
    has = np.bincount(user, relevant, names.size) > 0
    notes = []
    if not has.any():
        where = "the `label` column" if truth is None else str(truth)
        raise InputError(
            f"`path` must list at least one target; according to {where}, no candidate in {path} "
            "is a target."
        )
    if not has.all():
        lost = int((~has).sum())
        have, were = ("has", "was") if lost == 1 else ("have", "were")
        notes.append(f"{lost:,} of {has.size:,} users {have} no target and {were} left out.")
    if missing:
        have, were = ("has", "was") if missing == 1 else ("have", "were")
        users = f"{counted(missing, 'user')} with targets"
        notes.append(f"{users} {have} no candidates and {were} left out.")
    # users without a target keep their candidates, which are not evaluated
    return user, names, relevant, tuple(notes)


def _found(
    scored: Any, told: Any, users: set[Any], path: PathLike
) -> tuple[NDArray[np.bool_], int]:
    """Which candidates are targets by the truth; every target of a listed user must be there."""
    pairs = set(zip(told["user"].tolist(), told["item"].tolist(), strict=True))
    listed = list(zip(scored["user"].tolist(), scored["item"].tolist(), strict=True))
    relevant = np.fromiter((pair in pairs for pair in listed), bool, len(listed))
    hit = [pair for pair, one in zip(listed, relevant.tolist(), strict=True) if one]
    once = set(hit)
    lost = [pair for pair in pairs if pair[0] in users and pair not in once]
    if lost:
        first = min(lost)
        depth = int(np.median(np.unique(scored["user"], return_counts=True)[1]))
        number = f"{len(lost):,} of {counted(len(lost) + len(hit), 'target')}"
        absent = "is not in" if len(lost) == 1 else "are not in"
        which = f"{'' if len(lost) == 1 else 'first: '}{first[1]} of user {first[0]}"
        raise InputError(
            f"`path` must list every target; {number} {absent} {path} ({which}). A missing target "
            f"is only known to rank below the listed candidates (about {depth:,} per user). "
            "Write the full list of candidates."
        )
    return relevant, len({user for user, _ in pairs} - users)


def _placed(
    user: Ints, score: NDArray[np.float64], relevant: NDArray[np.bool_], key: NDArray[Any]
) -> tuple[Ints, Ints, Ints, Ints, int]:
    """Of every target: rank among non-targets, targets above, row, candidates listed, and ties."""
    order = np.lexsort((key, -score, user))
    u, s, hit = user[order], score[order], relevant[order]
    others = np.cumsum(~hit)  # non-targets up to here
    start = np.searchsorted(u, np.arange(int(u.max()) + 1))
    before = np.concatenate([[0], others])[start]
    above = np.concatenate([[0], np.cumsum(hit)])[start]
    at = np.flatnonzero(hit)
    owner = u[at]
    rank = 1 + others[at] - before[owner]
    offset = np.cumsum(hit)[at] - 1 - above[owner]
    new = np.concatenate([[True], (np.diff(u) != 0) | (np.diff(s) != 0)])
    run = np.cumsum(new) - 1
    tied = int((np.bincount(run, ~hit)[run[at]] > 0).sum())
    return rank, offset, order[at], np.bincount(u)[owner], tied
