"""Tables 8–10 and 14–18 of Li (dissertation) as printed, from `published.json`.

BASIC has settings and three metrics (Tables 8 and 9), COMPARED the same metrics (Tables 10 and 18),
SEARCHES the NDCG@100 of validation users (Tables 14–17), a row for each k, a column for each λ.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_PRINTED = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
BASIC: dict[str, dict[str, tuple[str, tuple[float, ...]]]] = {
    data: {model: (settings, tuple(values)) for model, (settings, values) in rows.items()}
    for data, rows in _PRINTED["BASIC"].items()
}
COMPARED: dict[str, dict[str, tuple[float, ...]]] = {
    data: {model: tuple(values) for model, values in rows.items()}
    for data, rows in _PRINTED["COMPARED"].items()
}
SEARCHES: dict[str, dict[str, Any]] = _PRINTED["SEARCHES"]
