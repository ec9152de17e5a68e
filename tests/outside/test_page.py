"""The page "Add your own" shows the very files that are tested here."""

from __future__ import annotations

from pathlib import Path

import pytest

PLUGINS = sorted((Path(__file__).parent / "plugins").glob("*.py"))
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "add-your-own.md"


@pytest.mark.parametrize("file", PLUGINS, ids=lambda file: file.name)
def test_a_recipe_is_the_plug_in(file: Path) -> None:
    recipe = f"```python run file={file.name}\n{file.read_text('utf-8')}```"
    assert recipe in PAGE.read_text("utf-8")


def test_there_are_five() -> None:
    assert len(PLUGINS) == 5
