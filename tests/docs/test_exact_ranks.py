"""What is said of the speed of exact ranks is what was measured, missed goals included."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TRAINED = ("iALS, 64", "iALS, 128", "BPR, 64", "BPR, 128")


@pytest.fixture
def study(
    need: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Any]:
    """A result that a benchmark keeps."""
    monkeypatch.syspath_prepend(str(ROOT))
    found: Callable[[str], Any] = importlib.import_module("reproduction.tables").stored
    return found


def test_the_study_shows_every_ratio_beside_its_goal(
    need: Callable[[str], ModuleType],
    study: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in ("griffe", "latex2mathml", "typer"):
        need(module)
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_tools"))
    page = (ROOT / "docs" / "studies" / "exact.md").read_text("utf-8")
    shown = importlib.import_module("write_pages").rendered(page)
    pruned, networks, sparse = (study(one) for one in ("pruned", "up_to_k", "ranking_sparse"))
    ratios = [
        (pruned[model][kind]["over the product"], goal)
        for kind, goal in pruned["goals"].items()
        for model in (TRAINED if kind != "random" else ("random",))
    ]
    ratios += [
        (networks[data]["orders"][f"exact:{k}, default"][f"share of {what}"], goal)
        for k, goal in networks["goals"].items()
        for data in ("ml-1m", "pinterest-20-part")
        for what in ("pairs", "time")
    ]
    least = [
        (sparse[model][ratio], goal)
        for model, goals in sparse["goals"].items()
        for ratio, goal in goals.items()
    ]
    cells = re.findall(r"[\d.]+(?: \(missed\))?", shown)
    for spec, measured in ((".3f", ratios), (".2f", least)):
        for ratio, goal in measured:
            assert f"{ratio:{spec}}" + " (missed)" * (ratio > goal) in cells
    assert shown.count("(missed)") == sum(ratio > goal for ratio, goal in ratios + least)
