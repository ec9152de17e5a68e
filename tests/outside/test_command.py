"""Plug-ins of the command: --plugin, FULLRANK_PLUGINS, worker processes, and what goes wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fullrank._lib.names import plugins
from fullrank.errors import InputError

FOLDER = Path(__file__).parent / "plugins"
ROOT = Path(__file__).parents[2]


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "fullrank", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": path, **environment},
        check=False,
        timeout=600,
    )


def plugged(*names: str) -> list[object]:
    return [part for name in names for part in ("--plugin", FOLDER / f"my_{name}.py")]


@pytest.mark.slow
def test_all_five_in_one_run_by_worker_processes(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    users, items = random.normal(size=(1000, 4)), random.normal(size=(3000, 4))
    np.savez(tmp_path / "factors.npz", users=users, items=items)
    every = plugged("design", "estimator", "metric", "model", "scorer")
    done = run(
        *every, "evaluate", "simulated", "--model", "mine=cooccurrence:discount=0.3",
        "--model", f"there=exported:path={tmp_path / 'factors.npz'}", "--metric", "rbp@20",
        "--design", "two_stage:30,second=200", "--method", "short_em", "--engine", "processes:2",
        "--users", 300, "--shard-size", 100, "--out", tmp_path / "run", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["model"] for one in found["models"]] == ["mine", "there"]
    assert {one["method"] for one in found["models"]} == {"short_em"}
    assert {one["uncertainty"] for one in found["models"]} == {"bootstrap"}

    for command in (
        ("estimate", tmp_path / "run", "--method", "short_em", "--resamples", 50),
        ("compare", tmp_path / "run", "--method", "short_em"),
    ):
        done = run(*every, *command, "--metric", "rbp@20", "--json")
        assert done.returncode == 0, done.stderr
        assert "rbp@20" in done.stdout


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("design", ("--model", "popularity", "--design", "two_stage:20,second=100")),
        ("estimator", ("--model", "popularity", "--design", "sampled:50", "--method", "short_em")),
        ("metric", ("--model", "popularity", "--metric", "rbp")),
        ("model", ("--model", "cooccurrence")),
    ],
)
def test_each_alone_by_the_environment(name: str, command: tuple[str, ...]) -> None:
    done = run(
        "evaluate", "simulated", *command, "--users", 100, FULLRANK_PLUGINS=f"{FOLDER}/my_{name}.py"
    )
    assert done.returncode == 0, done.stderr
    refused = run("evaluate", "simulated", *command, "--users", 100)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--design", "two_stage:5,second=4"), "`--design` must not be 'two_stage:5,second=4': "),
        (("--design", "two_stage:x"), "`--design` must not be 'two_stage:x': "),
        (("--design", "sampled:ties=no"), "`--design` must not be 'sampled:ties=no': ties must "),
        (("--design", "three_stage"), "`--design` must be one of "),
        (("--users", "9999"), "`--users` must be at most "),
    ],
)
def test_errors_name_options_where_a_plug_in_comes_first(words: tuple[str, ...], said: str) -> None:
    done = run(*plugged("design"), "evaluate", "simulated", "--model", "popularity", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        (
            "def fit(self, interactions):\n        return [][3]\n    def scorer(self):\n"
            "        raise errors.NotFittedError()",
            ("--model", "crash"),
            "my_crash.py failed on line 5 with IndexError: list index out of range.\n",
        ),
        (
            "def fit(self, interactions):\n        return self\n    def scorer(self):\n"
            "        import numpy\n        return numpy.ones(3) @ numpy.ones(4)",
            ("--model", "crash"),
            "my_crash.py failed on line 8 with ValueError: ",
        ),
    ],
)
def test_a_bug_of_a_plug_in_is_not_called_one_of_fullrank(
    text: str, words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    source = f"from fullrank import errors, models\n\nclass Crash:\n    {text}\n"
    (tmp_path / "my_crash.py").write_text(source + "\nmodels.register('crash', Crash)\n")
    done = run("--plugin", tmp_path / "my_crash.py", "evaluate", "simulated", *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert "bug in fullrank" not in done.stderr


def test_plan_with_a_design_and_a_metric_from_outside() -> None:
    done = run(
        *plugged("design", "metric"), "plan", "--metric", "rbp@20", "--n-items", 5000,
        "--users", 5000, "--shape", 0.3, "--margin", "20%", "--try", "two_stage:30",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "two_stage:30" in done.stdout


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("broken.py", "import fullrank\n\nx = 1 / 0\n", r"broken\.py.*line 3.*division by zero"),
        ("wrong.py", "def f(:\n", r"wrong\.py.*line 1.*SyntaxError"),
        ("stops.py", "raise SystemExit(3)\n", r"stops\.py.*line 1.*SystemExit"),
        ("missing.py", None, r"missing\.py does not"),
        ("notes.txt", "", r"notes\.txt"),
        ("random.py", "", r"random.*Rename"),
        ("two-words.py", "", r"two-words\.py"),
        ("taken.py", "from fullrank import metrics\nmetrics.register('ndcg', abs)\n", "ndcg"),
    ],
)
@pytest.mark.usefixtures("clean")
def test_what_is_no_plug_in_is_told_in_a_sentence(
    file: str, text: str | None, said: str, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / file).write_text(text)
    with pytest.raises(InputError, match=rf"^`plugin` must.*{said}"):
        plugins.load([tmp_path / file])


def test_the_command_tells_the_option() -> None:
    done = run("--plugin", "nowhere.py", "datasets")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("`--plugin` must be an existing file")


def test_a_run_whose_metric_is_registered_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = ("evaluate", "simulated", "--model", "popularity", "--out", folder, "--no-report")
    done = run(*plugged("metric"), *words, "--metric", "rbp@20", "--metric", "ndcg@10")
    assert done.returncode == 0, done.stderr
    for command in (("compare", folder), ("report", folder, "--out", tmp_path / "x.html")):
        done = run(*command)
        assert (done.returncode, done.stdout) == (2, "")
        assert re.fullmatch(r"`FILES` must .*'rbp@20' .* --plugin FILE ….\n", done.stderr)
    done = run(*plugged("metric"), *words, "--metric", "rbp@20")
    assert done.returncode == 2
    assert f"`fullrank estimate {folder} -m NAME@K`" in done.stderr
