"""PyTorch, loaded when it is first needed (extra `torch`)."""

from __future__ import annotations

from typing import Any

from fullrank import _extras


def load_torch() -> Any:
    """The module, or the pip line that would install it."""
    return _extras.load("torch", extra="torch", purpose="Training a neural model")
