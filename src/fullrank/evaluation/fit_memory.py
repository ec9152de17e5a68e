"""Memory that fitting asks for, known before it is taken."""

from __future__ import annotations

from typing import Any

from fullrank._lib import memory
from fullrank.data import Interactions


def check_fit(name: str, model: Any, data: Interactions) -> None:
    """Refuse to fit what this machine cannot hold, as far as the model's `memory` tells.

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
