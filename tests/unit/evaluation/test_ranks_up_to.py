"""The design exact:K: the metrics of full ranks, whatever scores, ranks and stops the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank import report
from fullrank.data import Interactions, Split, simulate
from fullrank.engines import Processes, Ray, Serial
from fullrank.errors import InputError
from fullrank.evaluation import Evaluation, evaluate
from fullrank.models import EASE
from fullrank.samples import ExactRanks
from fullrank.scorers import FactorScorer, as_scorer
from tests.unit.evaluation.stopped_runs import Breaking, StoppedError

METRICS = ("recall@10", "ndcg@10", "ap@3")


def bare(found: Evaluation) -> list[Any]:
    """The ranks of all models without what depends on the blocks."""
    return [
        replace(one, n_scored=None).to_arrow()
        for one in found.samples.values()
        if isinstance(one, ExactRanks)
    ]


def assert_same(one: Evaluation, two: Evaluation) -> None:
    pairs = list(zip(bare(one), bare(two), strict=True))
    assert pairs
    assert all(a.equals(b, check_metadata=True) for a, b in pairs)
    assert one.to_dict() == two.to_dict()


class Module:
    """A network of pairs, made where torch is."""

    def __new__(cls, torch: Any, split: Split) -> Any:
        class Pairs(torch.nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                torch.manual_seed(0)
                self.n_users, self.n_items = split.train.n_users, split.train.n_items
                self.users = torch.nn.Embedding(split.train.n_users, 4)
                self.items = torch.nn.Embedding(split.train.n_items, 4)

            def forward(self, users: Any, items: Any) -> Any:
                return torch.tanh(self.users(users) * self.items(items)).sum(-1)

        return Pairs().eval()


@pytest.mark.slow
@pytest.mark.parametrize("design", ["exact:10", "exact:10,order=random", "exact:10,ties=random",
                                    "exact:10,order=popularity", "exact:1000"])  # fmt: skip
def test_metrics_are_those_of_full_ranks(
    split: Split, scorers: dict[str, Any], design: str
) -> None:
    shape = split.train.n_users, split.train.n_items
    table = np.round(np.random.default_rng(1).normal(size=shape), 1)

    def function(users: np.ndarray, items: np.ndarray | None = None) -> np.ndarray:
        return table[users] if items is None else table[users[:, None], items]

    models = {
        "factors": scorers["a"], "ease": "ease:regularization=20", "popular": "popularity",
        "function": as_scorer(function, n_items=split.train.n_items, n_users=split.train.n_users),
        "table": table,
    }  # fmt: skip
    found = evaluate(models, split, METRICS, design=design, rng=4)
    ties = ",ties=random" if "ties" in design else ""
    full = evaluate(models, split, METRICS, design=f"exact:{ties[1:]}" if ties else None, rng=4)
    for name in models:
        one, two = found.estimates[name], full.estimates[name]
        assert one.values == two.values
        assert dict(one.confidence_interval) == dict(two.confidence_interval)
        assert found.samples[name].share_scored <= 1.0
    assert np.array_equal(found.comparison.p_best, full.comparison.p_best)
    assert found.exact


@pytest.mark.slow
def test_a_torch_module(split: Split, need: Callable[[str], Any]) -> None:
    module = Module(need("torch"), split)
    found = evaluate({"net": module}, split, METRICS, design="exact:10")
    full = evaluate({"net": module}, split, METRICS)
    assert found.estimates["net"].values == full.estimates["net"].values
    assert found.samples["net"].beyond.any()


def test_several_targets_of_users() -> None:
    data = simulate(n_users=60, n_items=50, mean_interactions=15, rng=1)
    split = data.split("ratio", test=0.4, rng=0)
    metrics = ("recall@5", "ndcg@5", "ap@5", "hit_rate@2", "auc@5")
    found, full = (
        evaluate({"ease": EASE(regularization=10)}, split, metrics, design=design, shard_size=7)
        for design in ("exact:5", "exact")
    )
    assert found.estimates["ease"].values == full.estimates["ease"].values
    assert found.samples["ease"].several


def test_the_share_scored_is_printed(split: Split, scorers: dict[str, Any]) -> None:
    found = evaluate(scorers, split, design="exact:3")
    assert found.metrics == ("recall@3", "ndcg@3")
    shares = [100 * found.samples[name].share_scored for name in "ab"]
    shown = f"{shares[0]:.3g} % (a), {shares[1]:.3g} % (b)"
    line = f"Share of user–candidate pairs scored: {shown}."
    assert found.scored == line
    assert line in str(found)
    assert line in found.to_markdown()
    counts = evaluate({"a": scorers["a"]}, split, design="exact:3", keep_rows=False, shard_size=20)
    assert counts.scored.startswith("Share of ")
    assert counts.estimates["a"].values == found.estimates["a"].values
    assert evaluate(scorers, split).scored is None


def test_a_report_ends_at_k(split: Split, scorers: dict[str, Any]) -> None:
    found = evaluate(scorers, split, design="exact:7")
    page = report(found, rng=0)
    assert list(page.figures) == ["metrics", "metrics-2", "recall", "differences", "winner"]
    rows = page.figures["recall"].rows
    assert [row[0] for row in rows][-1] == "7"
    assert page.figures["recall"].x.high == pytest.approx(1.02 * 7)
    assert page.summary[-1].endswith("up to rank 7.")
    assert "Ranks up to 7 are exact" in page.summary[2]
    assert any("up to 7" in note for note in page.notes)
    full = evaluate(scorers, split)
    mixed = report({"a": full.samples["a"], "b": found.samples["b"]}, metrics="recall@5", rng=0)
    last = {cell for row in mixed.figures["recall"].rows for cell in row[:1]}
    assert "7" in last
    assert str(full.samples["a"].candidates.max()) in last
    assert "ranks" in mixed.figures


def test_exact_ranks_up_to_k_beside_a_sample(split: Split, scorers: dict[str, Any]) -> None:
    exact = evaluate({"a": scorers["a"]}, split, design="exact:7").samples
    drawn = evaluate({"a": scorers["a"]}, split, "recall@5", design="sampled:20", anchor=None)
    page = report(drawn, exact=exact, rng=0)
    values = page.models[0].values
    assert values["recall@5"].exact == exact["a"].metrics("recall@5")["recall@5"]
    assert {k for k, one in page.models[0].curve if one.exact is not None} <= set(range(8))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"design": "exact:5", "metrics": "recall@10"}, r"`metrics`.*exact:5.*recall@10"),
        ({"design": "exact:5", "metrics": "recall@5, auc"}, r"`metrics`.*exact:5.*auc"),
        ({"design": "exact:5,order=popularity", "exclude": None}, r"`design`.*popularity"),
        ({"design": "exact:5,order=alphabet"}, r"`design`.*order must.*'norms'.*'alphabet'"),
        ({"design": "exact:order=random"}, r"`design`.*max_rank must be given with order"),
    ],
)
def test_what_cannot_be_is_refused_before_training(
    split: Split, settings: dict[str, Any], says: str
) -> None:
    class Untrained(EASE):
        def fit(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("it was trained")

    with pytest.raises(InputError, match=says):
        evaluate({"m": Untrained()}, split, **settings)


def test_one_user() -> None:
    data = Interactions.from_arrays(["u"], ["i"])
    items = np.arange(12.0)[:, None]
    scorer = FactorScorer(
        np.ones((1, 1)), items, user_ids=["u"], item_ids=["i", *map(str, range(11))]
    )
    for k, value in ((1, 0.0), (11, 0.0), (12, 1.0), (99, 1.0)):  # the item is last of twelve
        found = evaluate({"m": scorer}, data, f"recall@{k}", design=f"exact:{k}", exclude=None)
        assert found.estimates["m"][f"recall@{k}"] == value
        assert found.scored is not None


# ---- run folders and engines ----

SETTINGS: dict[str, Any] = {"design": "exact:10", "shard_size": 25, "report": False}


def test_a_folder_is_read_again(split: Split, scorers: dict[str, Any], tmp_path: Path) -> None:
    found = evaluate(scorers, split, out=tmp_path / "run", **SETTINGS)
    again = Evaluation.read(tmp_path / "run")
    assert_same(again, found)
    assert again.scored == found.scored
    with pytest.raises(InputError, match=r"`out`.*design"):
        evaluate(scorers, split, out=tmp_path / "run", **{**SETTINGS, "design": "exact:11"})


@pytest.mark.slow
@pytest.mark.parametrize("after", [0, 3, 7])
def test_a_stopped_run_resumes_in_processes(
    split: Split, scorers: dict[str, Any], tmp_path: Path, after: int
) -> None:
    resumed(split, scorers, tmp_path, after, Processes(2))


@pytest.mark.verify
@pytest.mark.ray
@pytest.mark.filterwarnings("ignore")
def test_a_stopped_run_resumes_on_ray(
    split: Split,
    scorers: dict[str, Any],
    tmp_path: Path,
    need: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    need("ray")
    resumed(split, scorers, tmp_path, 3, Ray(workers=2))


def resumed(split: Split, scorers: dict[str, Any], tmp_path: Path, after: int, engine: Any) -> None:
    whole = evaluate(scorers, split, engine=Serial(1), design="exact:10")
    with pytest.raises(StoppedError):
        evaluate(scorers, split, out=tmp_path / "run", engine=Breaking(after), **SETTINGS)
    found = evaluate(scorers, split, out=tmp_path / "run", engine=engine, **SETTINGS)
    assert_same(found, whole)
    assert_same(Evaluation.read(tmp_path / "run"), whole)
