"""Every command, given files of which most are damaged and options of which most are right.

A command may print a result, or one printable sentence with exit code 2. Exit code 1 is for what
is not the caller's fault; on these inputs nothing else fails, so that it is a violation.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import random
import re
import shutil
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from harness import folder, target, written
from mutation import NAMES, NUMBERS, mutated

from fullrank import cli
from fullrank.errors import InputError
from fullrank.evaluation import evaluate

_RANKS = {
    "ranks.csv": b"user,model,rank\n1,a,1\n1,b,4\n2,a,2\n2,b,9\n3,a,1\n3,b,3\n",
    "week.csv": b"user,item,rank\n1,x,1\n2,y,4\n3,x,2\n",
    "plain.tsv": b"rank\tsample_size\n1\t10\n7\t10\n2\t10\n",
    "wide.csv": b"user,ease,pop\n1,1,3\n2,2,2\n3,5,1\n",
    "x.jsonl": b'{"user": 1, "rank": 3}\n{"user": 2, "rank": 1}\n',
}
_TRAIN = b"user,item\n1,a\n1,b\n2,a\n2,c\n3,b\n3,d\n4,a\n4,d\n"
_TEST = b"user,item\n1,c\n2,d\n3,a\n4,b\n"
_SAMPLE = [["--sample-size", "10"], ["--n-items", "50"]]
_SHARED = [
    ["--training-items", "excluded"], ["--design", "sampled:replacement=true"],
    ["--design", "exact"], ["--ties", "best"], ["--column", "rank=user"], ["--model", "a"],
    ["--leave-out", "user"], ["--encoding", "latin-1"], ["--metric", "ndcg@5"], ["-m", "mrr,auc"],
    ["--seed", "3"], ["--format", "latex"], ["--format", "markdown"], ["--json"],
]  # fmt: skip
_OF = {
    "estimate": [["--method", "em"], ["--interval-for", "users"], ["--level", "0.9"], ["--bounds"],
                 ["--joint"], ["--uncertainty", "bootstrap", "--resamples", "10"]],
    "compare": [["--unpaired"], ["--paired"], ["--test", "sign"], ["--correction", "bh"],
                ["--baseline", "a"], ["--level", "0.9"]],
    "bounds": [["--shape", "decreasing"], ["--until", "5"], ["--interval-for", "users"]],
    "explain": [["--level", "0.9"]],
    "report": [["--title", "T"], ["--level", "0.9"], ["--joint"]],
}  # fmt: skip
_ODD = ("", "-1", "0", "1e9", "nan", "50%", "exact:5", "adaptive:2", "recall@0", "@", "a=b", "=")


def _typed(words: list[str]) -> tuple[int, str, str]:
    """The exit code and both outputs of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["fullrank", *words]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = cli.main()
    return code, out.getvalue(), err.getvalue()


_PAGES = {"-h", "--help", "--help-all", "--version"}  # are printed instead of a result


def _checked(words: list[str]) -> str:
    """What a command printed, or an InputError with the sentence that it gave."""
    code, out, err = _typed(words)
    assert code in (0, 2), (code, words, err)
    assert "bug in fullrank" not in err, (words, err)
    assert "Traceback" not in err, (words, err)
    if code == 2:
        lines = [line for line in err.splitlines() if line and not line.startswith("Note: ")]
        assert len(lines) == 1, (words, err)
        raise InputError(lines[0])
    if "--json" in words and not _PAGES & {*words}:
        json.loads(out, parse_constant=_refused)
    return out


def _refused(constant: str) -> None:
    raise AssertionError(f"{constant} in JSON")


def _options(source: random.Random, known: list[list[str]]) -> list[str]:
    """A few of the known options; now and then one has another value."""
    chosen = [list(one) for one in source.sample(known, source.randrange(min(4, len(known))))]
    for one in chosen:
        if len(one) > 1 and source.random() < 0.15:
            one[-1] = source.choice((*_ODD, str(source.choice(NUMBERS)), source.choice(NAMES)))
            if one[0] == "--resamples" and one[-1].isdecimal():  # long work is no fault
                one[-1] = str(min(int(one[-1]), 200))
    return [word for one in chosen for word in one]


def _file(source: random.Random, name: str, content: bytes, rate: float = 0.5) -> str:
    changed = mutated(source, content) if source.random() < rate else content
    return str(written(name, changed))


def _of_ranks(command: str, source: random.Random) -> list[str]:
    names = source.sample(list(_RANKS), source.choice((1, 1, 2)) if command == "compare" else 1)
    words = [_file(source, name, _RANKS[name]) for name in names]
    sizes = [word for one in _SAMPLE if source.random() < 0.9 for word in one]
    return [command, *words, *sizes, *_options(source, _SHARED + _OF[command])]


