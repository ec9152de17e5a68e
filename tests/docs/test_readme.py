"""The README: its code runs and prints what is shown, its numbers are stored ones."""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import fullrank as fr
from reproduction.tables import stored
from tools import printed

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [block for block in printed.blocks(README) if block.code != "fullrank demo"]


@pytest.mark.slow
def test_what_is_shown_is_what_is_printed(need: Callable[[str], ModuleType]) -> None:
    """The demonstration has its own test, in tests/cli/test_demo.py."""
    need("typer")
    need("torch")
    assert [block.kind for block in BLOCKS] == ["console", "python", "python", "python"]
    names: dict[str, Any] = {}
    for block in BLOCKS:
        now = printed.printed(block, names, ROOT)
        assert printed.same(block.output, now), (
            f"README.md shows\n{block.output}\nand `{block.code}` prints\n{now}\n"
            "python tools/printed.py --update writes it there."
        )


def test_outputs_are_compared_by_words_and_numbers() -> None:
    assert printed.same("ease  0.1312 (SE 0.0173)\n", "ease 0.1313  (SE 0.0173)")
    assert not printed.same("ease 0.1312", "ease 0.1412")
    assert not printed.same("ease 0.1312", "ials 0.1312")
    assert not printed.same("ease 0.1312", "ease 0.1312 0.1")


@pytest.mark.slow
def test_the_file_of_ranks_is_that_of_the_model_below_it() -> None:
    split = fr.datasets.load("simulated").split("leave-one-out", rng=0)
    scorer = fr.models.EASE(regularization=200).fit(split.train).scorer()
    design = "sampled:100,pool=unseen"
    drawn = fr.sample_ranks(scorer, split.test, exclude=split.train, design=design, rng=0)
    columns = (drawn.rows.user, drawn.rows.rank, drawn.rows.n_items)
    lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    assert (ROOT / "examples" / "ranks.csv").read_text().splitlines() == [
        "user,rank,n_items", *lines
    ]  # fmt: skip
    assert f"(on average {drawn.rows.n_items.mean():,.0f} of {split.train.n_items:,})" in README


def test_speeds_are_those_of_the_benchmark() -> None:
    content = json.loads((ROOT / "benchmarks" / "results" / "frameworks.json").read_text("utf-8"))
    times = {
        (row["library"].split()[0], row["model"]): row["times as fast"]
        for row in content["models"]
        if "times as fast" in row
    }
    text = " ".join(README.split())
    assert f"on {len(times)} models trained with" in text
    assert all(library in text for library, _ in times)
    assert f"**{statistics.median(times.values()):.1f} times as fast** (median)" in text
    assert f"(from {min(times.values()):.1f} to {max(times.values()):.1f} times" in text
    large = {
        (row["library"].split()[0], row["model"]): seconds["its own evaluation, large batches"]
        / seconds["rank and metrics"]
        for row in content["models"]
        if "its own evaluation, large batches" in (seconds := row["seconds"])
    }
    assert {library for library, _ in large} == {"RecBole"}
    median = statistics.median((times | large).values())
    assert f"the median over all {len(times)} models is {median:.1f} times" in text


def test_errors_are_those_of_the_study() -> None:
    study = stored("hundred_sealed")
    kept, excluded = (one["mean"]["auto"][0] for one in study["errors"])
    coverage = study["intervals"]["mean"]["all"]["coverage"]
    text = " ".join(README.split())
    ranges = []
    for one in study["errors"]:
        errors = [cell["error"]["auto"] for cell in one["worst_first"]]
        ranges.append(f"{min(errors):.0f} to {max(errors):.0f} %")
    apart = f"({ranges[1]}, depending on the data set)"
    assert f"{excluded:.0f} % with training items excluded {apart}" in text
    assert f"{kept:.0f} % with them kept ({ranges[0]})" in text
    assert f"in {coverage:.0%} of the repeated draws".replace("%", " %") in text


def test_outcomes_are_those_of_the_reproduction() -> None:
    states = Counter(one["state"] for one in stored("reproduction_index")["items"])
    assert f"[{states.total()} tables and figures]" in README
    none = states["nothing to reproduce"] + states["not here"]
    assert (
        f"{states['reproduced']} reproduced, {states['in order']} reproduced in order but not in "
        f"value, {states['on other data']} tested only on other data, {states['not reproduced']} "
        f"not reproduced; for {none} there was nothing to reproduce, or no data"
    ) in README


def test_the_error_of_the_demonstration_is_in_its_tables() -> None:
    tables = (ROOT / "docs" / "demo.md").read_text("utf-8").split("<!-- demo -->")[1]
    (error,) = re.findall(r"off by (\d+) % on average over 100 draws", " ".join(README.split()))
    assert re.search(rf"^ +error +\d+ % +{error} % ", tables, re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_caption_is_that_of_the_table(page: str) -> None:
    (table,) = (block.output for block in printed.blocks(README) if block.code == "fullrank demo")
    rows = re.findall(r"^ \S+ +\*?(0\.\d+) +\*?(0\.\d+) +\*?0\.\d+ \.", table, re.MULTILINE)
    assert len(rows) == 5
    exact, among = ([float(value) for value in column] for column in zip(*rows, strict=True))
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert f"{min(among):.2f} to {max(among):.2f} among 100 candidates" in text
    assert f"{min(exact):.2f} to {max(exact):.2f} exact" in text


def test_numbers_about_the_demonstration_are_in_its_tables() -> None:
    before, tables, after = (ROOT / "docs" / "demo.md").read_text("utf-8").split("<!-- demo -->")
    named = re.findall(r"\b0\.\d{3}\b|\b\d+ %", before + after)
    assert {"0.824", "0.212", "0.223", "14 %", "513 %"} <= set(named)
    for one in named:
        assert one in tables, one


def test_the_exact_value_beside_the_estimate_is_the_one_below() -> None:
    computed = r"The exact value, which the next example computes, is (\d\.\d+)\."
    (named,) = re.findall(computed, " ".join(README.split()))
    assert re.search(rf"^recall@10 +{named}$", BLOCKS[1].output, flags=re.MULTILINE)


def test_it_stays_short() -> None:
    assert len(README.splitlines()) <= 180


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", README)
    local = [link for link in links if "://" not in link]
    assert local
    for link in local:
        assert (ROOT / link).exists(), link
