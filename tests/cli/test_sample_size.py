"""`--sample-size 1000` for ranks among 100: every command that reads ranks asks about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.samples import simulate

N = 18_000
SAYS = "No rank exceeds 100 among 1,000 candidates: check the sample size."


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    share = np.random.default_rng(0).random(6000)
    found = []
    for name, power in (("a", 2.5), ("b", 2.0)):
        true = np.ceil(N * share**power).astype(int).clip(1)
        rows = simulate(true, n_items=N, design="sampled:100,replacement=true", rng=0).rows
        assert rows is not None
        found.append(tmp_path / f"{name}.csv")
        found[-1].write_text("rank\n" + "\n".join(map(str, rows.rank)) + "\n")
    return found


@pytest.mark.parametrize("command", ["estimate", "bounds", "explain", "plan", "compare"])
def test_every_command_asks(fullrank: Any, files: list[Path], command: str) -> None:
    given: dict[str, list[Any]] = {
        "estimate": [files[0]],
        "bounds": [files[0]],
        "explain": ["--ranks", files[0]],
        "plan": ["--pilot", files[0], "--margin", "20%", "--try", "exact"],
        "compare": files,
    }
    words = (
        *given[command],
        "--n-items",
        N,
        "-m",
        "recall@10",
        "--design",
        "sampled:replacement=true",
    )
    wrong = fullrank(command, *words, "--sample-size", 1000)
    assert wrong.code == 0, wrong.err
    assert wrong.out.count(SAYS) == 1
    right = fullrank(command, *words, "--sample-size", 100)
    assert "check the sample size" not in right.out
    assert SAYS in fullrank(command, *words, "--sample-size", 1000, "--json").out
