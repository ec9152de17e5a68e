"""Evaluations on a device have the numbers of those without."""

from contextlib import nullcontext

import numpy as np
import pytest

from fullrank.evaluation import evaluate
from fullrank.evaluation.problem import usual_size
from fullrank.scorers import FactorScorer


def problem():
    random = np.random.default_rng(0)
    users, items = random.normal(size=(6, 4)), random.normal(size=(40, 4))
    return {"factors": FactorScorer(users, items)}, (np.arange(6), random.integers(0, 40, 6))


def ranks(found):
    return found.samples["factors"].to_arrow()["rank"].to_pylist()


@pytest.mark.breadth
@pytest.mark.parametrize("design", ["exact", "sampled:8", "adaptive:4,limit=20"])
def test_shards_of_a_device_have_the_ranks_of_the_cpu(design):
    models, targets = problem()
    how = {"design": design, "metrics": "recall@10", "shard_size": 4}
    here, there = (evaluate(models, targets, device=one, **how) for one in (None, "cuda"))
    assert ranks(there) == ranks(here)
    assert (here.about["device"], there.about["device"]) == ("cpu", "cuda")


@pytest.mark.verify
def test_a_run_begun_on_a_device_goes_on_without_one(tmp_path):
    models, targets = problem()
    how = {"metrics": "recall@10", "shard_size": 2, "report": False}

    def stopped(done, total):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(
            models, targets, out=tmp_path / "run", device="cuda",
            progress=lambda label: nullcontext(stopped), **how,
        )  # fmt: skip
    found = evaluate(models, targets, out=tmp_path / "run", **how)
    assert ranks(found) == ranks(evaluate(models, targets, **how))
    assert found.about["device"] == "cpu"


def test_a_gpu_gets_larger_shards():
    assert (usual_size(10**6, 1e6), usual_size(10**6, 1e6, "cuda")) == (15_625, 125_000)
    assert usual_size(10, 1e6, "cuda") == 512
