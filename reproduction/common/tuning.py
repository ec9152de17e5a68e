"""A grid search that can be resumed: its results are kept in a file."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fullrank.data import Interactions
from fullrank.models import grid_search
from reproduction.common.kept import keep_json
from reproduction.common.workers import Steps


def tuned(
    model: Any,
    train: Interactions,
    valid: Interactions,
    *,
    grid: dict[str, list[Any]],
    settings: dict[str, Any],
    metrics: Sequence[str],
    kept: Path,
    exclude: Interactions | None = None,
) -> list[dict[str, Any]]:
    """Settings and metrics of every combination, those found in the file `kept` not made again."""
    known = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    rows, combinations = [], list(itertools.product(*grid.values()))
    steps = Steps(len(combinations))
    for values in combinations:
        chosen = dict(zip(grid, values, strict=True)) | settings
        key = json.dumps(chosen, sort_keys=True)
        if key not in known:
            one = {name: [value] for name, value in chosen.items()}
            found = grid_search(model, train, valid, grid=one, metrics=metrics, exclude=exclude)
            known[key] = dict(zip(found.metrics, found.values[0].tolist(), strict=True))
            kept.parent.mkdir(parents=True, exist_ok=True)
            keep_json(known, kept)
            said = {name: round(value, 4) for name, value in known[key].items()}
            print(f"{steps.text()}: {key} {said}", flush=True)
        else:
            steps.text()
        rows.append({"settings": chosen, "values": known[key]})
    return rows
