"""What the command line's options mean."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fullrank._lib.specs import parse_spec
from fullrank.engines import Engine, make_engine
from fullrank.errors import InputError
from fullrank.evaluation.model_sources import named
from fullrank.scorers.factor_files import FactorFiles

_MAIN = {"serial": "threads", "processes": "workers", "ray": "address"}


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
    if spec.main is not None:
        settings[_MAIN.get(spec.name, "")] = spec.main
    try:
        return make_engine(spec.name, **settings)
    except TypeError as error:
        raise InputError(
            f"`engine` must have settings of {spec.name}, not {', '.join(map(repr, settings))}."
        ) from error


def pairs_of(option: str, texts: Iterable[str]) -> dict[str, str]:
    """A mapping from ``key=value`` texts.

    Examples
    --------
    >>> pairs_of("--column", ["user=uid", "item=movie"])
    {'user': 'uid', 'item': 'movie'}
    """
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key or not value:
            raise InputError(f"`{option}` must be written as key=value, not {text!r}.")
        found[key] = value
    return found


def given_models(models: Iterable[str], factors: Iterable[str]) -> dict[str, Any]:
    """Names to models, from texts as ``ease`` and ``mine=users.npy,items.npy``."""
    found = named(models)
    for text in factors:
        name, files = FactorFiles.of(text)
        if name in found:
            raise InputError(f"`factors` must have a name of their own; {name!r} is taken.")
        found[name] = files
    return found
