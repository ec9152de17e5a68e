"""The engines agree bit for bit, whatever the shards and the kind of model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fullrank.data import Split, simulate
from fullrank.engines import Processes, Ray, Serial
from fullrank.evaluation import evaluate
from fullrank.samples import RankSample
from fullrank.scorers import FactorScorer

pytestmark = pytest.mark.slow

DESIGNS = ("exact", "sampled:20", "sampled:20,pool=unseen,replacement=true", "adaptive:5")
ROWS = ("rank", "sample_size", "n_items", "weight", "n_targets", "offset", "user")


def everything(
    split: Split,
    models: dict[str, Any],
    engine: Any,
    size: int,
    *designs: str,
    n_users: int | None = None,
) -> list[RankSample]:
    with engine:
        return [
            sample
            for design in designs
            for sample in evaluate(
                models, split, design=design, n_users=n_users, engine=engine, shard_size=size, rng=2
            ).samples.values()
        ]


def assert_same(one: list[RankSample], two: list[RankSample]) -> None:
    assert len(one) == len(two) > 0
    for a, b in zip(one, two, strict=True):
        assert a.to_arrow().equals(b.to_arrow(), check_metadata=True)


def test_processes_and_threads(split: Split, scorers: dict[str, Any]) -> None:
    models = {"a": scorers["a"], "ease": "ease:regularization=20", "knn": "item-knn"}
    alone = everything(split, models, Serial(1), 1000, *DESIGNS)
    assert_same(everything(split, models, Serial(2), 31, *DESIGNS), alone)
    assert_same(everything(split, models, Processes(2), 31, *DESIGNS), alone)


def test_ties_several_targets_and_some_users() -> None:
    data = simulate(n_users=150, n_items=60, mean_interactions=15, rng=1)
    split = data.split("ratio", test=0.3, rng=0)
    random = np.random.default_rng(5)
    shape = split.train.n_users, split.train.n_items
    coarse = FactorScorer(*(random.integers(-1, 2, (n, 2)).astype(np.float32) for n in shape))
    designs = [
        f"{kind}ties={ties}"
        for kind in ("exact:", "sampled:12,", "adaptive:4,")
        for ties in ("random", "worst")
    ]
    alone = everything(split, {"a": coarse}, Serial(1), 1000, *designs, n_users=70)
    assert len(alone[0].ranks) > 100  # of 70 users
    assert_same(everything(split, {"a": coarse}, Serial(2), 9, *designs, n_users=70), alone)
    assert_same(everything(split, {"a": coarse}, Processes(2), 17, *designs, n_users=70), alone)


@pytest.mark.verify
@pytest.mark.ray
@pytest.mark.filterwarnings("ignore")
def test_ray(
    split: Split,
    scorers: dict[str, Any],
    need: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    need("ray")
    alone = everything(split, scorers, Serial(1), 1000, "sampled:20")
    assert_same(everything(split, scorers, Ray(workers=2), 45, "sampled:20"), alone)
