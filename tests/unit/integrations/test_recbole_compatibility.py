"""The changes to RecBole's modules, on a package of that name with modules like its own."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fullrank.integrations.recbole import compatible


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module with numpy, and a package that takes all names of it, as RecBole's do."""
    if any(name.partition(".")[0] == "recbole" for name in sys.modules):
        pytest.skip("RecBole itself is loaded")
    for name, text in {
        "__init__": "",
        "metrics": "import numpy as np\n",
        "face/__init__": "from recbole.metrics import *\n",
    }.items():
        file = tmp_path / "recbole" / f"{name}.py"
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [*sys.modules]:
        if name.partition(".")[0] == "recbole":
            del sys.modules[name]


def test_modules_that_take_all_names_of_others_get_theirs_back(package: None) -> None:
    with compatible():
        modules = [importlib.import_module(f"recbole.{name}") for name in ("face", "metrics")]
        assert [module.np.float_ for module in modules] == [np.float64] * 2
    assert [module.np for module in modules] == [np] * 2
    with compatible():
        assert [module.np.float_ for module in modules] == [np.float64] * 2
    assert [module.np for module in modules] == [np] * 2
