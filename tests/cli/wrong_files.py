"""Wrong files and options: each is answered by one sentence that says what to type or to change.

``python -m tests.cli.wrong_files`` prints the table.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SIZES = ("--sample-size", "10", "--n-items", "50")


@dataclass(frozen=True)
class Wrong:
    """A file, what is typed, and what the answer must hold."""

    name: str  # of the file
    content: bytes
    words: tuple[str, ...]  # "FILE" stands for its path
    says: str  # a pattern: the option to type, or what to change


def _npy(array: np.ndarray) -> bytes:  # type: ignore[type-arg]
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def _estimate(name: str, content: str | bytes, says: str, *words: str, sizes: bool = True) -> Wrong:
    raw = content if isinstance(content, bytes) else content.encode()
    typed = ("estimate", "FILE", *(SIZES if sizes else ()), *words)
    return Wrong(name, raw, typed, says)


def _evaluate(name: str, content: str | bytes, says: str, *words: str) -> Wrong:
    raw = content if isinstance(content, bytes) else content.encode()
    return Wrong(name, raw, ("evaluate", "FILE", "--model", "popularity", *words), says)


USERS = "user,item,rating\na,1,5\na,2,3\nb,1,4\nb,3,2\n"
WRONG: dict[str, Wrong] = {
    "another name for the ranks": _estimate(
        "ranks.csv", "uid,r,method\nu0,3,pop\nu1,5,pop\n", r"`--column rank=r`"
    ),
    "a typing error in a name": _estimate(
        "ranks.csv", "user,rnak\na,3\nb,text\n", r"'user', 'rnak': .*`--column rank=rnak`"
    ),
    "a column that is not there": _estimate(
        "ranks.csv", "rank\n3\n", r"'rank', not 'Rank'. Is it 'rank'\?", "--column", "rank=Rank"
    ),
    "a role that there is not": _estimate(
        "ranks.csv", "rank\n3\n", r"`--column` must be one of 'user'.*'colour'",
        "--column", "colour=x",
    ),
    "a column without a name": _estimate(
        "ranks.csv", "rank\n3\n", r"`--column` must be written as", "--column", "rank"
    ),
    "no header": _estimate("ranks.csv", "u0,23,pop\nu1,5,pop\n", r"first line must name the col"),
    "no sizes": _estimate(
        "ranks.csv", "rank\n3\n", r"`--sample-size` and `--n-items` must be given", sizes=False
    ),
    "a size that is given twice": _estimate(
        "ranks.csv", "rank,n_items\n3,50\n", r"`--n-items` must not be given twice"
    ),
    "sizes exchanged": _estimate(
        "ranks.csv", "rank\n3\n", r"`--n-items`.*10.*50.*swap",
        "--sample-size", "50", "--n-items", "10", sizes=False,
    ),
    "ranks from 0": _estimate("ranks.csv", "rank\n3\n0\n", r"line 3 of .*: 0\. Ranks are 1-based"),
    "ranks from 0, blank lines": _estimate("ranks.csv", "rank\n3\n\n\n0\n", r"line 5 of "),
    "a rank beyond the sample": _estimate("ranks.csv", "rank\n11\n", r"line 2 of .*: 11"),
    "a missing rank": _estimate("ranks.csv", "rank,user\n1,a\n,b\n", r"missing.*line 3 of"),
    "a rank that is text": _estimate("ranks.csv", "rank\n3\nfirst\n", r"line 3 of .*'first'"),
    "decimal commas": _estimate("ranks.csv", "rank;x\n3,0;a\n4,0;b\n", r"'3,0'.*need a point"),
    "halves": _estimate("ranks.csv", "rank\n3\n1.5\n", r"whole numbers; line 3 of .* has 1\.5"),
    "a row without a model": _estimate(
        "ranks.csv", "model,rank\npop,3\n,4\n", r"column model must have no missing.*line 3"
    ),
    "several seeds without a column": _estimate(
        "ranks.csv", "user,rank\na,1\na,4\nb,2\n",
        r"user a has 2 rows.*`--column seed=NAME`.*`--leave-out user`",
    ),
    "a model that is not there": _estimate(
        "ranks.csv", "model,rank\npop,3\n", r"`--model` must be one of 'pop'", "--model", "svd"
    ),
    "wide columns that cannot all be ranks": _estimate(
        "wide.csv", "user,pop,svd,age\na,1,2,70\nb,3,4,80\n",
        r"`--column rank=pop`, .*one column per model by `--column rank=pop,svd`",
    ),
    "an empty file": _estimate("ranks.csv", "", r"`RANKS` must hold a table.*empty"),
    "a header and no rows": _estimate("ranks.csv", "rank\n", r"`RANKS` must hold at least one"),
    "a sheet": _estimate("ranks.xlsx", b"PK\x03\x04", r"Save the sheet as CSV"),
    "a run without qrels": _estimate(
        "run.trec", "q1 Q0 d1 1 0.5 x\n", r"`--truth` must be given for .*TREC"
    ),
    "a file that is not Parquet": _estimate("ranks.parquet", "rank\n3\n", r"be a Parquet file"),
    "a gzip file that is cut": _estimate(
        "ranks.csv.gz", gzip.compress(b"rank\n" + b"3\n1\n" * 999)[:-9], r"`RANKS` must be a CSV"
    ),
    "UTF-16": _estimate("ranks.csv", "rank\n3\n".encode("utf-16"), r"`--encoding`.*utf-16"),
    "an unknown encoding": _estimate(
        "ranks.csv", "rank\n3\n", r"`--encoding`.*'klingon'", "--encoding", "klingon"
    ),
    "JSON that is not a table": _estimate(
        "ranks.json", json.dumps([1, 2]), r"`RANKS`.*list of records with a field rank"
    ),
    "JSON Lines called JSON": _estimate(
        "ranks.json", '{"rank": 3}\n{"rank": 4}\n', r"call it \.jsonl"
    ),
    "an array in two dimensions": _estimate(
        "ranks.npy", _npy(np.ones((2, 2), int)), r"one-dimensional array of ranks.*\(2, 2\)"
    ),
    "a column twice": _estimate("ranks.csv", "rank,rank\n1,2\n", r"each column once.*'rank'"),
    "two characters between columns": _evaluate(
        "ratings.txt", "user::item\n1::2\n", r"'::'.*comma"
    ),
    "no user": _evaluate("plays.csv", "who,item\na,1\nb,2\n", r"`--column user=NAME`"),
    "a split column that says other things": _evaluate(
        "plays.csv", "user,item,mood\na,1,good\na,2,bad\n",
        r"`--column split=NAME` must name a column.*'bad'", "--column", "split=mood",
    ),
    "a given split where there is none": _evaluate(
        "plays.csv", USERS, r"`--split` must not be 'given'.*`--column split=NAME`",
        "--split", "given",
    ),
    "a test file alone": Wrong(
        "test.csv", USERS.encode(), ("evaluate", "--test", "FILE", "--model", "popularity"),
        r"`--train` must be given",
    ),
    "data and parts": _evaluate("plays.csv", USERS, r"`--train` must not be given", "--train", "x"),
    "a report that is no page": _estimate(
        "ranks.csv", "rank\n3\n", r"`--report` must end in \.html", "--report", "rep.pdf"
    ),
    "a level in per cent": _estimate(
        "ranks.csv", "rank\n3\n4\n", r"`--level`.*not 95", "--level", "95"
    ),
}  # fmt: skip


def typed(wrong: Wrong, folder: Path) -> list[str]:
    """Write the file and give the words of the command."""
    path = folder / wrong.name
    path.write_bytes(wrong.content)
    return [str(path) if word == "FILE" else word for word in wrong.words]


def main(run: Callable[[list[str]], tuple[int, str]]) -> None:
    """Print what is answered to each."""
    for name, wrong in WRONG.items():
        with tempfile.TemporaryDirectory() as folder:
            code, text = run(typed(wrong, Path(folder)))
            said = text.replace(folder + "/", "").strip()
            sys.stdout.write(f"{code}  {name:<40} {said}\n")


def _run(words: list[str]) -> tuple[int, str]:
    import contextlib

    from fullrank import cli

    out = io.StringIO()
    sys.argv = ["fullrank", *words]
    with contextlib.redirect_stderr(out), contextlib.redirect_stdout(out):
        code = cli.main()
    return code, out.getvalue()


if __name__ == "__main__":
    main(_run)
