"""Runs killed with SIGKILL at random moments: they go on, end the same, and leave nothing behind.

The full form is ``python benchmarks/faults.py --runs 100``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.verify,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork, no SIGKILL"),
]


@pytest.mark.parametrize(
    ("design", "runs", "processes"),
    [("sampled:300", 10, 0), ("sampled:300", 1, 1), ("exact:10", 5, 1)],
)
def test_killed_and_started_again(root: Path, design: str, runs: int, processes: int) -> None:
    script = root / "benchmarks" / "faults.py"
    command = [sys.executable, str(script), "--runs", str(runs), "--processes", str(processes)]
    command += ["--design", design]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=3600)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["identical"] == runs
    assert found["kills"] >= runs
    assert found["litter"] == []
    assert done.returncode == 0
