import json
import sys
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from fullrank.data import Split, simulate
from fullrank.errors import InputError
from fullrank.models import EASE, IALS, LRR, MF, GridSearch, Popularity, grid_search
from fullrank.models.low_rank import spectrum as spectral
from fullrank.ranking import rank

GRID = {"n_factors": [3, 12], "regularization": [5.0, 500.0]}


@pytest.fixture(scope="module")
def split() -> Split:
    return simulate(n_users=200, n_items=100, mean_interactions=15).split(rng=0)


@pytest.fixture(scope="module")
def found(split: Split) -> GridSearch:
    return grid_search(
        LRR, split.train, split.test,
        grid=GRID, metrics=["recall@10", "ndcg@10"], exclude=split.train,
    )  # fmt: skip


def test_every_combination_in_order(found: GridSearch) -> None:
    assert found.names == ("n_factors", "regularization")
    assert found.combinations == ((3, 5.0), (3, 500.0), (12, 5.0), (12, 500.0))
    assert found.values.shape == (4, 2)
    assert (found.seconds > 0).all()
    assert not found.values.flags.writeable


@pytest.mark.parametrize("kind", [LRR, MF])
def test_one_decomposition_gives_what_each_model_gives(
    kind: type[LRR] | type[MF], split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = {"n_factors": [3, 12], "regularization": [0.5, 2.0]}
    expected = [
        rank(kind(n_factors=k, regularization=strength).fit(split.train), split.test)
        for k in grid["n_factors"]
        for strength in grid["regularization"]
    ]
    calls = []
    plain = spectral.spectrum
    module = sys.modules["fullrank.models.grid_search"]  # the package has the function's name
    monkeypatch.setattr(module, "spectrum", lambda data, k: calls.append(k) or plain(data, k))
    monkeypatch.setattr(spectral, "spectrum", None)
    found = grid_search(kind, split.train, split.test, grid=grid, metrics="auc")
    assert calls == [12]
    wanted = [one.metrics("auc")["auc"] for one in expected]
    np.testing.assert_allclose(found.values[:, 0], wanted, rtol=1e-6)
    assert len(set(wanted)) == 4


def test_other_models_are_fitted_one_by_one(split: Split) -> None:
    found = grid_search(
        EASE, split.train, split.test, grid={"regularization": [1.0, 100.0]}, metrics="ndcg@20"
    )
    for at, strength in enumerate([1.0, 100.0]):
        ranks = rank(EASE(regularization=strength).fit(split.train), split.test)
        assert found.values[at, 0] == ranks.metrics("ndcg@20")["ndcg@20"]


def test_the_first_metric_decides(found: GridSearch, split: Split) -> None:
    assert found.best == int(np.argmax(found.values[:, 0]))
    best = dict(zip(found.names, found.combinations[found.best], strict=True))
    assert found.best_settings == best
    model = found.fit(split.train)
    assert repr(model) == repr(LRR(**best))
    ranks = rank(model, split.test, exclude=split.train)
    assert ranks.metrics("recall@10")["recall@10"] == pytest.approx(found.values[found.best, 0])


def test_settings_for_all(split: Split) -> None:
    found = grid_search(
        IALS, split.train, split.test,
        grid={"unobserved_weight": [0.1, 0.5]}, settings={"n_factors": 4, "epochs": 1},
    )  # fmt: skip
    assert found.best_settings | {"unobserved_weight": 0} == {
        "n_factors": 4, "epochs": 1, "unobserved_weight": 0,
    }  # fmt: skip


def test_any_function_that_makes_a_model(split: Split) -> None:
    found = grid_search(lambda name: Popularity(), split.train, split.test, grid={"name": ["x"]})
    assert found.combinations == (("x",),)


def test_progress(split: Split) -> None:
    told = []
    grid_search(
        MF, split.train, split.test, grid={"n_factors": [1, 2]}, progress=lambda *a: told.append(a)
    )
    assert told == [(1, 2), (2, 2)]


def test_tables(found: GridSearch, need: Callable[[str], ModuleType]) -> None:
    lines = str(found).splitlines()
    assert lines[0] == "LRR: 4 combinations; * marks the best"
    assert lines[1].split() == ["n_factors", "regularization", "recall@10", "ndcg@10", "seconds"]
    assert [line.startswith("*") for line in lines[2:]].index(True) == found.best
    content = json.loads(json.dumps(found.to_dict()))
    assert content["format"] == 1
    assert content["model"] == "LRR"
    assert content["best_settings"] == found.best_settings
    assert content["combinations"][1]["regularization"] == 500.0
    assert found.to_arrow().column_names[:3] == ["n_factors", "regularization", "recall@10"]
    need("pandas")
    assert found.to_frame().shape == (4, 5)
    assert found.to_markdown().splitlines()[2 + found.best].startswith("| **")
    assert r"n\_factors & regularization" in found.to_latex()
    assert found._repr_html_().count("<tr") == 5
    assert found._repr_html_().count("<b>") == 5


def test_texts_are_escaped(split: Split) -> None:
    found = grid_search(
        lambda name: Popularity(), split.train, split.test, grid={"name": ["<script>"]}
    )
    assert "<script>" not in found._repr_html_()
    assert "&lt;lambda&gt;" in found._repr_html_()


def test_plot(found: GridSearch, need: Callable[[str], ModuleType]) -> None:
    need("matplotlib")
    axes = found.plot()
    assert [line.get_label() for line in axes.lines] == ["n_factors=3", "n_factors=12"]
    assert axes.get_xlabel() == "regularization"
    assert axes.get_ylabel() == "recall@10"
    np.testing.assert_array_equal(axes.lines[1].get_ydata(), found.values[2:, 0])


def test_plot_of_lists(split: Split, need: Callable[[str], ModuleType]) -> None:
    need("matplotlib")
    grid = {"first": [[1, 2], [3]], "last": [[0], [0, 1], None]}
    found = grid_search(lambda first, last: Popularity(), split.train, split.test, grid=grid)
    axes = found.plot()
    assert [line.get_label() for line in axes.lines] == ["first=[1, 2]", "first=[3]"]
    assert list(axes.lines[0].get_xdata(orig=True)) == ["[0]", "[0, 1]", "None"]


# ---- users who were not learned from ----


@pytest.fixture(scope="module")
def strong() -> Split:
    return simulate(n_users=200, n_items=100, mean_interactions=15).split("strong", rng=0)


@pytest.mark.parametrize("kind", [EASE, LRR])
def test_a_history_is_scored_and_excluded(kind: type, strong: Split) -> None:
    grid = {"regularization": [1.0, 100.0]}
    history = strong.history
    found = grid_search(kind, strong.train, strong.test, grid=grid, history=history)
    kept = grid_search(
        kind, strong.train, strong.test, grid=grid, history=history, exclude=strong.train
    )
    for at, strength in enumerate(grid["regularization"]):
        scorer = kind(regularization=strength).fit(strong.train).scorer(history)
        for values, exclude in ((found.values, history), (kept.values, strong.train)):
            ranks = rank(scorer, strong.test, exclude=exclude)
            assert values[at, 0] == pytest.approx(ranks.metrics("ndcg@10")["ndcg@10"])
    assert (found.values > kept.values).all()


@pytest.mark.parametrize("name", ["interactions", "history"])
def test_users_of_whom_nothing_is_known(name: str, strong: Split) -> None:
    history = strong.train if name == "history" else None
    made = []
    for targets in (strong.test, strong.test.pairs()):
        with pytest.raises(
            InputError, match=rf"`{name}`.*`targets`.*\b20\b.*`history=split\.history`"
        ):
            grid_search(made.append, strong.train, targets, grid={"name": ["x"]}, history=history)
    assert made == []


def test_a_history_is_checked_before_anything_is_fitted(strong: Split) -> None:
    with pytest.raises(InputError, match=r"`history`.*None.*\bSplit\b"):
        grid_search(EASE, strong.train, strong.test, grid={"regularization": [1]}, history=strong)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"grid": {}}, r"`grid`.*empty"),
        (
            {"grid": {"n_factors": []}},
            r"`grid`.*'n_factors'",
        ),
        (
            {"grid": {"n_factors": [1]}, "settings": {"n_factors": 2}},
            r"`settings`.*'n_factors'",
        ),
        (
            {"grid": {"rank": [1]}},
            r"`grid`.*`settings`.*MF.*n_factors, regularization.*'rank'",
        ),
    ],
)
def test_bad_grids(arguments: dict[str, dict[str, object]], message: str, split: Split) -> None:
    with pytest.raises(InputError, match=message):
        grid_search(MF, split.train, split.test, **arguments)
