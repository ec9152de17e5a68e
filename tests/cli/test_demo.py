"""The demonstration: what it prints is what README and docs/demo.md show, and it is right."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from fullrank.cli import app, demonstration
from fullrank.engines import Processes
from tools import printed as readme

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ROWS = 12 + 10 + 2 * (1 + 10 + 2)  # with numbers, in all tables


@pytest.fixture(scope="module")
def few() -> demonstration.Demo:
    return demonstration.run(n_draws=3)


@pytest.fixture(scope="module")
def result() -> demonstration.Demo:
    """As docs/demo.md has it: with all the draws."""
    return demonstration.run(engine=Processes())


@pytest.fixture(scope="module")
def brief() -> demonstration.Demo:
    return demonstration.run(brief=True)


def text_of(result: demonstration.Demo, name: str = "show_all") -> str:
    """What is printed on a console of 80 columns."""
    pytest.importorskip("rich")
    from rich.console import Console

    from fullrank.cli import demo_tables

    console = Console(width=80, color_system=None, highlight=False)
    with console.capture() as capture:
        getattr(demo_tables, name)(result, console)
    return capture.get()


def words(text: str) -> list[str]:
    return text.split()


def rows(text: str) -> list[list[str]]:
    """The words of every table row: a name, and numbers behind it."""
    lines = [line.split() for line in text.splitlines() if line.startswith(" ")]
    return [line for line in lines if re.search(r"\d\.\d{3}|\d %$", " ".join(line))]


@pytest.mark.verify
def test_the_page_shows_what_is_printed(result: demonstration.Demo) -> None:
    page = (ROOT / "docs" / "demo.md").read_text(encoding="utf-8")
    shown = page.split("<!-- demo -->")[1]
    printed = text_of(result)
    assert len(rows(printed)) == ROWS
    assert rows(shown) == rows(printed)
    assert words(shown) == words(f"```text{printed}```")


def test_readme_shows_the_short_form(brief: demonstration.Demo) -> None:
    blocks = readme.blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    (shown,) = (block.output for block in blocks if block.code == "fullrank demo")
    table, _, rest = shown.partition("\nReport: report.html\n")
    assert words(table) == words(text_of(brief, "show"))
    assert "fullrank demo --all" in rest


def test_the_short_form_has_the_numbers_of_the_long_one(
    brief: demonstration.Demo, few: demonstration.Demo
) -> None:
    assert brief.draws == ()
    assert brief.models == tuple(replace(row, allowed=None) for row in few.models)
    short, long = (rows(text_of(one, name)) for one, name in ((brief, "show"), (few, "show_all")))
    recall = long[12 : 12 + len(demonstration.SETTINGS)]
    assert short == [line[:-1] for line in recall]  # without the bounds


def test_the_short_form_says_that_the_order_is_not_settled(brief: demonstration.Demo) -> None:
    text = " ".join(words(text_of(brief, "show")))
    assert "The intervals of item-knn, pure-svd, ease and ials overlap" in text


@pytest.mark.parametrize("name", ["show", "show_all"])
def test_nothing_is_cut_off_at_eighty_columns(few: demonstration.Demo, name: str) -> None:
    printed = text_of(few, name)
    assert len(rows(printed)) == {"show": len(demonstration.SETTINGS), "show_all": ROWS}[name]
    tables = [line for line in printed.splitlines() if line.startswith(" ")]
    assert max(map(len, tables)) <= 80
    assert not any("…" in line for line in tables)


def test_wrong_winner_on_paper(few: demonstration.Demo) -> None:
    ap = {row.model: row for row in few.example if row.metric == "ap"}
    assert max(ap, key=lambda name: ap[name].exact) == "C"
    assert max(ap, key=lambda name: ap[name].naive) == "A"


def test_correction_comes_closer_than_the_naive_value(few: demonstration.Demo) -> None:
    assert not few.simulated
    for row in few.models:
        assert row.corrected is not None
        assert row.adaptive is not None
        assert abs(row.corrected - row.exact) < 0.2 * abs(row.naive - row.exact)
        assert abs(row.adaptive - row.exact) < 0.05 * abs(row.naive - row.exact)


def test_bounds_hold_the_exact_values(few: demonstration.Demo) -> None:
    for row in few.models:
        assert row.allowed is not None
        assert row.allowed.low <= row.exact <= row.allowed.high


def test_what_is_counted_over_the_draws(few: demonstration.Demo) -> None:
    """Against the same draws made one by one."""
    names = list(demonstration.SETTINGS)
    split = demonstration.load_interactions()[1].split("leave-one-out", by="random", rng=0)
    bench = {name: demonstration.Bench(name, split) for name in names}
    values = np.array(
        [[bench[name].fixed(seed).naive("ndcg@10") for name in names] for seed in range(3)]
    )
    judged = few.draws[demonstration.METRICS.index("ndcg@10")]
    exact = {row.model: row.exact for row in few.models if row.metric == "ndcg@10"}
    assert judged.best == max(exact, key=exact.__getitem__)
    hits = [names[int(np.argmax(one))] == judged.best for one in values]
    assert judged.winner["naive"] == pytest.approx(np.mean(hits))
    for (better, worse), shares in judged.pairs.items():
        assert exact[better] >= exact[worse]
        a, b = names.index(better), names.index(worse)
        assert shares["naive"] == pytest.approx(np.mean(values[:, a] > values[:, b]))
    assert len(judged.pairs) == len(list(combinations(names, 2)))
    true = np.array([exact[name] for name in names])
    assert judged.error["naive"] == pytest.approx(np.mean(np.abs(values - true) / true))


@pytest.mark.verify
def test_the_rows_are_the_same_whatever_the_number_of_draws(
    few: demonstration.Demo, result: demonstration.Demo
) -> None:
    assert few.models == result.models


def test_json(few: demonstration.Demo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    testing = pytest.importorskip("typer.testing")
    monkeypatch.setattr(demonstration, "run", lambda **_: few)
    report = tmp_path / "report.html"
    done = testing.CliRunner().invoke(app.app, ["demo", "--json", "--report", str(report)])
    assert done.exit_code == 0
    content = json.loads(done.stdout)
    assert content["format"] == 1
    assert len(content["models"]) == len(few.models)
    assert content["draws"][0]["winner"].keys() == set(demonstration.APPROACHES)
    assert report.read_text(encoding="utf-8").startswith("<!")


def test_the_command_prints_the_table_draws_it_and_says_what_is_next(
    brief: demonstration.Demo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    testing = pytest.importorskip("typer.testing")
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(demonstration, "run", lambda **_: brief)
    monkeypatch.chdir(tmp_path)
    done = testing.CliRunner().invoke(app.app, ["demo", "--figure", "demo.png"])
    assert done.exit_code == 0, done.output
    assert done.stdout.split("\n\nReport: ")[1].splitlines()[:2] == [
        "report.html",
        "Figure: demo.png",
    ]
    assert "fullrank estimate ranks.csv --sample-size 100 --n-items 9066" in done.stdout
    assert Path("demo.png").read_bytes().startswith(b"\x89PNG")


def test_a_figure_of_another_kind_is_refused_before_anything_is_trained() -> None:
    testing = pytest.importorskip("typer.testing")
    done = testing.CliRunner().invoke(app.app, ["demo", "--figure", "demo.docx"])
    assert isinstance(done.exception, demonstration.InputError)
    assert "`--figure`" in str(done.exception)
    assert "demo.docx" in str(done.exception)


def test_bad_seed() -> None:
    with pytest.raises(demonstration.InputError, match=r"`seed`.*-1\b"):
        demonstration.run(seed=-1)
