"""Fixed samples of an evaluation borrow the shape of cheap models, and all outputs use it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from fullrank import anchored, compare, estimate, rank, sample_ranks
from fullrank.data import Interactions, Split
from fullrank.engines import Processes, Serial
from fullrank.errors import InputError
from fullrank.evaluation import Evaluation, anchors, evaluate, load_split
from fullrank.evaluation.fit_memory import check_fit
from fullrank.models import EASE, IALS, ItemKNN, PureSVD
from fullrank.samples import ExactRanks
from tests.unit.evaluation.stopped_runs import Breaking, StoppedError

FIXED = "sampled:20"
METRICS = ("recall@5", "ndcg@10")
LINE = (
    "Anchored estimates take the shape of P(R) near rank 1 from PureSVD and ItemKNN, ranked "
    "exactly on the same data (--no-anchor or anchor=None turns this off)."
)


def cheap_ranks(split: Split) -> list[ExactRanks]:
    """Both models as a user would rank them; 90 items bear 9 factors."""
    models = PureSVD(n_factors=9), ItemKNN(n_neighbors=100, shrinkage=10.0)
    scorers = [model.fit(split.train).scorer() for model in models]
    return [rank(one, split.test, exclude=split.train) for one in scorers]


def borrowed(found: Evaluation) -> list[bool]:
    return [getattr(one, "anchor", None) is not None for one in found.samples.values()]


def test_samples_carry_the_shape_of_two_cheap_models(split: Split, scorers: dict[str, Any]) -> None:
    found = evaluate(scorers, split, design=FIXED, metrics=METRICS, rng=4)
    assert found.borrowed == LINE
    assert LINE in str(found).splitlines()
    assert found.to_dict()["borrowed"] == LINE
    assert found.to_markdown().endswith(f"{LINE.partition(' (')[0]}.")  # a caption gives no advice
    assert found.measured()["anchor"] == LINE
    sample = sample_ranks(scorers["a"], split.test, design="sampled:20", exclude=split.train, rng=4)
    expected = anchored(sample, cheap_ranks(split))
    assert found.samples["a"].to_arrow().equals(expected.to_arrow(), check_metadata=True)
    assert np.array_equal(found.samples["b"].anchor.mass, expected.anchor.mass)  # type: ignore[union-attr]


def test_one_value(split: Split, scorers: dict[str, Any], tmp_path: Path) -> None:
    settings: dict[str, Any] = {"design": FIXED, "metrics": METRICS}
    found = evaluate(scorers, split, out=tmp_path / "run", report=False, **settings)
    values = {name: dict(one.values) for name, one in found.estimates.items()}
    plain = evaluate(scorers, split, anchor=None, **settings)
    assert values != {name: dict(one.values) for name, one in plain.estimates.items()}
    read = Evaluation.read(tmp_path / "run")
    for samples in (found.samples, read.samples):
        estimates = estimate(dict(samples), metrics=METRICS)
        assert {name: dict(one.values) for name, one in estimates.items()} == values
        compared = compare(dict(samples), METRICS, rng=0)
        assert compared.estimate.tolist() == [list(one.values()) for one in values.values()]
    assert str(read) == str(found)
    assert read.to_dict() == found.to_dict()
    for one in values.values():
        assert f"{one['recall@5']:.4f}" in str(found)


@pytest.mark.parametrize(
    "settings",
    [
        {"design": FIXED, "anchor": None},
        {"design": FIXED, "exclude": None},  # training items kept
        {"design": "exact"},
        {"design": "exact", "n_users": 40},
        {"design": "adaptive:5"},
        {"design": "sampled:90"},  # all of them
    ],
)
def test_nothing_is_borrowed(
    split: Split, scorers: dict[str, Any], settings: dict[str, Any]
) -> None:
    found = evaluate(scorers, split, metrics=METRICS, **settings)
    assert not any(borrowed(found))
    assert found.borrowed is None
    assert "shape" not in str(found)


def test_several_targets_borrow_nothing(split: Split, scorers: dict[str, Any]) -> None:
    data = split.train.union(split.test).split("ratio", test=0.3, rng=1)
    found = evaluate(scorers, data, design=FIXED, metrics="recall@5")
    assert not any(borrowed(found))
    with pytest.raises(InputError, match=r"`anchor`.*more than one target"):
        evaluate(scorers, data, design=FIXED, anchor=cheap_ranks(split))


def test_a_shape_of_ones_own(split: Split, scorers: dict[str, Any]) -> None:
    mine = rank(scorers["b"], split.test, exclude=split.train)
    for anchor in (mine, [mine]):
        found = evaluate({"a": scorers["a"]}, split, design=FIXED, anchor=anchor, rng=1)
        sample = sample_ranks(
            scorers["a"], split.test, design="sampled:20", exclude=split.train, rng=1
        )
        assert np.array_equal(found.samples["a"].anchor.mass, anchored(sample, mine).anchor.mass)  # type: ignore[union-attr]
        assert found.borrowed is not None
        assert "given anchor" in found.borrowed


@pytest.mark.parametrize(
    ("anchor", "design", "message"),
    [
        ("svd", FIXED, r"`anchor` must be .*'svd'"),
        (7, FIXED, r"`anchor` must be ExactRanks.*int"),
        ([], FIXED, r"`anchor`.*empty"),
        (ExactRanks.from_ranks([1, 2], n_items=9), "exact", r"`anchor`.*design is exact"),
        (ExactRanks.from_ranks([1, 2], n_items=9), "adaptive", r"`anchor`.*design is adaptive"),
    ],
)
def test_bad_anchors(
    split: Split, scorers: dict[str, Any], anchor: Any, design: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(scorers, split, design=design, anchor=anchor)


def test_excluded_items_are_training_data(split: Split, scorers: dict[str, Any]) -> None:
    whole = evaluate(scorers, split, design=FIXED)
    by_id = evaluate(scorers, split.test, exclude=split.train, design=FIXED)
    rows = split.test.pairs()
    by_row = evaluate(scorers, rows, exclude=csr_array(split.train.matrix()), design=FIXED)
    for found in (by_id, by_row):
        assert found.borrowed == LINE
        assert np.array_equal(found.samples["a"].anchor.mass, whole.samples["a"].anchor.mass)  # type: ignore[union-attr]
    assert not any(borrowed(evaluate(scorers, split.test, design=FIXED)))


def test_excluded_items_that_do_not_know_the_targets() -> None:
    scores = np.random.default_rng(0).random((6, 12))
    few = csr_array(np.eye(6, 12)[:4])  # of four users
    targets = np.arange(6), np.arange(6) + 6
    found = evaluate({"a": scores}, targets, exclude=few, design="sampled:5")
    assert not any(borrowed(found))


@pytest.mark.parametrize(("users", "items"), [([0], [1]), ([0, 1], [1, 1]), ([0, 0], [0, 1])])
def test_too_little_to_learn_from(users: list[int], items: list[int]) -> None:
    ids = {"user_ids": np.arange(3), "item_ids": np.arange(30)}
    train = Interactions.from_arrays(users, items, **ids)
    test = Interactions.from_arrays([0, 1, 2], [7, 8, 9], **ids)
    scores = np.random.default_rng(0).random((3, 30))
    found = evaluate({"a": scores}, Split(train=train, test=test), design="sampled:5")
    assert not any(borrowed(found))
    assert found.borrowed is None


def test_users_who_were_not_learned_from(split: Split) -> None:
    def half(part: Interactions, odd: int) -> Interactions:
        users, items = part.pairs()
        keep = users % 2 == odd
        ids = {"user_ids": part.user_ids, "item_ids": part.item_ids}
        return Interactions.from_arrays(
            part.user_ids[users[keep]], part.item_ids[items[keep]], **ids
        )

    train, fold_in = half(split.train, 0), half(split.train, 1)
    strong = Split(train=train, fold_in=fold_in, test=half(split.test, 1))
    found = evaluate("ease:regularization=20", strong, design=FIXED)
    models = PureSVD(n_factors=9), ItemKNN(n_neighbors=100, shrinkage=10.0)
    scorers = [model.fit(train).scorer(fold_in) for model in models]
    ranks = [rank(one, strong.test, exclude=fold_in) for one in scorers]
    (sample,) = found.samples.values()
    assert np.array_equal(sample.anchor.mass, anchored(sample, ranks).anchor.mass)  # type: ignore[union-attr]


def test_data_too_large_go_without_and_say_so(
    split: Split, scorers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anchors, "MOST_SCORES", 100.0)
    found = evaluate(scorers, split, design=FIXED)
    assert not any(borrowed(found))
    assert found.borrowed == (
        "No anchor is used: exact ranks of PureSVD and ItemKNN would need 1.1e+04 scores each, and "
        "the limit is 1e+02."
    )
    assert found.borrowed in str(found)


def test_too_little_memory(
    split: Split, scorers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str, model: Any, data: Interactions) -> None:
        if name in ("PureSVD", "ItemKNN"):
            raise InputError("`models` must be smaller.")
        check_fit(name, model, data)

    monkeypatch.setattr(anchors.fit_memory, "check_fit", refuse)
    found = evaluate(scorers, split, design=FIXED)
    assert not any(borrowed(found))
    assert found.borrowed is not None
    assert "too little memory" in found.borrowed


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a finished run but the manifest, which tells the time."""
    return {
        path.name: path.read_bytes()
        for path in folder.rglob("*") if path.is_file() and path.name != "run.json"
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("after", [0, 9, 10, 14, 15, 19])  # of 20: two models, two anchors
def test_a_stopped_run_goes_on(
    split: Split, scorers: dict[str, Any], tmp_path: Path, after: int
) -> None:
    settings: dict[str, Any] = {"design": FIXED, "shard_size": 25, "report": False}
    whole = evaluate(scorers, split, out=tmp_path / "whole", **settings)
    out = tmp_path / "run"
    with pytest.raises(StoppedError):
        evaluate(scorers, split, out=out, engine=Breaking(after), **settings)
    rest = Breaking(20 - after)
    again = evaluate(scorers, split, out=out, engine=rest, **settings)
    assert rest.after == 0
    assert content(out) == content(tmp_path / "whole")
    assert str(again) == str(whole)
    read = evaluate(scorers, split, out=out, engine=Breaking(0), **settings)
    assert read.to_dict() == whole.to_dict()


@pytest.mark.slow
def test_another_anchor_is_another_run(
    split: Split, scorers: dict[str, Any], tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"design": FIXED, "report": False, "out": tmp_path / "run"}
    evaluate(scorers, split, **settings)
    for anchor in (None, cheap_ranks(split)[0]):
        with pytest.raises(InputError, match=r"`out`.*anchor \(then: auto; "):
            evaluate(scorers, split, anchor=anchor, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("keep_rows", [True, False])
def test_engines_and_progress(split: Split, scorers: dict[str, Any], keep_rows: bool) -> None:
    alone = evaluate(scorers, split, design=FIXED, engine=Serial(1))
    labels = []

    def steps(label: str) -> Any:
        from contextlib import nullcontext

        labels.append(label)
        return nullcontext(lambda done, total: None)

    for engine in (Serial(2), Processes(2)):
        found = evaluate(
            scorers,
            split,
            design=FIXED,
            engine=engine,
            shard_size=31,
            keep_rows=keep_rows,
            progress=steps,
        )
        for name, sample in alone.samples.items():
            expected = sample if keep_rows else sample.without_rows()
            other = found.samples[name].to_arrow()
            assert other.equals(expected.to_arrow(), check_metadata=True)
    assert "ranking with anchor ItemKNN" in labels


@pytest.mark.slow
def test_estimates_come_nearer_the_exact_values() -> None:
    """On ml-latest-small, over ten draws of 100 candidates, for models that learn from users."""
    split, names = load_split("ml-latest-small"), ("recall@10", "ndcg@10", "ap@10")
    models = {"EASE": EASE(regularization=500), "iALS": IALS()}
    scorers = {name: model.fit(split.train).scorer() for name, model in models.items()}
    whole = evaluate(scorers, split, metrics=names)
    exact = np.array([list(one.values.values()) for one in whole.estimates.values()])
    shape = evaluate(scorers, split, design="sampled:100").samples["EASE"].anchor  # type: ignore[union-attr]
    errors = []
    for seed in range(10):
        plain = evaluate(scorers, split, design="sampled:100", rng=seed, anchor=None).samples
        for samples in (dict(plain), anchored(plain, shape)):
            found = estimate(samples, metrics=names, confidence_level=None)
            values = np.array([list(one.values.values()) for one in found.values()])
            errors.append(np.abs(values / exact - 1.0))
    without, with_shape = (np.mean(errors[start::2], axis=0) for start in (0, 1))
    assert (with_shape < without).all()
    assert with_shape.mean() < 0.7 * without.mean()
