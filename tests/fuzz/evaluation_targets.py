"""What other systems wrote, factors in files, and the folder of an evaluation."""

from __future__ import annotations

import functools
import io
import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import folder, target, written
from mutation import mutated, spoiled
from safetensors.numpy import save

from fullrank.evaluation import Evaluation, evaluate
from fullrank.ranking import rank
from fullrank.samples.read_candidates import read_candidates
from fullrank.samples.read_ranks import read_ranks
from fullrank.scorers import FactorFiles

_RUNS = {
    "run.trec": b"u1 Q0 a 1 0.9 x\nu1 Q0 b 2 0.5 x\nu2 Q0 c 1 0.7 x\nu2 Q0 a 2 0.1 x\n",
    "run.csv": b"user,item,score,label\nu1,a,0.9,1\nu1,b,0.5,0\nu2,c,0.7,0\nu2,a,0.1,1\n",
    "run.inter": b"user_id:token\titem_id:token\tscore:float\tlabel:float\nu1\ta\t0.9\t1\n"
    b"u1\tb\t0.5\t0\nu2\ta\t0.2\t1\nu2\tc\t0.2\t0\n",
    "run.tsv": b"user\titem\tscore\nu1\ta\t0.9\nu1\tb\t0.5\nu2\tc\t0.7\nu2\ta\t0.1\n",
}
_TRUTHS = {
    "qrels.txt": b"u1 0 a 1\nu2 0 a 1\nu2 0 c 0\n",
    "x.test.negative": b"(1,2)\t3\t4\n(2,2)\t5\t6\n",
    "x.test.rating": b"1\t2\t4\t99\n2\t2\t4\t99\n",
    "truth.csv": b"user,item\nu1,a\nu2,a\n",
}


def _maybe(source: random.Random, content: bytes) -> bytes:
    return mutated(source, content) if source.random() < 0.7 else content


@target("scored candidates of other systems", share=6)
def candidates(source: random.Random) -> Any:
    name = source.choice(list(_RUNS))
    path = written(name, _maybe(source, _RUNS[name]))
    truth = None
    if name in ("run.trec", "run.tsv") or source.random() < 0.2:
        other = source.choice(list(_TRUTHS))
        truth = written(other, _maybe(source, _TRUTHS[other]))
    named = {"n_items": 50, "ties": source.choice(("random", "best", "worst")), "rng": 0}
    found = read_candidates(path, truth=truth, **spoiled(source, named, 0.2))
    return [str(one) for one in found.samples.values()], found.notes


@target("ranks of other systems", share=6)
def ranks(source: random.Random) -> Any:
    name = source.choice(("r.csv", "r.tsv", "r.inter"))
    comma = b"," if name == "r.csv" else b"\t"
    text = b"user,model,rank,sample_size\na,m,1,20\nb,m,4,10\nc,m,2,10\n".replace(b",", comma)
    path = written(name, _maybe(source, text))
    named = {"n_items": 50, "design": source.choice(("infer", "sampled", "adaptive")),
             "rows": source.choice((None, True, False))}  # fmt: skip
    found = read_ranks(path, **spoiled(source, named, 0.3))
    return [str(one) for one in found.samples.values()], found.notes


@functools.cache
def _factors() -> dict[str, bytes]:
    made = np.random.default_rng(0)
    both = {"user_factors": made.normal(size=(3, 2)), "item_factors": made.normal(size=(4, 2))}
    npz, npy, parquet = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.savez(npz, **both, item_bias=np.zeros(4))
    np.save(npy, both["user_factors"])
    lists = pa.table({"id": [0, 1, 2], "factors": both["user_factors"].tolist()})
    pq.write_table(lists, parquet)
    return {
        ".npz": npz.getvalue(),
        ".safetensors": save(both),
        ".npy": npy.getvalue(),
        ".parquet": parquet.getvalue(),
    }


@target("factors from files", share=8)
def factor_files(source: random.Random) -> Any:
    suffix = source.choice(list(_factors()))
    users = written(f"users{suffix}", _maybe(source, _factors()[suffix]))
    items = users
    if suffix in (".npy", ".parquet"):
        items = written(f"items{suffix}", _maybe(source, _factors()[suffix]))
    scorer = FactorFiles(users=users, items=items).scorer()
    return rank(scorer, ([0], [0])).ranks


@functools.cache
def _run() -> Path:
    place = folder() / "run"
    scores = {"a": np.arange(12.0).reshape(3, 4), "b": np.ones((3, 4)).cumsum(axis=1)}
    evaluate(
        scores,
        ([0, 1, 2], [1, 2, 3]),
        design="sampled:3",
        exclude=None,
        out=place,
        report=False,
        rng=0,
    )
    return place


@target("the folder of an evaluation", share=0.3)
def evaluation_folder(source: random.Random) -> Any:
    place = folder() / "changed"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(_run(), place)
    files = sorted(one for one in place.rglob("*") if one.suffix in (".json", ".parquet"))
    one = source.choice([place / "run.json", *files])
    one.write_bytes(mutated(source, one.read_bytes()))
    found = Evaluation.read(place)
    json.dumps(found.to_dict(), allow_nan=False)
    return str(found)
