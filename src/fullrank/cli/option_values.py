"""What the command line's options mean."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fullrank._lib import checks
from fullrank._lib.specs import parse_spec
from fullrank.engines import ENGINES, Engine, make_engine
from fullrank.errors import InputError
from fullrank.evaluation.model_sources import named
from fullrank.scorers.factor_files import FactorFiles

MAIN = {"serial": "threads", "processes": "workers", "ray": "address"}


def engine_of(text: str) -> Engine:
    """An engine from ``serial``, ``processes:2``, ``ray``, ``ray:auto`` or ``ray:workers=2``.

    Examples
    --------
    >>> engine_of("processes:2")
    Processes(workers=2)
    """
    if text.startswith("ray:") and "=" not in text:  # an address has colons of its own
        return make_engine("ray", address=text.removeprefix("ray:"))
    spec = parse_spec("engine", text)
    settings = dict(spec.settings)
    known = inspect.signature(ENGINES[checks.choice("engine", spec.name, ENGINES)]).parameters
    if spec.main is not None:
        if MAIN[spec.name] in settings:
            raise InputError(f"`engine` must give {MAIN[spec.name]} once, not {text!r}.")
        settings[MAIN[spec.name]] = spec.main
    if not settings.keys() <= known.keys():
        raise checks.unknown_settings("engine", spec.name, known, settings)
    return make_engine(spec.name, **settings)


def pairs_of(option: str, texts: Iterable[str]) -> dict[str, str]:
    """A mapping from ``role=name`` texts, each role once.

    Examples
    --------
    >>> pairs_of("--column", ["user=uid", "item=movie"])
    {'user': 'uid', 'item': 'movie'}
    """
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key or not value:
            raise InputError(f"`{option}` must be written as ROLE=NAME, not {text!r}.")
        if key in found:
            both = f"{found[key]}, {value}" if found[key] != value else value
            several = f" For one column per model, use `{option} rank={found[key]},{value}`."
            raise InputError(
                f"`{option}` must name one column for {key}, not {both}."
                f"{several if key == 'rank' else ''}"
            )
        found[key] = value
    return found


def checked_design(option: str, text: str | None) -> None:
    """Refuse a text that is not a design, by the option that it was given to."""
    from fullrank.designs import Design
    from fullrank.designs.inferred import INFER

    if text is not None and text != INFER:
        Design.of(text, argument=option)


def sources_of(data: str | None, **parts: str | None) -> tuple[Any, str]:
    """What to load and what to call it: a data set or file, or a file for each part.

    Examples
    --------
    >>> sources_of(None, train="a/train.csv", test="a/test.csv", valid=None)
    ({'train': 'a/train.csv', 'test': 'a/test.csv'}, 'train.csv and test.csv')
    """
    given = {part: path for part, path in parts.items() if path is not None}
    if data is not None and given:
        raise InputError(
            f"`--{next(iter(given))}` must not be given with {data}: name the data once."
        )
    if data is not None:
        return data, data
    missing = [f"`--{part}`" for part in ("train", "test") if part not in given]
    if missing:
        if given:
            raise InputError(f"{' and '.join(missing)} must be given with `--{next(iter(given))}`.")
        raise InputError(f"`DATA` must be given, or {' and '.join(missing)}.")
    return given, " and ".join(Path(one).name for one in given.values())


def given_models(
    models: Iterable[str],
    factors: Iterable[str],
    *,
    user_ids: Iterable[str] = (),
    item_ids: Iterable[str] = (),
    columns: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Names to models, from texts as ``ease`` and ``mine=users.npy,items.npy``.

    With them come the options on ids, as ``mine=ids.txt`` or ``ids.txt``, and the names of columns.
    """
    found = named(models)
    texts = list(factors)
    names = [text.partition("=")[0].strip() for text in texts]
    ids = {
        "user_ids": _id_files("--user-ids", user_ids, names),
        "item_ids": _id_files("--item-ids", item_ids, names),
    }
    told = {role: name for role, name in (columns or {}).items() if role in ("user", "item")}
    for name, text in zip(names, texts, strict=True):
        if name in found:
            raise InputError(f"`factors` must have a unique name; {name!r} is already taken.")
        beside = {option: paths.get(name) for option, paths in ids.items()}
        found[name] = FactorFiles.of(text, columns=told, **beside)[1]
    return found


def _id_files(option: str, texts: Iterable[str], names: Sequence[str]) -> dict[str, Path]:
    """The file of ids of each model: its own, or the one for all."""
    own: dict[str, Path] = {}
    for_all: list[Path] = []
    for text in texts:
        name, equals, path = text.partition("=")
        if not names:
            raise InputError(
                f"`{option}` must not be given without `--factors`, whose rows it labels."
            )
        if equals and name in names:
            if name in own:
                raise InputError(f"`{option}` must not be given more than once for {name}.")
            own[name] = Path(path)
        elif equals and not os.path.exists(text):
            raise InputError(
                f"`{option}` must be written as FILE or NAME=FILE, where NAME is a name given in "
                f"`--factors` ({', '.join(names)}); got {text!r}."
            )
        else:
            for_all.append(Path(text))
    if len(for_all) > 1:
        raise InputError(
            f"`{option}` must name one file for all factors, or a model for each file, as in "
            f"{names[0]}={for_all[1]}."
        )
    return {name: for_all[0] for name in names if for_all} | own
