"""The example of training and evaluating runs as a user runs it, and says what it should."""

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "examples" / "02_train_and_evaluate.py"


def test_it_trains_evaluates_and_keeps_a_model() -> None:
    run = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, encoding="utf-8")
    assert run.returncode == 0, run.stderr
    named = dict(
        re.findall(r"^(\S+?):? (?:recall@10 )?(0\.\d{4})$", run.stdout, flags=re.MULTILINE)
    )
    assert list(named) == ["recall@10", "ndcg@10", "auc", "Popularity", "ItemKNN", "PureSVD"]
    recall = {name: float(value) for name, value in named.items()}
    assert recall["recall@10"] > recall["Popularity"]
    assert recall["ItemKNN"] > recall["Popularity"]
    assert recall["auc"] > 0.5
    assert re.search(r"a user with \[10 20 30\] may like \[ *\d+( +\d+){4}\]\n$", run.stdout)


def test_five_lines_are_enough() -> None:
    """From the data to the printed metrics."""
    lines = SCRIPT.read_text(encoding="utf-8").splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("split = "))
    last = next(at for at, line in enumerate(lines) if "print(" in line)
    assert last - first + 1 == 5
