"""The page on scaling out, on a Ray cluster of this machine: the example gives the same numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "scale-out.md"


@pytest.mark.slow
@pytest.mark.ray
def test_the_example_runs_on_ray(
    need: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("ray")
    blocks = re.findall(r"^```python[^\n]*\n(.*?)^```$", PAGE.read_text("utf-8"), re.S | re.M)
    first, example = blocks[:2]
    assert 'Ray(address="auto")' in example
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(first.replace("engine=Processes(2), ", ""), names)
    alone = names["fr"].evaluate(names["models"], names["split"], report=False)
    exec(example.replace('Ray(address="auto")', "Ray(workers=2)"), names)
    assert names["found"].estimates["EASE"].to_dict() == alone.estimates["EASE"].to_dict()
    assert (tmp_path / "run" / "results.json").is_file()
