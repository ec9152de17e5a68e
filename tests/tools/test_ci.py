"""``.ci/run``: packages that cannot be had here cost their own tests, and no others."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

PYTHON = """#!/bin/sh
case "$*" in
  "-c import faiss"|"-c import lenskit") ;;
  "-c import "*) echo "ModuleNotFoundError: none" >&2; exit 1 ;;
  *pytest*) echo "$FULLRANK_REQUIRE_PACKAGES: $*" ;;
esac
"""


def beside(root: Path, folder: Path, *modules: str) -> list[str]:
    """What the function prints in a folder whose Python imports faiss and lenskit alone."""
    script = (root / ".ci" / "run").read_text("utf-8")
    functions = script[script.index("\nbeside() {") : script.index("\nframeworks() {")]
    for place in (".venv", ".venv-peers"):
        python = folder / place / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(PYTHON)
        python.chmod(0o755)
    for name in ("tests/integrations/peers.txt", "tests/integrations/test_lenskit.py",
                 "tests/integrations/test_cornac.py", "docs/guide/loop/faiss.md",
                 "docs/guide/loop/lenskit.md", "constraints.txt"):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    stubs = "install_beside() { :; }; outcome=passed"
    code = f'set -euo pipefail\n{functions}\n{stubs}; beside peers "$@"; echo "$outcome"'
    done = subprocess.run(
        ["bash", "-c", code, "run", *modules], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_what_cannot_be_imported_is_left_out_and_told(root: Path, tmp_path: Path) -> None:
    skipped, tests, pages, outcome = beside(root, tmp_path, "cornac", "faiss", "lenskit")
    assert skipped.startswith("cornac cannot be imported here")
    assert tests.startswith("faiss,lenskit: ")
    assert tests.endswith(" tests/integrations/test_lenskit.py")
    assert pages.endswith(" -k faiss or lenskit")
    assert outcome == "passed, some skipped"


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_pages_are_run_for_a_package_that_has_no_test_file(root: Path, tmp_path: Path) -> None:
    pages, outcome = beside(root, tmp_path, "faiss")
    assert pages.startswith("faiss: ")
    assert pages.endswith("tests/docs/test_loop_pages.py -k faiss")
    assert outcome == "passed"
