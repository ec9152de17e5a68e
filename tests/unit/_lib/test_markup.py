"""Tables as Markdown, LaTeX and HTML, fit for a paper."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fullrank import compare, estimate
from fullrank._lib.results.markup import Best, html, latex, markdown
from fullrank.inference import Estimates
from fullrank.samples import ExactRanks, simulate

HEAD = ["model", "recall@10", "95 % CI", "difference", "p"]
ROWS = [
    ["a_b", Best("0.2191†"), "[0.1830, 0.2574]", "+0.0012", "0.021"],
    ["[x<y] & co", "0.1960 ▲", "[-0.0100, 0.2300]", "-0.0031", "< 0.001"],
]


def test_latex() -> None:
    assert latex(HEAD, ROWS).splitlines() == [
        r"\begin{tabular}{lrrrr}",
        r"\toprule",
        r"model & recall@10 & 95\,\% CI & difference & p \\",
        r"\midrule",
        r"a\_b & \textbf{0.2191}\rlap{$^{\dagger}$} & [0.1830, 0.2574] & $+0.0012$ & 0.021 \\",
        r"{}[x$<$y] \& co & 0.1960\rlap{$^{\triangle}$} & [$-0.0100$, 0.2300] & $-0.0031$ "
        r"& $<0.001$ \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_a_caption_makes_it_a_table() -> None:
    lines = latex(HEAD, ROWS, "At 95 % († better).", "tab:one").splitlines()
    assert lines[:4] == [
        r"\begin{table}",
        r"\centering",
        r"\caption{At 95\,\% ($^{\dagger}$ better).}",
        r"\label{tab:one}",
    ]
    assert lines[-1] == r"\end{table}"
    assert not any("label" in line for line in latex(HEAD, ROWS, "At 95 %.").splitlines())


def test_markdown() -> None:
    assert markdown(HEAD, ROWS, "A_B *c*.").splitlines() == [
        "| model | recall@10 | 95 % CI | difference | p |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| a_b | **0.2191†** | [0.1830, 0.2574] | +0.0012 | 0.021 |",
        r"| [x\<y] & co | 0.1960 ▲ | [−0.0100, 0.2300] | −0.0031 | \< 0.001 |",
        "",
        r"Table: A_B \*c\*.",
    ]


def test_html() -> None:
    shown = html("a<b", HEAD, ROWS)
    assert "<caption>a&lt;b</caption>" in shown
    assert "<td><b>0.2191†</b></td>" in shown
    assert "<td>[x&lt;y] &amp; co</td>" in shown


def test_a_hyphen_is_no_minus() -> None:
    assert markdown(["a"], [["item-2"], ["2-1"], ["-2"]]).splitlines()[2:] == [
        "| item-2 |", "| 2-1 |", "| −2 |"]  # fmt: skip
    assert r"item-2 \\" in latex(["a"], [["item-2"]])
    assert r"$-1{,}234.5$ \\" in latex(["a"], [["-1,234.5"]])


def _results() -> dict[str, object]:
    users = np.arange(400)
    ranks = {name: 1 + users * step % 900 for name, step in (("a<b_1", 7), ("[b]", 11), ("c", 13))}
    ranks["far ahead"] = 1 + users % 9
    exact = {
        name: ExactRanks.from_ranks(one, n_items=900, user=users) for name, one in ranks.items()
    }
    samples = {
        name: simulate(one, n_items=900, design="sampled:50", rng=0) for name, one in ranks.items()
    }
    return {
        "one": estimate(samples["c"], "recall@10"),
        "several": estimate(samples, "recall@10, mrr@10").with_bounds(),
        "exact": estimate(exact, "recall@10, mrr@10"),
        "compared": compare(exact, "recall@10, mrr@10"),
        "baseline": compare(exact, "recall@10", baseline="c"),
    }


@pytest.fixture(scope="module")
def results() -> dict[str, object]:
    return _results()


def test_models_are_rows_and_the_highest_value_is_bold(results: dict[str, object]) -> None:
    lines = results["exact"].to_latex().splitlines()  # type: ignore[attr-defined]
    assert r"model & recall@10 & 95\,\% CI & mrr@10 & 95\,\% CI \\" in lines
    rows = [line for line in lines if line.endswith(r"\\") and "&" in line][1:]
    assert len(rows) == 4
    assert [row.count(r"\textbf") for row in rows] == [0, 0, 0, 2]
    decimals = [re.findall(r"\.(\d+)", row) for row in rows]
    assert len({tuple(map(len, one)) for one in decimals}) == 1


def test_the_best_is_marked_where_it_is_significantly_better(results: dict[str, object]) -> None:
    shown = results["compared"].to_latex()  # type: ignore[attr-defined]
    (row,) = (line for line in shown.splitlines() if line.startswith("far ahead &"))
    assert row.count(r"\rlap{$^{\dagger}$}") == 2
    assert shown.count(r"\rlap{$^{\dagger}$}") == 2
    assert r"$^{\dagger}$ significantly better than every other model (paired" in shown
    assert "than c (paired" in results["baseline"].to_markdown()  # type: ignore[attr-defined]


def test_latex_compiles(results: dict[str, object], tmp_path: Path) -> None:
    """In a plain article with no package but booktabs, without a box that is too wide."""
    command = shutil.which("pdflatex")
    if command is None:
        pytest.skip("pdflatex is not installed")
    tables = [latex(["a"], [[name] for name in NAMES])]
    tables += [one.to_latex(label="tab:x") for one in results.values()]  # type: ignore[attr-defined]
    page = [r"\documentclass{article}", r"\usepackage{booktabs}", r"\begin{document}",
            *tables, latex(HEAD, ROWS), r"\end{document}"]  # fmt: skip
    (tmp_path / "page.tex").write_text("\n\n".join(page), encoding="utf-8")
    run = subprocess.run(
        [command, "-interaction=nonstopmode", "-halt-on-error", "page.tex"],
        cwd=tmp_path, capture_output=True, text=True, errors="replace",
    )  # fmt: skip
    assert run.returncode == 0, run.stdout
    assert "Missing character" not in run.stdout
    assert "Overfull" not in run.stdout


NAMES = [
    "new\nline",
    " [lead",
    "a--b",
    "α → Ω, ß ½",
    "&lt;i&gt;",
    "[x](y)",
    "~~s~~ $5$",
    "\u202eturned",
]


def test_a_name_stays_in_its_cell() -> None:
    shown = markdown(["a", "b"], [[name, "1"] for name in NAMES]).splitlines()[2:]
    assert shown == [
        r"| new\\nline | 1 |", "|  [lead | 1 |", "| a--b | 1 |", "| α → Ω, ß ½ | 1 |",
        r"| \&lt;i\&gt; | 1 |", r"| [x\](y) | 1 |", r"| \~\~s\~\~ \$5\$ | 1 |",
        r"| \\u202eturned | 1 |",
    ]  # fmt: skip
    rows = latex(["a", "b"], [[name, "1"] for name in NAMES]).splitlines()[4:-2]
    assert rows[:4] == [
        r"new\textbackslash{}nline & 1 \\",
        r"{} [lead & 1 \\",
        r"a-{}-b & 1 \\",
        r"$\alpha$ $\to$ $\Omega$, ß ½ & 1 \\",
    ]


def test_models_with_other_columns_are_in_one_table(results: dict[str, object]) -> None:
    exact, sampled = results["exact"], results["several"]
    mixed = Estimates.of(
        {"exact": exact["c"], "sampled": sampled["c"],  # type: ignore[index]
         "none": replace(exact["c"], confidence_level=0.9)}  # type: ignore[index]
    )  # fmt: skip
    head, _, *rows = mixed.to_markdown().splitlines()[:5]
    assert head.split(" | ")[1:4] == ["recall@10", "CI", "bounds"]
    assert rows[0].split(" | ")[3] == "–"
    assert "CI: confidence interval for the population of users at 95 % or 90 %" in str(
        mixed.to_markdown()
    )
    assert mixed.to_latex().count(r"\\") == 4


def test_a_caption_says_why_exact_values_are_marked() -> None:
    few = ExactRanks.from_ranks(np.full(400, 700), n_items=900, user=np.arange(400))
    shown = estimate({"a": few, "b": few}, "recall@10").to_markdown()
    assert "▲ marks values with a warning. Fewer than 10 targets are in the" in shown
    assert "more than the sample shows" not in shown


def test_underscores_at_the_ends_of_names_are_no_emphasis() -> None:
    shown = markdown(["model"], [["__init__"], ["a_b"]])
    assert r"| \_\_init\_\_ |" in shown
    assert "| a_b |" in shown
