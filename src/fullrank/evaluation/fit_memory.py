"""Check the memory that fitting needs before a model is fitted."""

from __future__ import annotations

from typing import Any

from fullrank._lib import memory
from fullrank.data import Interactions


def check_fit(name: str, model: Any, data: Interactions) -> None:
    """Refuse to fit a model whose `memory` exceeds that of this machine.

    Examples
    --------
    >>> from fullrank import models
    >>> from fullrank.data import load
    >>> check_fit("ease", models.EASE(), load("simulated"))
    """
    need = 24.0 * data.n_interactions
    asks = getattr(model, "memory", None)
    if callable(asks) and not str(getattr(model, "device", None)).startswith("cuda"):
        need += float(asks(data))
    memory.ask("models", need, f"{name} for {data.n_items:,} items")
