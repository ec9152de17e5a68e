"""Which Lightning the callback is made from, in processes of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

OLDER = "class Callback:\n    older = True\n"


@pytest.fixture(autouse=True)
def _torch(need: Callable[[str], ModuleType]) -> None:
    need("torch")


def run(code: str, folder: Path) -> str:
    """What code prints where no `lightning` is installed and `folder` may hold others."""
    hidden = f"import sys\nsys.modules['lightning'] = None\nsys.path.insert(0, {str(folder)!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", hidden + code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_the_older_package_serves_where_only_that_is(tmp_path: Path) -> None:
    (tmp_path / "pytorch_lightning.py").write_text(OLDER)
    code = "from fullrank.torch import RankCallback\nprint(RankCallback.older, RankCallback('rr'))"
    assert run(code, tmp_path) == "True RankCallback('rr')"


def test_without_either_a_sentence_says_what_to_install(tmp_path: Path) -> None:
    code = """
sys.modules["pytorch_lightning"] = None
import fullrank.torch
from fullrank.errors import MissingExtraError
fullrank.torch.counts, fullrank.torch.compute_metrics
try:
    fullrank.torch.RankCallback
except MissingExtraError as error:
    print(error)
"""
    assert "pip install lightning" in run(code, tmp_path)


def test_frameworks_are_imported_when_they_are_needed(tmp_path: Path) -> None:
    code = """
import fullrank.torch
fullrank.torch.counts, fullrank.torch.compute_metrics
heavy = ("lightning", "pytorch_lightning", "transformers", "torchmetrics", "triton")
print([name for name in heavy if sys.modules.get(name)])
"""
    assert run(code, tmp_path) == "[]"
