"""Wrong files and options: each is answered by one sentence that says what to type or to change.

``python -m tests.cli.wrong_files`` prints the table.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SIZES = ("--sample-size", "10", "--n-items", "50")


@dataclass(frozen=True)
class Wrong:
    """A file, what is typed, and what the answer must hold."""

    name: str  # of the file
    content: bytes
    words: tuple[str, ...]  # "FILE" stands for its path, and so do the names of files beside it
    says: str  # a pattern: the option to type, or what to change
    beside: Mapping[str, bytes] = field(default_factory=dict)


def _npy(array: np.ndarray) -> bytes:  # type: ignore[type-arg]
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def _estimate(name: str, content: str | bytes, says: str, *words: str, sizes: bool = True) -> Wrong:
    raw = content if isinstance(content, bytes) else content.encode()
    typed = ("estimate", "FILE", *(SIZES if sizes else ()), *words)
    return Wrong(name, raw, typed, says)


def _scored(content: str, says: str, *words: str) -> Wrong:
    return Wrong("scores.csv", content.encode(), ("estimate", "FILE", *words), says)


def _parts(train: str, test: str, says: str, *words: str) -> Wrong:
    typed_ = ("evaluate", "--train", "FILE", "--test", "test.csv", "--model", "popularity", *words)
    return Wrong("train.csv", train.encode(), typed_, says, {"test.csv": test.encode()})


def _compare(name: str, first: bytes, other: str, second: bytes, says: str, *words: str) -> Wrong:
    return Wrong(name, first, ("compare", "FILE", other, *SIZES, *words), says, {other: second})


def _parquet(**columns: list[object]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


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
        "ranks.csv", "rank\n3\n", r"\('rank'\), not 'Rank'. Did you mean 'rank'\?",
        "--column", "rank=Rank",
    ),
    "a role that there is not": _estimate(
        "ranks.csv", "rank\n3\n", r"`--column` must name one of the roles 'user'.*'colour'",
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
        "ranks.csv", "rank,n_items\n3,50\n",
        r"`--n-items` must be omitted: .* has a column for it, 'n_items'",
    ),
    "sizes exchanged": _estimate(
        "ranks.csv", "rank\n3\n", r"`--n-items`.*10.*50.*swap",
        "--sample-size", "50", "--n-items", "10", sizes=False,
    ),
    "ranks from 0": _estimate("ranks.csv", "rank\n3\n0\n", r"line 3 of .* has 0\. Ranks are 1-"),
    "ranks from 0, blank lines": _estimate("ranks.csv", "rank\n3\n\n\n0\n", r"line 5 of "),
    "a rank beyond the sample": _estimate("ranks.csv", "rank\n11\n", r"line 2 of .* has 11"),
    "a missing rank": _estimate("ranks.csv", "rank,user\n1,a\n,b\n", r"missing.*line 3 of"),
    "a rank that is text": _estimate("ranks.csv", "rank\n3\nfirst\n", r"line 3 of .*'first'"),
    "decimal commas": _estimate("ranks.csv", "rank;x\n3,0;a\n4,0;b\n", r"'3,0'.*with a point"),
    "halves": _estimate("ranks.csv", "rank\n3\n1.5\n", r"whole numbers; line 3 of .* has 1\.5"),
    "a row without a model": _estimate(
        "ranks.csv", "model,rank\npop,3\n,4\n", r"'model' column must have no missing.*line 3"
    ),
    "several seeds without a column": _estimate(
        "ranks.csv", "user,rank\na,1\na,4\nb,2\n",
        r"user a has 2 rows.*`--column seed=NAME`.*`--leave-out user`",
    ),
    "a model that is not there": _estimate(
        "ranks.csv", "model,rank\npop,3\n", r"`--model` must be one of the models in .*\('pop'\)",
        "--model", "svd",
    ),
    "wide columns that cannot all be ranks": _estimate(
        "wide.csv", "user,pop,svd,age\na,1,2,70\nb,3,4,80\n",
        r"`--column rank=pop`; .*one column per model, give `--column rank=pop,svd`",
    ),
    "an empty file": _estimate("ranks.csv", "", r"`RANKS` must hold a table.*empty"),
    "a header and no rows": _estimate("ranks.csv", "rank\n", r"`RANKS` must hold at least one"),
    "a sheet": _estimate("ranks.xlsx", b"PK\x03\x04", r"Save the sheet as CSV"),
    "a run without qrels": _estimate(
        "run.trec", "q1 Q0 d1 1 0.5 x\n", r"`--truth` must be given: .*run\.trec.*TREC"
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
        "ranks.json", json.dumps([1, 2]), r"`RANKS`.*list of records with a 'rank' field"
    ),
    "JSON Lines called JSON": _estimate(
        "ranks.json", '{"rank": 3}\n{"rank": 4}\n', r"change its suffix to \.jsonl"
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
        r"The split column must have the labels.*'bad'", "--column", "split=mood",
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
    # ---- several columns of ranks ----
    "a wide file with text": _estimate(
        "wide.csv", "user,pop,svd\na,1,2\nb,2,x\n",
        r"'rank' column must hold numbers.*line 3 of .*'x'", "--column", "rank=pop,svd",
    ),
    "a wide file from 0": _estimate(
        "wide.csv", "user,pop,svd\na,1,2\nb,2,0\n",
        r"1 of 2 values is not: line 3 of .* has 0\. The column is 'svd'\.",
        "--column", "rank=pop,svd",
    ),
    "a wide file with a gap": _estimate(
        "wide.csv", "user,pop,svd\na,1,2\nb,2,\n",
        r"no missing values.*line 3 of .*The column is 'svd'", "--column", "rank=pop,svd",
    ),
    "a wide file, one column not of ranks": _estimate(
        "wide.csv", "user,pop,svd\na,0,2\nb,2,3\n",
        r"one column per model, give `--column rank=pop,svd`",
    ),
    "one column of ranks named twice": _estimate(
        "wide.csv", "user,pop,svd\na,1,2\nb,2,3\n",
        r"`--column` must name each column of ranks once, not pop, pop", "--column", "rank=pop,pop",
    ),
    "two columns for the ranks": _estimate(
        "wide.csv", "user,pop,svd\na,1,2\nb,2,3\n", r"`--column rank=pop,svd`",
        "--column", "rank=pop", "--column", "rank=svd",
    ),
    "a column for two roles": _estimate(
        "ranks.csv", "user,rank\na,3\n", r"`--column` must not assign 'rank' to another role",
        "--column", "user=rank",
    ),
    "a column named for two roles": _estimate(
        "ranks.csv", "who,r\na,3\n", r"`--column` must assign each column to one role; 'r'",
        "--column", "user=r", "--column", "rank=r",
    ),
    # ---- rows ----
    "a weight below 0": _estimate(
        "ranks.csv", "rank,weight\n3,1\n4,-1\n", r"'weight' column must be at least 0.*line 3 of"
    ),
    "targets that are missing": _estimate(
        "ranks.csv", "user,rank,n_targets,offset\na,3,2,0\nb,4,1,0\n",
        r"'n_targets' column.*user a, who first appears on line 2 of .*has 1 row, but "
        r"n_targets is 2.*name 'user', 'n_targets' and 'offset' in `--leave-out`",
    ),
    "an offset below 0": _estimate(
        "ranks.csv", "user,rank,n_targets,offset\na,3,1,-1\n",
        r"'offset' column must be at least 0.*line 2 of .*-1",
    ),
    "seeds of different users": _estimate(
        "ranks.csv", "user,seed,rank\na,1,3\nb,2,4\n", r"'user' column must name the same users"
    ),
    "seeds without users": _estimate(
        "ranks.csv", "seed,rank\n1,3\n2,4\n", r"several seeds.*`--column user=NAME`"
    ),
    "thousands": _estimate(
        "ranks.csv", 'rank;user\n"1,003";a\n', r"'1,003'.*thousands without"
    ),
    "NaN": _estimate(
        "ranks.csv", "rank\n3\nNaN\n", r"'rank' column must have no missing.*line 3 of"
    ),
    # ---- formats ----
    "blanks between columns": _estimate(
        "ranks.csv", "user rank\na 3\n", r"'user rank': a comma, .* separate columns, not spaces"
    ),
    "an unknown suffix": _estimate("ranks.dat", "rank\n3\n", r"`RANKS` must end in .*not '\.dat'"),
    "commas in a .tsv": _estimate("ranks.tsv", "user,rank\na,3\n", r"tabs must separate columns"),
    "a score that is text": Wrong(
        "run.trec", b"q1 Q0 d1 1 high x\n",
        ("estimate", "FILE", "--truth", "qrels", "--n-items", "50"),
        r"'score' column must hold a number.*'high'", {"qrels": b"q1 0 d1 1\n"},
    ),
    "a zip": _estimate("ranks.csv.zip", b"PK\x03\x04", r"`RANKS` must end in .*Unpack it first"),
    "bytes": _estimate("ranks.csv", bytes(range(1, 256)) * 20, r"`RANKS` must be a CSV file"),
    "a packed Parquet file": _estimate(
        "ranks.parquet.gz", gzip.compress(_parquet(rank=[1, 2])),
        r"`RANKS`.*further compression.*Unpack it first",
    ),
    "text in another encoding than said": _estimate(
        "ranks.csv", "rank\n3\n", r"`--encoding` must be the encoding of .*not utf-16",
        "--encoding", "utf-16",
    ),
    "JSON in UTF-16": _estimate(
        "ranks.json", '[{"rank": 3}]'.encode("utf-16"), r"`RANKS` must be a JSON file in UTF-8"
    ),
    "JSON that is null": _estimate("ranks.json", "null", r"`RANKS`.*list of records"),
    "JSON that pandas splits": _estimate(
        "ranks.json", '{"columns": ["rank"], "index": [0], "data": [[1]]}',
        r"`RANKS` must hold a list of records, .*orient='records'",
    ),
    "JSON with ids of two types": _estimate(
        "ranks.json", '[{"rank": 1, "user": 7}, {"rank": 2, "user": "7"}]',
        r"`RANKS`.*each field has one type.*'7'",
    ),
    "JSON that is not of records": _estimate(
        "ranks.json", '[{"rank": 1}, 5]', r"`RANKS` must hold a list of records"
    ),
    "JSON called JSON Lines": _estimate(
        "ranks.jsonl", '[{"rank": 3}]', r"one record per line.*Change its suffix to \.json\."
    ),
    "JSON Lines without a line": _estimate("ranks.jsonl", "\n", r"`RANKS` must hold a table"),
    # ---- sizes and designs ----
    "a size that is not whole": _estimate(
        "ranks.csv", "rank\n3\n", r"`--sample-size` must be a whole number, not '1\.5'",
        "--sample-size", "1.5", "--n-items", "50", sizes=False,
    ),
    "a size below 0": _estimate(
        "ranks.csv", "rank\n3\n", r"`--n-items` must be at least 1, not -5",
        "--sample-size", "10", "--n-items", "-5", sizes=False,
    ),
    "another size than the design's": _estimate(
        "ranks.csv", "rank\n3\n", r"`--sample-size` must be 20, as in `--design`, not 10",
        "--design", "sampled:20",
    ),
    "exact ranks that are sampled": _estimate(
        "ranks.csv", "rank\n3\n",
        r"`--sample-size` must be the number of items for an exact design.*10",
        "--design", "exact",
    ),
    "a design's setting": _estimate(
        "ranks.csv", "rank\n3\n", r"`--design`.*'sampled:x': sample_size must",
        "--design", "sampled:x",
    ),
    # ---- scored candidates ----
    "scores without targets": _scored(
        "user,item,score\na,1,.3\na,2,.4\n", r"`--truth` must be given, .*`--column label=NAME`",
        "--n-items", "50",
    ),
    "scores without a catalogue": _scored(
        "user,item,score,label\na,1,.3,1\na,2,.4,0\n", r"`--n-items` must be given"
    ),
    "qrels that are not there": _scored(
        "user,item,score\na,1,.3\n", r"`--truth` must name a file; .*none\.txt does not exist",
        "--n-items", "50", "--truth", "none.txt",
    ),
    "qrels that are none": Wrong(
        "run.trec", b"q1 Q0 d1 1 0.5 x\n", ("estimate", "FILE", "--truth", "FILE", *SIZES),
        r"`--truth` must hold lines like 'query 0 document relevance'",
    ),
    # ---- interactions ----
    "no interactions": _evaluate("plays.csv", "user,item\n", r"`DATA` must hold at least one"),
    "an empty file of interactions": _evaluate("plays.csv", "", r"`DATA` must hold a table"),
    "a missing user": _evaluate("plays.csv", "user,item\na,1\n,2\n", r"'user' column.*line 3 of"),
    "ratings that are text": _evaluate(
        "plays.csv", "user,item,rating\na,1,5\na,2,good\n", r"'value' column.*line 3 of .*'good'"
    ),
    "ratings with decimal commas": _evaluate(
        "plays.csv", "user;item;rating\na;1;3,5\na;2;4,0\n", r"line 2 of .*'3,5'.*with a point"
    ),
    "ids that are not whole": Wrong(
        "plays.parquet", _parquet(user=[1.5, 2.0], item=[1, 2]),
        ("evaluate", "FILE", "--model", "popularity"), r"'user' column.*row 1 of .*1\.5",
    ),
    "one interaction each": _evaluate(
        "plays.csv", "user,item\na,1\nb,2\n", r"`DATA` must have a user with at least 2"
    ),
    "a part that is missing": _evaluate(
        "plays.csv", "user,item,part\na,1,train\na,2,\nb,1,test\n",
        r"The split column must have no missing values; the first is on line 3 of",
    ),
    "one part alone": _evaluate(
        "plays.csv", "user,item,part\na,1,train\na,2,train\n",
        r"The split column must have the labels .*; it has 'train'\.",
    ),
    "a role named twice": _evaluate(
        "plays.csv", "user,item\na,1\na,2\n", r"`--column` must name one column for user",
        "--column", "user=user", "--column", "user=item",
    ),
    "more candidates than items": _evaluate(
        "plays.csv", USERS,
        r"`--design` must draw at most 3 candidates without replacement, .*, not 1000",
        "--design", "sampled:1000",
    ),
    "factors that are not there": Wrong(
        "plays.csv", USERS.encode(), ("evaluate", "FILE", "--factors", "m=none.npy,none.npy"),
        r"`--factors` must name a file; none\.npy",
    ),
    "a saved model that is not there": _evaluate(
        "plays.csv", USERS, r"`--model` must name a file; none\.safetensors",
        "--model", "none.safetensors",
    ),
    # ---- two files ----
    "two files of different users": _parts(
        "user,item\n1,10\n2,11\n", "user,item\n7,10\n8,11\n",
        r"`--test` must hold users of the training part; none of its 2 users.*in the same way",
    ),
    "two files, ids written otherwise": _parts(
        "user,item\n1,10\n2,11\n", "user,item\nu1,11\nu2,10\n", r"`--test`.*the first is u1"
    ),
    "no test interactions": _parts(
        "user,item\n1,10\n", "user,item\n", r"`--test` must hold at least one interaction"
    ),
    "no train interactions": _parts(
        "user,item\n", "user,item\n1,10\n", r"`--train` must hold at least one interaction"
    ),
    "an empty test file": _parts("user,item\n1,10\n", "", r"`--test` must hold a table"),
    "models of a number and a text": _compare(
        "a.parquet", _parquet(user=[7, 8], rank=[1, 2]),
        "b.parquet", _parquet(user=["7", "8"], rank=[1, 2]),
        r"'user' column.*numbers in .*a\.parquet and text in .*b\.parquet",
    ),
    "pairs without names": _compare(
        "a.csv", b"rank\n1\n2\n", "b.csv", b"rank\n1\n2\n",
        r"`--paired` must not be given for users.*Give their ids as `--column user=NAME`",
        "--paired",
    ),
    "a report that is no page": _estimate(
        "ranks.csv", "rank\n3\n", r"`--report` must end in \.html", "--report", "rep.pdf"
    ),
    "a level in per cent": _estimate(
        "ranks.csv", "rank\n3\n4\n", r"`--level`.*not 95", "--level", "95"
    ),
}  # fmt: skip


def typed(wrong: Wrong, folder: Path) -> list[str]:
    """Write the file and give the words of the command."""
    contents = {wrong.name: wrong.content, **wrong.beside}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    names = {"FILE": wrong.name} | {name: name for name in contents}
    return [str(folder / names[word]) if word in names else word for word in wrong.words]


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
