"""What is typed wrong is told in one sentence, with what to type instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")

Run = Callable[..., Any]
FILE = "ranks.csv"
TYPED = {
    "estimte x": r"'estimte' is not a command .* Did you mean `estimate`\?",
    "xyz": r"'xyz' is not a command .*estimate, compare",
    FILE: rf"'{FILE}' is not a command.*`fullrank estimate {FILE}`",
    "--json estimate x": r"`--json` is not an option of fullrank\..*after the command",
    "--nope": r"`--nope` is not an option of fullrank\. `fullrank --help`",
    "estimate": r"`RANKS` must be given.*\[NAME=\]RANKS",
    "compare": r"`FILES` must be given",
    "train x": r"`--model` must be given.*--model MODEL",
    "estimate a b": r"'b' must be omitted.*`fullrank compare` takes several",
    "plan a.csv": r"'a\.csv' must be omitted.*`--pilot a\.csv`",
    "explain a.csv": r"'a\.csv' must be omitted.*`--ranks a\.csv`",
    "estimate x --sample-sise 3": r"`--sample-sise` .*`--sample-size`\?",
    "estimate x --sample_size 3": r".*`--sample-size`\?",
    "estimate x --metrics r": r".*`--metric`\?",
    "estimate x --confidence-level 1": r".*`--level`\?",
    "estimate x --n-resamples 1": r".*`--resamples`\?",
    "estimate x --Json": r".*`--json`\?",
    "estimate x --k 10": r".*`--metric ndcg@10`\?",
    "estimate x --rank-column r": r".*`--column rank=NAME`",
    "estimate x --user_col u": r".*`--column user=NAME`",
    "evaluate x --exclude seen": r".*Training items are excluded unless `--keep-seen` is given",
    "evaluate x --anchor a": r".*Anchors are trained unless `--no-anchor` is given",
    "estimate x --alpha 0.05": r".*For an alpha of 0\.05, write `--level 0\.95`",
    "evaluate x --gpu": r".*`--device cuda`\?",
    "evaluate x --sample-size 100": r".*`--design sampled:100`\?",
    "evaluate x --n-items 100": r".*`fullrank evaluate --help-all` lists",
    "estimate x --latex": r".*`--format latex`\?",
    "estimate x --bootstrap": r".*`--uncertainty bootstrap`\?",
    "compare x --bootstrap": r".*`--test bootstrap`\?",
    "estimate x --output y": r".*`--report`\?",
    "plan --designs x": r".*`--try`\?",
    "estimate x --plugin a.py": r".*Write it first, as in `fullrank --plugin FILE estimate`",
    "estimate x --version": r".*Write it first, as in `fullrank --version`",
    "--plugin": r"`--plugin` must be followed by a value, as in `--plugin FILE`",
    "version": r"'version' is not a command .* Did you mean `fullrank --version`\?",
    "help estimate": r"'help' is not a command .* Did you mean `fullrank --help`\?",
    "eval x": r"'eval' is not a command .* Did you mean `evaluate`\?",
    "plan a.csv b.csv": r".*Write `--pilot a\.csv --pilot b\.csv`",
    "estimate nope.csv --format csv": r"`--format` must be one of text, markdown, latex, not 'csv'",
    "estimate x --format json": r"`--format` must be .*, not 'json'\. For JSON, use `--json`\.",
    "estimate ranks.csv --json --format csv": r"`--format` must be one of .* not 'csv'",
    "explain --design sampled:100 --sample-size 50 --n-items 500": r"`--sample-size` must be omit",
    "explain --design sampled:100 --n-items 50": r"`--design` .*'sampled:100': .*`--n-items` = 50",
    "explain --sample-size 100 --n-items 50": r"`--sample-size` must be at most `--n-items` = 50",
    "estimate ranks.csv --design sampled:50": r"`--design` must not be 'sampled:50': .*= 10",
    "train simulated --model=ease:regularization=-1 --out=x.safetensors": (
        r"`--model` must not be 'ease:regularization=-1': regularization must be above 0"
    ),
    "explain --design sampled:100 --n-items -5": r"`--n-items` must be at least 1, not -5",
    "compare a --reference b": r".*`--baseline`\?",
    "report a --output b": r".*`--out`\?",
    "bounds x --report y": r"`--report` is not an option of fullrank bounds\. .*--help-all",
    "estimate x -m": r"`-m` must be followed by a value, as in `--metric NAME@K`",
    "estimate x --json=yes": r"`--json` must not have a value",
    "estimate x --seed many": r"`--seed` must be a whole number, not 'many'",
    "estimate x --seed -1": r"`--seed` must be at least 0, not -1",
    "estimate x --level high": r"`--level` must be a number, not 'high'",
    "estimate x --level 95%": r"`--level` .*'95%'\. Write 0\.95",
    "bounds x --until ten": r"`--until` must be a whole number",
    "evaluate x --model ease --users many": r"`--users` must be a whole number",
    "evaluate": r"`--model` or `--factors` must be given",
    "evaluate --model ease": r"`DATA` must be given, or `--train` and `--test`",
    "evaluate --train a --model ease": r"`--test` must be given with `--train`",
    "evaluate x --model ease --engine processes:0": r"`--engine` .*'processes:0': workers must be",
    "compare x --correction fdr": r"`FILES` must name a file; x",
    "plan --n-items 9 --users 9 --power 0.5": r"`--power` must not be given without `--difference`",
    "plan": r"`--n-items` or `--pilot` must be given",
    "explain": r"`--ranks` must be given, or `--design`.*and `--n-items`",
    "train x --model ease --out x.pkl": r"`--out` must end in \.safetensors.*'x\.pkl'",
    "datasets x": r"`NAME` must be one of",
    "estimate ranks.csv --ties mean": r"`--ties` must be one of 'random', 'best', 'worst'",
    "estimate ranks.csv --model zzz": r"`--model` must be one of the models in .*\('ranks'\)",
    "estimate ranks.csv -m recal@10": r"`--metric` .*'recal@10'\. Did you mean 'recall'\?",
    "estimate ranks.csv --method MLEE": r"`--method` .*'MLEE'\. Did you mean 'MLE'\?",
    "estimate ranks.csv --anchor nope": r"`--anchor` must name a file; nope",
    "estimate ranks.csv --report page.pdf": r"`--report` must end in \.html.*'page\.pdf'",
    "estimate ranks.csv --report no/page.html": r"`--report` must be in an existing folder; no ",
}


@pytest.mark.parametrize("words", TYPED)
def test_one_sentence_says_what_to_type(
    fullrank: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = (f"{user},{1 + user % 9},10,500\n" for user in range(40))
    Path(FILE).write_text("user,rank,sample_size,n_items\n" + "".join(lines))
    Path("page.pdf").write_bytes(b"a page that is not ours")
    done = fullrank(*words.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert re.match(TYPED[words], done.err), done.err
    assert done.err.endswith((".\n", "?\n"))


def test_a_bare_command_prints_its_page(fullrank: Run) -> None:
    done = fullrank()
    assert done.out.startswith("Usage: fullrank COMMAND")
    assert (done.code in (0, 2), done.err) == (True, "")


def test_help_is_found_anywhere(fullrank: Run) -> None:
    page = fullrank("estimate", "--help").out
    assert fullrank("-h").out == fullrank("--help").out
    assert fullrank("estimate", "x", "-h").out == page
    assert fullrank("estimate", "x", "--help-all").out != page
    assert fullrank("--plugin", "nope.py", "estimate", "--help").code == 2
