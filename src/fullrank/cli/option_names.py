"""What the options of a command are called, beside the arguments of the library."""

from __future__ import annotations

import re
from typing import Any

# What the library calls differently from the commands.
SAME = {
    "confidence_level": "level", "n_resamples": "resamples", "metrics": "metric",
    "columns": "column", "rng": "seed", "excluded": "training_items", "designs": "tried",
    "keep": "leave_out", "similarity": "factors", "models": "model", "source": "data",
    "results": "files", "n_users": "users", "name": "data", "interactions": "data",
    "ranks": "files", "sample_size": "design", "order": "design", "exclude": "keep_seen",
    "anchor": "no_anchor",
}  # fmt: skip


def typed(param: Any) -> str:
    """What is typed for a parameter: its option, or the name of its place."""
    if param.param_type_name == "option":
        return str(param.opts[0])
    shown = param.metavar or param.name.upper()
    return re.sub(r"^\[NAME=\]|\.\.\.$", "", shown)
