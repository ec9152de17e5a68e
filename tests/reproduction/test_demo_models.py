"""The demonstration trains what validation chose."""

from __future__ import annotations

import json
from pathlib import Path

from fullrank import demo

FOUND = Path(__file__).parents[2] / "docs" / "studies" / "demo_models.json"


def test_the_demonstration_has_the_settings_that_validation_chose() -> None:
    content = json.loads(FOUND.read_text(encoding="utf-8"))
    assert (content["data"], content["quick"]) == ("ml-latest-small", False)
    chosen = {one["model"]: one["best"] for one in content["models"]}
    assert {"popularity": {}} | chosen == demo.SETTINGS
