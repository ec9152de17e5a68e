"""Evaluations: what ranking itself gives, whatever the shards."""

from __future__ import annotations

from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank._lib import progress as progress_module
from fullrank.data import Interactions, Split
from fullrank.designs import Design
from fullrank.engines import Serial
from fullrank.errors import DataWarning, InputError
from fullrank.evaluation import Evaluation, evaluate
from fullrank.models import EASE, Popularity
from fullrank.ranking import rank, sample_ranks
from fullrank.samples import ExactRanks
from fullrank.scorers import FactorScorer

ROWS = ("rank", "sample_size", "n_items", "weight", "n_targets", "offset", "user")


def assert_same(one: Any, two: Any) -> None:
    """Bit for bit."""
    if isinstance(one, ExactRanks) or isinstance(two, ExactRanks):
        assert one.to_arrow().equals(two.to_arrow(), check_metadata=True)
        return
    assert one.design == two.design
    assert one.n_items == two.n_items
    for name in ("rank", "sample_size", "pool", "count", "weight"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
    if one.rows is None or two.rows is None:
        assert one.rows is two.rows
        return
    for name in ROWS:
        assert np.array_equal(getattr(one.rows, name), getattr(two.rows, name)), name


def test_exact_ranks_give_exact_metrics(split: Split, scorers: dict[str, Any]) -> None:
    found = evaluate(scorers, split, metrics=["recall@10", "ndcg@5"])
    for name, scorer in scorers.items():
        exact = rank(scorer, split.test, exclude=split.train, ties="random", rng=0)
        values = exact.metrics("recall@10, ndcg@5")
        assert found.estimates[name].values == pytest.approx(values, abs=1e-12)
    assert found.exact
    assert found.comparison is not None
    assert found.comparison.models == ("a", "b")


@pytest.mark.parametrize("size", [1, 7, 50, 1000])
@pytest.mark.parametrize(
    ("design", "direct"),
    [
        ("exact", rank),
        ("sampled:20", lambda *a, **k: sample_ranks(*a, design="sampled:20", **k)),
        (
            "sampled:20,replacement=true,pool=unseen",
            lambda *a, **k: sample_ranks(*a, design="sampled:20,replacement=true,pool=unseen", **k),
        ),
        ("adaptive:5", lambda *a, **k: sample_ranks(*a, design="adaptive:5", **k)),
    ],
)
def test_shards_change_nothing(
    split: Split, scorers: dict[str, Any], design: str, direct: Any, size: int
) -> None:
    found = evaluate(
        {"a": scorers["a"]}, split, design=design, shard_size=size, engine=Serial(1), rng=5
    )
    assert_same(found.samples["a"], direct(scorers["a"], split.test, exclude=split.train, rng=5))


def test_several_targets(split: Split, scorers: dict[str, Any]) -> None:
    data = split.train.union(split.test).split("ratio", test=0.3, rng=1)
    found = evaluate(scorers, data, shard_size=11, metrics="ndcg@10")
    exact = rank(scorers["b"], data.test, exclude=data.train)
    value = exact.metrics("ndcg@10")["ndcg@10"]
    assert found.estimates["b"]["ndcg@10"] == value


def test_targets_in_any_order(scorers: dict[str, Any]) -> None:
    users, items = np.array([9, 2, 9, 4]), np.array([1, 2, 3, 4])
    one = evaluate(scorers, (users, items), design="sampled:10")
    two = evaluate(scorers, (users[::-1], items[::-1]), design="sampled:10", shard_size=1)
    rows = one.samples["a"].rows
    assert rows is not None
    assert rows.user.tolist() == [2, 4, 9, 9]
    assert sorted(rows.rank.tolist()) == sorted(two.samples["a"].rows.rank.tolist())  # type: ignore[union-attr]


def test_nothing_excluded_where_that_is_asked_for(split: Split, scorers: dict[str, Any]) -> None:
    found = evaluate(scorers, split, exclude=None)
    assert_same(found.samples["a"], rank(scorers["a"], split.test))


def test_models_are_fitted_on_the_training_part(split: Split) -> None:
    found = evaluate(["popularity", "e=ease:regularization=20"], split)
    direct = EASE(regularization=20).fit(split.train).scorer()
    assert_same(
        found.samples["e"],
        rank(direct, split.test, exclude=split.train),
    )
    assert found.about["models"][1] == {
        "name": "e", "kind": "fitted", "model": "ease", "settings": {"regularization": 20.0},
    }  # fmt: skip


def test_users_who_were_not_learned_from(split: Split) -> None:
    data = split.train.union(split.test).split("strong", test=0.3, min_interactions=3, rng=0)
    found = evaluate({"e": EASE(regularization=20)}, data)
    model = EASE(regularization=20).fit(data.train)
    direct = rank(model.scorer(data.history), data.test, exclude=data.history)
    assert_same(found.samples["e"], direct)


def test_some_users(split: Split, scorers: dict[str, Any]) -> None:
    found = evaluate(scorers, split, design="exact", n_users=40, rng=3, shard_size=9)
    every = evaluate(scorers, split, rng=3)
    few, all_ = found.samples["a"], every.samples["a"]
    assert few.ranks.size == 40
    at = np.searchsorted(all_.user, few.user)
    assert np.array_equal(all_.ranks[at], few.ranks)
    with pytest.raises(InputError, match=r"`n_users`.*\b120\b.*\b4000\b"):
        evaluate(scorers, split, design="exact", n_users=4000)


def test_users_that_were_not_drawn_are_not_said_to_be_evaluated(
    split: Split, scorers: dict[str, Any]
) -> None:
    some = evaluate(scorers, split, n_users=5, anchor=None).measured()
    assert "test users" in some["data"]
    assert "evaluated" not in some["data"]
    assert some["users drawn"] == "5"
    assert "evaluated users" in evaluate(scorers, split, anchor=None).measured()["data"]


def test_a_budget_picks_a_design(split: Split, scorers: dict[str, Any]) -> None:
    cheap = evaluate(scorers, split, budget=4000, metrics="recall@10")
    spent = cheap.samples["a"].average_size * cheap.estimates["a"].n_targets
    assert spent < 1.3 * 4000
    assert Design.of(cheap.about["settled"]["design"]).name in ("sampled", "adaptive", "exact")
    assert "resolved design" in cheap.measured()
    rich = evaluate(scorers, split, budget=1e6, metrics="recall@10")
    assert rich.exact
    with pytest.raises(InputError, match=r"`budget`.*\b30\b.*\b20\b"):
        evaluate(scorers, split, budget=20)


def test_a_budget_is_for_one_target_each(split: Split, scorers: dict[str, Any]) -> None:
    data = split.train.union(split.test).split("ratio", test=0.3, rng=1)
    with pytest.raises(InputError, match=r"`budget`.*multi-target users"):
        evaluate(scorers, data, budget=1e6)


def test_counts_alone(split: Split, scorers: dict[str, Any]) -> None:
    found = evaluate(scorers, split, design="sampled:20", keep_rows=False, shard_size=10)
    whole = evaluate(scorers, split, design="sampled:20")
    assert found.samples["a"].rows is None
    assert found.comparison is None
    assert found.estimates["a"].values == whole.estimates["a"].values
    assert np.array_equal(found.samples["a"].count, whole.samples["a"].count)


def test_any_scorer(split: Split) -> None:
    scores = np.random.default_rng(1).random((split.train.n_users, split.train.n_items))
    found = evaluate({"array": scores}, split, design="sampled:10")
    assert "P(best)" not in str(found)
    assert found.to_dict()["comparison"] is None


def test_what_is_printed_and_told(split: Split, scorers: dict[str, Any]) -> None:
    found = evaluate(scorers, split, name="tiny", design="sampled:20", metrics="recall@5")
    lines = str(found).splitlines()
    assert lines[0].startswith("tiny · 120 targets ranked among 20 of 90 items, target included")
    assert lines[1].startswith("Split: leave-one-out, ")
    assert lines[3].split() == ["model", "recall@5", "P(best)"]
    assert found.measured()["design"] == "sampled:20"
    content = found.to_dict()
    assert content["format"] == 1
    assert [one["model"] for one in content["models"]] == ["a", "b"]
    assert found.to_arrow().column_names[:2] == ["model", "metric"]


def test_the_picture(split: Split, scorers: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib")
    found = evaluate({"a": scorers["a"], "$b$": scorers["b"]}, split, metrics="recall@5")
    axes = found.plot()
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", r"\$b\$"]
    assert axes.get_xlabel() == "recall@5, 95 % interval"
    axes.figure.canvas.draw()


def test_written_and_read_again(split: Split, scorers: dict[str, Any], tmp_path: Path) -> None:
    found = evaluate(scorers, split, design="sampled:20")
    found.write(tmp_path / "run", report=False)
    again = Evaluation.read(tmp_path / "run")
    assert again.to_dict() == found.to_dict()
    assert_same(again.samples["b"], found.samples["b"])
    with pytest.raises(InputError, match=r"`out`.*evaluation"):
        found.write(tmp_path / "run", report=False)


def test_a_saved_model(split: Split, tmp_path: Path) -> None:
    path = tmp_path / "ease.safetensors"
    EASE(regularization=20).fit(split.train).save(path)
    found = evaluate({"e": path}, split)
    assert_same(found.samples["e"], evaluate({"e": EASE(regularization=20)}, split).samples["e"])
    everything = split.train.union(split.test)
    EASE(regularization=20).fit(everything).save(path)
    with pytest.warns(DataWarning, match=r"\be\b.*120 of the 120"):
        evaluate({"e": path}, split)


def test_a_saved_model_of_other_items(split: Split, tmp_path: Path) -> None:
    path = tmp_path / "other.safetensors"
    other = Interactions.from_arrays([0, 0, 1], [0, 1, 1])
    Popularity().fit(other).save(path)
    with pytest.raises(InputError, match=r"`e`.*\b90 items.*\b88\b"):
        evaluate({"e": path}, split)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({}, r"`models`.*empty"),
        ({"": "ease"}, r"`models`.*''"),
        ({"\x1b[2J": "ease"}, r"`models`.*'\\x1b\[2J'"),
        ([3], r"`models`.*'ease'"),
        ({"a": object()}, r"`scorer`.*\bobject\b"),
    ],
)
def test_models_that_are_none(split: Split, models: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(models, split)


def test_arguments_that_are_refused(split: Split, scorers: dict[str, Any]) -> None:
    targets = [0], [1]
    with pytest.raises(InputError, match=r"`data`.*\bease\b"):
        evaluate("ease", targets)
    with pytest.raises(InputError, match=r"`exclude`.*'seen'.*'all'"):
        evaluate(scorers, split, exclude="all")
    with pytest.raises(InputError, match=r"`exclude`.*Interactions.*\blist\b"):
        evaluate(scorers, targets, exclude=[1])
    with pytest.raises(InputError, match=r"`shard_size`.*\b0\b"):
        evaluate(scorers, split, shard_size=0)
    with pytest.raises(InputError, match=r"`rng`.*`out`"):
        evaluate(scorers, split, rng=None, out="nowhere")
    with pytest.raises(InputError, match=r"`progress`.*\b3\b"):
        evaluate(scorers, split, progress=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"`confidence_level`.*not 95\b"):
        evaluate(scorers, split, confidence_level=95)


def test_absurd_sizes_are_refused_with_the_number() -> None:
    data = Interactions.from_arrays([0, 0, 1, 1], [0, 1, 1, 2], item_ids=np.arange(10**6))
    with pytest.raises(InputError, match=r"`models`.*\b1,000,000\b.*7\.3 TiB"):
        evaluate("ease", data.split("leave-one-out", rng=0))


def test_one_model_by_itself_has_the_name_of_its_class(split: Split) -> None:
    fitted = Popularity().fit(split.train)
    (by_class,) = evaluate(Popularity, split).samples.items()
    (by_model,) = evaluate(fitted, split).samples.items()
    (by_scorer,) = evaluate(fitted.scorer(), split).samples.items()
    assert [by_class[0], by_model[0], by_scorer[0]] == ["Popularity", "Popularity", "ItemScorer"]
    assert np.array_equal(by_class[1].ranks, by_scorer[1].ranks)
    assert np.array_equal(by_model[1].ranks, by_scorer[1].ranks)


def test_every_model_says_what_it_needs() -> None:
    from fullrank.models import MODELS

    data = Interactions.from_arrays([0, 0, 1], [0, 1, 1])
    assert all(MODELS[name]().memory(data) > 0.0 for name in MODELS)
    for name in ("multi-vae", "multi-dae", "cdae"):  # no batch has more users than there are
        small, large = (MODELS[name](batch_size=size) for size in (2, 10**9))
        assert small.memory(data) == large.memory(data)


def test_a_model_of_a_class_of_ones_own(split: Split) -> None:
    class Mine(EASE):
        pass

    found = evaluate({"m": Mine(), "class": Mine, "ours": EASE()}, split, metrics="ndcg@10")
    values = [one["ndcg@10"] for one in found.estimates.values()]
    assert values[0] == values[1] == values[2]


def test_progress_counts_users(split: Split, scorers: dict[str, Any]) -> None:
    from contextlib import contextmanager

    told: list[Any] = []

    @contextmanager
    def steps(label: str) -> Any:
        told.append(label)
        yield lambda done, total: told.append((done, total))

    evaluate({"a": scorers["a"]}, split, shard_size=50, progress=steps)
    assert told == ["preparing a", "ranking with a", (0, 120), (50, 120), (100, 120), (120, 120)]


def test_progress_on_stderr(
    split: Split,
    scorers: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # ten seconds pass between two reports, whatever the machine is at
    own = partial(progress_module.Clock, count(0.0, 10.0).__next__)
    monkeypatch.setattr(progress_module, "Clock", own)
    evaluate({"a": scorers["a"]}, split, shard_size=50, progress=True)
    told = [line.strip() for line in capsys.readouterr().err.splitlines()]  # at each \r, too
    assert [line for line in told if line.startswith("ranking")] == [
        "ranking with a: 0 of 120 (0%)",
        "ranking with a: 50 of 120 (42%)",
        "ranking with a: 100 of 120 (83%, 0:04 left)",
        "ranking with a: 120 of 120 (100%, 0:00 left)",
    ]


def test_factors_wider_than_the_catalogue_are_refused(split: Split) -> None:
    scorer = FactorScorer(np.ones((120, 2)), np.ones((91, 2)))
    with pytest.raises(InputError, match=r"`a`.*\b90 items.*\b91\b"):
        evaluate({"a": scorer}, split)


def test_what_the_sample_does_not_resolve_is_marked(split: Split, scorers: dict[str, Any]) -> None:
    """The note has the mark of the table, as `estimate` prints it."""
    found = evaluate(scorers, split, metrics="recall@1", design="sampled:5", anchor=None)
    lines = [line for line in str(found).splitlines() if "at rank 1 of their sample" in line]
    assert len(lines) == 2
    assert [line[:4] for line in lines] == ["a: ▲", "b: ▲"]
