"""The demonstration: what it prints is what the README shows, and the numbers are right."""

import json
import re
from pathlib import Path

import pytest

from fullrank import demo
from fullrank.cli import _app

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def result() -> demo.Demo:
    return demo.run()


@pytest.fixture(scope="module")
def printed(result: demo.Demo) -> str:
    pytest.importorskip("rich")
    from rich.console import Console

    from fullrank.cli.demo import show

    console = Console(width=100, color_system=None, highlight=False, soft_wrap=True)
    with console.capture() as capture:
        show(result, console)
    return capture.get()


def rows(text: str) -> list[list[str]]:
    """The words of every table row: each has a model, and numbers behind it."""
    lines = [line.replace("* ", "*").split() for line in text.splitlines()]
    return [line for line in lines if re.search(r"\*?\d\.\d{3}", " ".join(line))]


def test_readme_shows_what_is_printed(printed: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.split("<!-- demo -->")[1]
    assert len(rows(printed)) == 20
    assert rows(shown) == rows(printed)


def test_wrong_winner_on_paper(result: demo.Demo) -> None:
    ap = {row.model: row for row in result.example if row.metric == "ap"}
    assert max(ap, key=lambda name: ap[name].exact) == "C"
    assert max(ap, key=lambda name: ap[name].sampled) == "A"


def test_correction_comes_closer_than_the_naive_value(result: demo.Demo) -> None:
    assert not result.simulated
    for row in result.models:
        if row.metric == "auc":  # the one metric that sampling leaves alone
            continue
        assert row.corrected is not None
        assert row.adaptive is not None
        assert abs(row.corrected - row.exact) < 0.2 * abs(row.sampled - row.exact)
        assert abs(row.adaptive - row.exact) < 0.05 * abs(row.sampled - row.exact)


def test_json(result: demo.Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    testing = pytest.importorskip("typer.testing")
    monkeypatch.setattr(demo, "run", lambda seed: result)
    done = testing.CliRunner().invoke(_app.app, ["demo", "--json"])
    assert done.exit_code == 0
    content = json.loads(done.stdout)
    assert content["format"] == 1
    assert len(content["models"]) == len(result.models)


def test_bad_seed() -> None:
    with pytest.raises(demo.InputError, match=r"^`seed` must be at least 0, not -1\.$"):
        demo.run(seed=-1)
