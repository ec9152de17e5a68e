"""Engines, which run work on many shards; the caller passes one in.

An engine calls a function on every part of some work and yields the results as they finish. It
knows nothing about ranking, and a function that depends only on its arguments gives the same
results on all engines. Beside the flow: imports `_lib`; evaluation and cli may import it.

>>> import operator
>>> from fullrank.engines import Serial
>>> dict(Serial().map(operator.getitem, "abc", [0, 2]))
{0: 'a', 1: 'c'}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fullrank._lib import checks
from fullrank.engines.processes import Processes
from fullrank.engines.protocol import Engine
from fullrank.engines.ray_engine import Ray
from fullrank.engines.serial import Serial

ENGINES: Mapping[str, Callable[..., Engine]] = {
    "serial": Serial,
    "processes": Processes,
    "ray": Ray,
}

__all__ = ["ENGINES", "Engine", "Processes", "Ray", "Serial", "make_engine"]


def make_engine(name: str = "serial", **settings: Any) -> Engine:
    """Return an engine by name.

    Examples
    --------
    >>> make_engine("processes", workers=2)
    Processes(workers=2)
    """
    return ENGINES[checks.choice("engine", name, ENGINES)](**settings)
