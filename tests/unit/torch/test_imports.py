"""What `import fullrank.torch` loads, and what it says where torch is missing."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("lightning", "numba", "pytorch_lightning", "torchmetrics", "transformers", "triton")


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_frameworks_are_imported_when_they_are_used(need):
    need("torch")
    code = f"""
import json, sys
import torch
before = set(sys.modules)
import fullrank.torch
print(json.dumps([name for name in {HEAVY} if name in set(sys.modules) - before]))
"""
    assert json.loads(run(code)) == []


def test_without_torch_it_says_what_to_install():
    code = """
import sys
sys.modules["torch"] = None
try:
    import fullrank.torch
except ImportError as error:
    print(type(error).__name__, error)
"""
    assert 'MissingExtraError `fullrank.torch` needs torch: pip install "fullrank[torch]"' in run(
        code
    )


def test_an_unknown_name_is_an_attribute_error(need):
    need("torch")
    import fullrank.torch

    with pytest.raises(AttributeError, match=r"module 'fullrank\.torch' has no attribute 'cuonts'"):
        fullrank.torch.cuonts  # noqa: B018
    assert {"RankMetric", "counts"} <= set(dir(fullrank.torch))


def test_a_star_at_the_top_does_not_bind_torch():
    assert run("from fullrank import *; print('torch' in dir())").strip() == "False"
