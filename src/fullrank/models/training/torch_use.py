"""PyTorch, loaded when it is first needed (extra `torch`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fullrank._lib import extras


def load_torch() -> Any:
    """Return torch, or raise an error with the pip command that installs it."""
    return extras.load("torch", extra="torch", purpose="Training a neural model")


@contextmanager
def as_usual() -> Iterator[None]:
    """Use single precision and gradients, whatever the caller has set globally in torch."""
    torch = load_torch()
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(before)
