"""PyTorch, or one sentence that says how to install it."""

from __future__ import annotations

from typing import Any

from fullrank._lib import extras

torch: Any = extras.load("torch", extra="torch", purpose="`fullrank.torch`")
