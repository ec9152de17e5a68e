"""How the commands read ranks: the options they share, and the files these describe."""

from __future__ import annotations

import functools
import inspect
import math
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullrank.cli.common import INPUT, SAMPLE, option
from fullrank.cli.messages import noted
from fullrank.errors import InputError

if TYPE_CHECKING:
    from fullrank.samples.read_ranks import Ranks

_TRAINING = ("excluded", "kept")
_TIES = ("random", "best", "worst")
RanksFile = Annotated[
    Path,
    typer.Argument(
        help="Ranks or scored candidates: a table (CSV or other text, also compressed; Parquet, "
        "Feather, JSON Lines, JSON, .npy), a TREC run, or a folder that `fullrank evaluate` wrote.",
        metavar="[NAME=]RANKS",
        readable=False,  # said in our own words
        show_default=False,
    ),
]
RanksFiles = Annotated[
    list[Path],
    typer.Argument(
        help="Files of ranks, and folders that `fullrank evaluate` wrote.",
        metavar="[NAME=]FILES...",
        readable=False,  # said in our own words
        show_default=False,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The options that say what a file of ranks holds; a command takes them by `takes_ranks`."""

    sample_size: Annotated[
        str | None,
        option(
            SAMPLE,
            "--sample-size",
            "Candidates per target, including the target: a number or a column.",
            "N",
        ),
    ] = None
    n_items: Annotated[
        str | None,
        option(
            SAMPLE,
            "--n-items",
            "Number of items that candidates are drawn from, including the target: the catalogue "
            "or, if training items were never drawn, the catalogue without them. A number or a "
            "column; if it differs between users, a column is more precise than the mean.",
            "N",
        ),
    ] = None
    training_items: Annotated[
        str | None,
        option(
            SAMPLE,
            "--training-items",
            "Whether users' training items were excluded (never drawn, or counted as below the "
            "target) or kept. Default: excluded if --n-items is a column that differs between "
            "users, or if --truth is an NCF .test.negative; otherwise unknown.",
            "KIND",
        ),
    ] = None
    design: Annotated[
        str,
        option(
            SAMPLE,
            "--design",
            "How candidates were drawn: sampled:100, adaptive:25, sampled:replacement=true if "
            "items could repeat, exact for ranks among all items, …; infer determines it from the "
            "file.",
            "DESIGN",
        ),
    ] = "infer"
    truth: Annotated[
        Path | None,
        option(
            INPUT,
            "--truth --qrels",
            "File that lists the targets, for scored candidates: TREC qrels, NCF .test.negative or "
            ".test.rating, RecBole .inter, CSV or Parquet.",
            "FILE",
            readable=False,  # said in our own words
        ),
    ] = None
    ties: Annotated[
        str,
        option(
            INPUT,
            "--ties",
            "How a target ranks among candidates with the same score: random, best or worst.",
            "KIND",
        ),
    ] = "random"
    column: Annotated[
        list[str] | None,
        option(
            INPUT,
            "--column",
            "Assign a column to a role, as in rank=position or model=system; common names are "
            "recognised. rank=pop,svd reads one column of ranks per model. May be repeated.",
            "ROLE=NAME",
        ),
    ] = None
    model: Annotated[
        list[str] | None,
        option(INPUT, "--model", "Read only this model. May be repeated.", "NAME"),
    ] = None
    leave_out: Annotated[
        list[str] | None,
        option(INPUT, "--leave-out", "Ignore this column. May be repeated.", "NAME"),
    ] = None
    encoding: Annotated[
        str | None,
        option(
            INPUT,
            "--encoding",
            "Encoding of text files. Default: UTF-8, or Latin-1 if that fails.",
            "NAME",
        ),
    ] = None

    def read(
        self, path: Path, *, rows: bool | None = None, seed: int = 0, seeds: bool = False
    ) -> Ranks:
        """The samples in a file by model, and what was assumed; unnamed ones take its name.

        As ``NAME=PATH`` the file has that name, and of several models each ``NAME/model``. Seeds of
        a model are models of their own, unless the command takes `seeds` together.
        """
        given = Source.of(path)
        if os.path.isdir(given.path):
            found = self._completed(_run(given.path))
        else:
            found = self._read_file(given.path, rows=rows, seed=seed)
        found = given.named(self._picked(found, given.path))
        found = replace(found, notes=tuple(noted(note) for note in found.notes))
        return found if seeds else _by_seed(found)

    def _picked(self, found: Ranks, path: Path) -> Ranks:
        """The models that were asked for, in that order."""
        for name in self.model or ():
            if name not in found.samples:
                raise InputError(
                    f"`--model` must be one of the models in {path} "
                    f"({', '.join(map(repr, found.samples))}), not {name!r}."
                )
        return replace(
            found, samples={name: found.samples[name] for name in self.model or found.samples}
        )

    def _read_file(self, path: Path, *, rows: bool | None, seed: int) -> Ranks:
        from fullrank._lib import checks
        from fullrank._lib import files as _files
        from fullrank._lib.text import printable
        from fullrank.samples.read_candidates import read_candidates
        from fullrank.samples.read_ranks import is_own, read_ranks, unread_names
        from fullrank.tables.candidate_files import has_scores
        from fullrank.tables.table import open_table

        for argument, one in (("path", path), ("truth", self.truth)):
            if one is not None and not os.access(_files.existing(one, argument), os.R_OK):
                raise InputError(f"`{argument}` must be readable; {one} is not.")
        checks.choice("--ties", self.ties, _TIES)
        sizes, columns = self._columns()
        scored = {
            "columns": columns, "ties": self.ties, "rng": seed, "encoding": self.encoding,
            **self._design(),
        }  # fmt: skip
        if self.truth is not None:
            found = read_candidates(path, truth=self.truth, **scored, **self._numbers())
        else:
            self._must_be_table(path)
            with open_table(path, encoding=self.encoding) as table:
                scores = {"score", "label"} & set(columns) or has_scores(table)
                if not is_own(table) and "rank" not in columns and scores:
                    found = read_candidates(table, **scored, **self._numbers())
                else:
                    left_out, names = self.leave_out or (), []
                    if rows and not is_own(table):  # for models that are paired
                        with suppress(InputError):  # which reading the ranks raises as well
                            names = unread_names(table, columns, left_out)[:1]
                    found = read_ranks(
                        table, columns=columns, leave_out=left_out, rows=rows, **sizes,
                        **self._design(),
                    )  # fmt: skip
                    found = replace(found, unread=dict.fromkeys(names, str(path)))
        samples = {printable(name): one for name, one in found.samples.items()}
        if len(samples) < len(found.samples):
            raise InputError(
                f"`model` must have distinct names; two names in {path} look the same."
            )
        return replace(found, samples=samples)

    def shown(self, path: Path) -> str:
        """The file and these options as they are typed."""
        words = [str(path)]
        for one in fields(self):
            value = getattr(self, one.name)
            flag = f"--{one.name.replace('_', '-')}"
            if isinstance(value, list):
                words += [word for each in value for word in (flag, each)]
            elif value is not None and value != one.default:
                words += [flag, str(value)]
        return shlex.join(words)

    def _must_be_table(self, path: Path) -> None:
        from fullrank.tables.candidate_files import is_run
        from fullrank.tables.table import SUFFIXES, kind, unknown

        if kind(path) not in SUFFIXES:
            if not is_run(path):
                raise unknown(path)
            raise InputError(
                f"`--truth` must be given: {path} is a TREC run, whose targets are in a separate "
                "qrels file."
            )

    def _numbers(self) -> dict[str, Any]:
        """The sizes for scored candidates, which have no column for them."""
        return {
            "sample_size": whole_number("--sample-size", self.sample_size),
            "n_items": _needed(whole_number("--n-items", self.n_items)),
        }

    def _design(self) -> dict[str, Any]:
        from fullrank.cli.option_values import checked_design

        checked_design("--design", self.design)
        return {"design": self.design, "excluded": self.excluded()}

    def excluded(self) -> bool | None:
        from fullrank._lib import checks

        if self.training_items is None:
            return None
        return checks.choice("--training-items", self.training_items, _TRAINING) == "excluded"

    def _completed(self, found: Ranks) -> Ranks:
        """Samples of ours that do not say whether training items were excluded, told so."""
        from fullrank.samples import RankSample

        excluded = self.excluded()
        samples = {
            name: replace(one, design=one.design.with_(excluded=excluded))
            if isinstance(one, RankSample) and one.design.excluded is None
            else one
            for name, one in found.samples.items()
        }
        return found if excluded is None else replace(found, samples=samples)

    def _columns(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Sizes that are numbers, and the columns that hold the rest."""
        from fullrank.cli.option_values import pairs_of

        columns: dict[str, Any] = dict(pairs_of("--column", self.column or ()))
        if "," in columns.get("rank", ""):
            columns["rank"] = [one.strip() for one in columns["rank"].split(",")]
        sizes: dict[str, Any] = {}
        for role, text in (("sample_size", self.sample_size), ("n_items", self.n_items)):
            sizes[role] = _whole(text)
            if text is not None and sizes[role] is None and _is_number(text):
                whole_number(f"--{role.replace('_', '-')}", text)
            if text is not None and sizes[role] is None:
                columns[role] = text
        return sizes, columns


def _by_seed(found: Ranks) -> Ranks:
    """The seeds of a model as models of their own."""
    from fullrank.samples import Seeds

    samples: dict[str, Any] = {}
    for name, one in found.samples.items():
        parts = {f"{name}, seed {seed}": part for seed, part in one.samples.items()} if isinstance(
            one, Seeds) else {name: one}  # fmt: skip
        samples |= parts
    return replace(found, samples=samples)


def takes_ranks(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Reading` behind its own; it gets them as `reading`.

    An option of the same name takes the place of the shared one, to be described otherwise.
    """
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    shared = list(inspect.signature(Reading, eval_str=True).parameters.values())
    mine = {one.name for one in own}
    every = [one for one in own if one.name != "reading"]
    every += [one for one in shared if one.name not in mine]

    @functools.wraps(command)
    def called(**given: Any) -> None:
        reading = Reading(**{one.name: given[one.name] for one in shared})
        own_options = {name: value for name, value in given.items() if name in mine}
        command(reading=reading, **own_options)

    del called.__wrapped__
    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in every]
    )
    called.__annotations__ = {one.name: one.annotation for one in every}
    return called


@dataclass(frozen=True)
class Source:
    """A file or the folder of a run, and the name it was given on the command line."""

    name: str | None
    path: Path

    @classmethod
    def of(cls, typed: Path) -> Source:
        """``last=runs/60`` as a name and a path; what exists as it was typed is a path."""
        name, equals, rest = str(typed).partition("=")
        if os.path.exists(typed) or not (equals and name and rest) or os.sep in name:
            return cls(None, typed)
        return cls(name, Path(rest))

    def named(self, found: Ranks) -> Ranks:
        """The models under the name that was given."""
        from fullrank._lib.text import printable

        if self.name is None:
            return found
        name, several = printable(self.name), len(found.samples) > 1
        samples = {
            f"{name}/{model}" if several else name: one for model, one in found.samples.items()
        }
        return replace(found, samples=samples)


def read_models(
    reading: Reading, paths: Iterable[Path], *, seed: int, seeds: bool = False
) -> Ranks:
    """Every model in files and in folders that `fullrank evaluate` wrote, with its rows.

    One model in two runs is the usual case: the parts in which their paths differ tell them apart.
    """
    from fullrank.samples.read_ranks import Ranks

    read = [(path, reading.read(path, rows=True, seed=seed, seeds=seeds)) for path in paths]
    where: dict[str, list[Path]] = {}
    for path, one in read:
        for name in one.samples:
            where.setdefault(name, []).append(path)
    found: dict[str, Any] = {}
    labels: dict[str, Path] = {}
    for path, one in read:
        for name, sample in one.samples.items():
            label = name if len(where[name]) == 1 else f"{name} ({_tag(path, where[name])})"
            if label in found:
                raise InputError(
                    f"`FILES` must have distinct model names; {label!r} occurs twice. Rename one, "
                    f"as in NAME={path}."
                )
            found[label], labels[label] = sample, Source.of(path).path
    found = _alike(found, labels)
    splits = {str(path): one.split for path, one in read if one.split is not None}
    differ = len(set(splits.values())) > 1  # and then the notes of runs, their splits, are one
    notes = dict.fromkeys(n for _, one in read if not (differ and one.split) for n in one.notes)
    if differ:
        shown = "; ".join(f"{path}, {how}" for path, how in splits.items())
        notes[f"The data of the runs were split differently: {shown}."] = None
    split = None if differ else next(iter(splits.values()), None)
    unread: dict[str, str] = {}
    for _, one in read:
        for name, file in one.unread.items():
            unread[name] = f"{unread[name]}, {file}" if name in unread else file
    return Ranks(samples=found, notes=tuple(notes), split=split, unread=unread)


def _alike(samples: dict[str, Any], paths: Mapping[str, Path]) -> dict[str, Any]:
    """Samples whose ids meet: where those of one file are text, so are those of every text file.

    A file whose ids are all whole numbers is read as if they were numbers, which only the other
    files can tell. Files with types of their own are taken at their word: there, 7 is not "7".
    """
    from fullrank.tables.table import TEXT, kind

    for role in ("user", "item"):
        whole = {name: _is_whole(one, role) for name, one in samples.items()}
        if not {True, False} <= set(whole.values()):
            continue
        strict = [name for name, yes in whole.items() if yes and kind(paths[name]) not in TEXT]
        if strict:
            other = next(name for name, yes in whole.items() if yes is False)
            raise InputError(
                f"`{role}` must hold numbers in every file or text in every file; it holds "
                f"numbers in {paths[strict[0]]} and text in {paths[other]}."
            )
        texts = {
            name: _with_text(one, role) if whole[name] else one for name, one in samples.items()
        }
        if _meet(texts[name] for name in whole if whole[name] is not None):
            samples = texts
    return samples


def _meet(samples: Iterable[Any]) -> bool:
    """Whether some user is in two of the samples, which tells that their names are the same."""
    from fullrank.samples import Seeds

    seen: set[str] = set()
    for one in samples:
        first = one.first if isinstance(one, Seeds) else one
        named: Any = getattr(first, "rows", first)
        users = set(named.user.tolist())
        if seen & users:
            return True
        seen |= users
    return False


def _is_whole(sample: Any, role: str) -> bool | None:
    """Whether the ids of a sample are numbers; None where it has none."""
    from fullrank.samples import Seeds

    sample = sample.first if isinstance(sample, Seeds) else sample
    ids = getattr(getattr(sample, "rows", sample), role, None)
    return None if ids is None else ids.dtype.kind in "iu"


def _with_text(sample: Any, role: str) -> Any:
    """A sample with ids of text."""
    import numpy as np

    from fullrank.samples import Seeds

    if isinstance(sample, Seeds):
        return replace(sample, samples={n: _with_text(s, role) for n, s in sample.samples.items()})
    ids = getattr(sample.rows, role).astype(np.str_)
    ids.flags.writeable = False
    return replace(sample, rows=replace(sample.rows, **{role: ids}))


def _tag(path: Path, others: list[Path]) -> str:
    """The parts of a path that are not the same in all of them."""
    every = [_parts(one) for one in others]
    own, shortest = _parts(path), min(map(len, every))
    same = [len({parts[at] for parts in every}) == 1 for at in range(shortest)]
    behind = [len({parts[-1 - at] for parts in every}) == 1 for at in range(shortest)]
    start = same.index(False) if False in same else shortest
    end = behind.index(False) if False in behind else 0
    return "/".join(own[start : len(own) - end] or own[-1:])


def _parts(path: Path) -> tuple[str, ...]:
    from fullrank.tables.table import stem

    source = Source.of(path)
    whole = source.path.absolute()
    return (*whole.parts[:-1], whole.name if os.path.isdir(whole) else stem(whole))


def _run(folder: Path) -> Ranks:
    """The models of a folder that `fullrank evaluate` wrote."""
    from fullrank.evaluation.result import Evaluation
    from fullrank.samples.read_ranks import Ranks

    found = Evaluation.read(folder)
    notes = () if found.split is None else (f"Split: {found.split}",)
    return Ranks(samples=found.samples, notes=notes, split=found.split)


def _whole(text: str | None) -> int | None:
    """26744, 26_744, 26,744 and 1e6 as a number; None for anything else."""
    plain = (text or "").replace("_", "").replace(",", "").strip()
    if plain.isascii() and plain.isdigit():
        return int(plain)
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?[eE]\+?[0-9]{1,2}", plain) and float(plain) % 1 == 0:
        return int(float(plain))
    return None


def _is_number(text: str) -> bool:
    """Whether a text can only be meant as a number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def whole_number(option: str, text: str | None) -> int | None:
    """A whole number as people type it."""
    number = _whole(text)
    if text is not None and number is None:
        if re.fullmatch(r"-[0-9][0-9_,]*", text):
            raise InputError(f"`{option}` must be at least 1, not {text}.")
        raise InputError(f"`{option}` must be a whole number, not {text!r}.")
    return number


def _needed(n_items: int | None) -> int:
    if n_items is None:
        raise InputError(
            "`--n-items` must be given: scored candidates do not show the size of the catalogue."
        )
    return n_items