@target("commands: estimate and compare", share=1)
def estimate_and_compare(source: random.Random) -> Any:
    return _checked(_of_ranks(source.choice(("estimate", "compare")), source))


@target("commands: bounds and explain", share=0.5)
def bounds_and_explain(source: random.Random) -> Any:
    command = source.choice(("bounds", "explain"))
    words = _of_ranks(command, source)
    if command == "explain":  # which takes ranks by an option, or none
        words = [command, *(["--ranks", words[1]] if source.random() < 0.5 else []), *words[2:]]
    return _checked(words)


@target("commands: report", share=0.1)
def report(source: random.Random) -> Any:
    page = folder() / "page.html"
    page.unlink(missing_ok=True)
    try:
        printed = _checked([*_of_ranks("report", source), "--out", str(page)])
    except InputError:
        assert not page.exists(), "a page was written by a command that failed"
        raise
    assert "nan" not in _numbers(page), "NaN in the page"
    return printed


def _numbers(page: Path) -> str:
    """What stands in the cells of a page's tables."""
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", page.read_text("utf-8"))
    return " ".join(one for one in cells if re.fullmatch(r"[\s\d.,–−%na]+", one))


@target("commands: plan", share=0.04)
def plan(source: random.Random) -> Any:
    words = ["plan", "--n-items", "2000", "--users", source.choice(("100", "5000"))]
    words += source.choice((["--margin", "5%"], ["--budget", "1e6"], ["--difference", "0.01"]))
    if source.random() < 0.3:
        words += ["--pilot", _file(source, "plain.tsv", _RANKS["plain.tsv"])]
    more = [["--shape", "0.3"], ["--try", "sampled:50"], ["--power", "0.8"], ["--level", "0.9"],
            ["--metric", "ndcg@5"], ["--interval-for", "users"], ["--json"]]  # fmt: skip
    return _checked([*words, *_options(source, more)])


@target("commands: evaluate and train", share=0.2)
def evaluate_and_train(source: random.Random) -> Any:
    train = _file(source, "train.csv", _TRAIN)
    model = source.choice(("popularity", "item-knn", "pure-svd:n_factors=2", "ease", *_ODD))
    shared = [["--column", "item=item"], ["--encoding", "utf-8"], ["-m", "recall@2"], ["--json"],
              ["--seed", "1"]]  # fmt: skip
    if source.random() < 0.3:
        kept = folder() / "model.safetensors"
        kept.unlink(missing_ok=True)
        words = ["train", train, "--model", model, "--out", str(kept)]
        return _checked([*words, *_options(source, shared)])
    words = ["evaluate", "--train", train, "--test", _file(source, "test.csv", _TEST)]
    more = [["--design", "sampled:3"], ["--design", "exact:2"], ["--keep-seen"], ["--users", "2"],
            ["--no-anchor"], ["--level", "0.9"], ["--shard-size", "2"],
            ["--method", "em"]]  # fmt: skip
    return _checked([*words, "--model", model, *_options(source, shared + more)])


@functools.cache
def _run() -> Path:
    """A run folder that commands read."""
    place = folder() / "commands-run"
    scores = {"a": np.arange(12.0).reshape(3, 4), "b": np.ones((3, 4)).cumsum(axis=1)}
    held_out = ([0, 1, 2], [1, 2, 3])
    evaluate(scores, held_out, design="sampled:3", exclude=None, out=place, report=False, rng=0)
    return place


@target("commands: damaged run folders", share=0.2)
def run_folders(source: random.Random) -> Any:
    place = folder() / "commands-changed"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(_run(), place)
    files = sorted(one for one in place.rglob("*") if one.suffix in (".json", ".parquet"))
    one = source.choice(files)
    one.write_bytes(mutated(source, one.read_bytes()))
    return _checked([source.choice(("estimate", "compare")), str(place), "-m", "recall@1"])


@target("commands: anything typed", share=1)
def anything_typed(source: random.Random) -> Any:
    """Words in any order: the parser, the help and the advice on what to type."""
    known = [word for some in (_SHARED, *_OF.values()) for one in some for word in one]
    first = source.choice((*_OF, "plan", "datasets", "evaluate", "--help", "--version", "demo"))
    some = [source.choice((*known, *_ODD, "--help", "--help-all", "-m", "--unknown", "--n_items"))
            for _ in range(source.randrange(5))]  # fmt: skip
    if first == "demo":
        some = [*some, "--unknown"]
    words = [_spoiled(source, word) for word in (first, *some)]
    if "demo" in words and "--unknown" not in words:  # it would take a minute
        words.append("--unknown")
    return _checked(words)


def _spoiled(source: random.Random, word: str) -> str:
    if source.random() < 0.1:
        return source.choice([one for one in NAMES if "\0" not in one])
    if word and source.random() < 0.1:
        at = source.randrange(len(word))
        return word[:at] + word[at + 1 :]
    return word
