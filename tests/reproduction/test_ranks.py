"""The stored ranks: the content of the files, the choice of settings, and resuming."""

from __future__ import annotations

import argparse
import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from fullrank.data import Interactions
from fullrank.errors import InputError
from fullrank.inference.estimation.doubts import size_doubt
from fullrank.models import EASE
from fullrank.samples import RankSample, simulate
from reproduction import runner
from reproduction.aaai2023 import study as aaai2023
from reproduction.common import bank
from reproduction.kdd2020 import books
from reproduction.ranks import data, fit, settings, study
from reproduction.user_sampling import study as user_sampling

ROOT = Path(__file__).parents[2]
ENDS = ("", "-excluded")
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


@pytest.fixture
def content(stored: Any) -> Any:
    return stored("ranks")


def at_10(ranks: np.ndarray) -> dict[str, float]:
    """Recall, NDCG and AP at 10 with one target, in thousandths."""
    hits = ranks[ranks <= 10].astype(float)
    sums = {
        "recall@10": hits.size,
        "ndcg@10": (1 / np.log2(hits + 1)).sum(),
        "ap@10": (1 / hits).sum(),
    }
    return {name: 1000 * float(total) / ranks.size for name, total in sums.items()}


def test_every_data_set_has_whole_ranks_of_the_five_models() -> None:
    assert bank.MODELS == ("EASE", "itemKNN", "iALS", "MultiVAE", "NeuMF")
    sizes = {
        "ml-1m": (3706, 6040),
        "pinterest-20-part": (9916, 37501),
        "citeulike-a": (16980, 5551),
        "yelp-diffnet": (37378, 10622),
        "ml-latest-small": (9066, 671),
    }
    assert tuple(sizes) == bank.DATA
    for name, (n_items, n_users) in sizes.items():
        kept, excluded = bank.bank(name), bank.bank(name, excluded=True)
        assert tuple(kept) == tuple(excluded) == bank.MODELS
        for model in bank.MODELS:
            ranks, without = kept[model].ranks, excluded[model].ranks
            assert ranks.shape == without.shape == (n_users,)
            assert kept[model].n_items == excluded[model].n_items == n_items
            assert ranks.dtype.kind == "i"
            assert without.min() >= 1
            assert ranks.max() <= n_items
            # a training item less can only lift the target
            assert (without <= ranks).all()
            assert (without < ranks).any()


def test_ease_has_the_reference_figures() -> None:
    assert at_10(bank.bank("ml-1m")["EASE"].ranks)["recall@10"] == pytest.approx(35.26, abs=0.01)
    found = at_10(bank.bank("pinterest-20-part")["EASE"].ranks)
    assert found == pytest.approx({"recall@10": 48.99, "ndcg@10": 24.29, "ap@10": 16.93}, abs=0.03)
    found = at_10(bank.bank("pinterest-20-part", excluded=True)["EASE"].ranks)
    assert found == pytest.approx({"recall@10": 71.86, "ndcg@10": 35.63, "ap@10": 24.81}, abs=0.03)


def test_the_files_are_small() -> None:
    kept = [bank.FOLDER / f"{name}{end}.npz" for name in bank.DATA for end in ENDS]
    assert sum(path.stat().st_size for path in kept) < 1_000_000


def test_a_data_set_that_is_not_kept() -> None:
    with pytest.raises(
        InputError, match=r"`data` must be one of ml-1m, .*; got netflix.npz"
    ) as one:
        bank.bank("netflix")
    # other files of the folder are not ranks of five models
    assert "gowalla" not in str(one.value)
    assert "ml-latest-small" in str(one.value)


def test_what_was_kept_is_read_again(tmp_path: Path) -> None:
    kept = {"EASE": np.array([3.0, 70_000.0]), "NeuMF": np.array([1.0, 2.0])}
    excluded = {"EASE": np.array([1.0, 69_000.0]), "NeuMF": np.array([1.0, 1.0])}
    bank.keep_bank("two", kept, excluded, 80_000, folder=tmp_path)
    for flag, wanted in ((False, kept), (True, excluded)):
        again = bank.bank("two", excluded=flag, folder=tmp_path)
        assert {model: one.ranks.tolist() for model, one in again.items()} == {
            model: ranks.tolist() for model, ranks in wanted.items()
        }
        assert {one.n_items for one in again.values()} == {80_000}
    with pytest.raises(InputError, match="`ranks` must be whole numbers"):
        bank.keep_bank(
            "half", {"EASE": np.array([1.5])}, {"EASE": np.array([1.0])}, 9, folder=tmp_path
        )


def test_the_figures_are_those_of_the_ranks(content: dict[str, Any]) -> None:
    assert [one["name"] for one in content["data"]] == list(bank.DATA)
    for one in content["data"]:
        for excluded in (False, True):
            ranks = bank.bank(one["name"], excluded=excluded)
            for model in one["models"]:
                found = model["excluded" if excluded else "kept"]
                assert found == pytest.approx(at_10(ranks[model["model"]].ranks), abs=1e-6)


def test_the_best_on_the_validation_items_is_chosen(content: dict[str, Any]) -> None:
    searched = 0
    for model in (model for one in content["data"] for model in one["models"]):
        if model["source"] is None:
            best = max(tried["metrics"]["recall@10"] for tried in model["tried"])
            [own] = [t for t in model["tried"] if t["settings"] == model["settings"]]
            assert own["metrics"]["recall@10"] == best
            searched += 1
        else:
            assert not model["tried"]
    # all but the five of ml-1m, and EASE on pinterest
    assert searched == 25 - 5 - 1


def test_published_values(content: dict[str, Any]) -> None:
    items = {one["data"]: one["item"] for one in content["exact"]}
    assert items == {
        "ml-1m": "004 Table 2",
        "pinterest-20-part": "004 Table 6",
        "citeulike-a": "004 Table 3",
        "yelp-diffnet": "004 Table 7",
    }
    for compared in content["exact"]:
        [one] = [one for one in content["data"] if one["name"] == compared["data"]]
        pairs = [
            (model["published"][name], model["kept"][name])
            for model in one["models"]
            for name in ("recall@10", "ndcg@10", "ap@10")
        ]
        assert compared == study._compared(one)
        assert compared["cells"] == 15
        assert compared["within"] == sum(abs(ours / theirs - 1) <= 0.15 for theirs, ours in pairs)


def _fit(kind: str, model: str, settings: dict[str, Any], recall: float) -> dict[str, Any]:
    named = {"kind": kind, "data": "citeulike-a", "model": model, "settings": settings}
    return named | {"metrics": {"recall@10": recall}}


def test_settings_are_tried_before_the_best_is_tested(tmp_path: Path) -> None:
    asked = fit.Asked(cache=tmp_path, data=("citeulike-a",), models=("EASE",))
    first = fit.left([], asked)
    assert [one["kind"] for one in first] == ["validation"] * 5
    grid = [one["settings"] for one in first]
    found = [_fit("validation", "EASE", one, 50.0 - at) for at, one in enumerate(grid)]
    assert [one["settings"] for one in fit.left(found[1:], asked)] == grid[:1]
    [test] = fit.left(found, asked)
    assert (test["kind"], test["settings"]) == ("test", grid[0])
    # out of time: the best of those tried, if any
    [test] = fit.left(found[2:4], asked, settle=True)
    assert (test["kind"], test["settings"]) == ("test", grid[2])
    assert len(fit.left([], asked, settle=True)) == 5
    # a test counts once its ranks are there
    done = [*found, _fit("test", "EASE", grid[0], 40.0)]
    assert len(fit.left(done, asked)) == 1
    fit.ranks_file(tmp_path, "citeulike-a", "EASE").write_bytes(b"")
    assert fit.left(done, asked) == []


def test_ml_1m_takes_what_other_studies_found(stored: Any) -> None:
    before = settings.found_before
    assert before("ml-1m", "EASE") == {
        "settings": {"regularization": 1500.0},
        "source": "reference",
    }
    for model, source in (("itemKNN", "ml1m_models"), ("iALS", "ml1m_ials")):
        assert before("ml-1m", model)["source"] == source
    for model in ("MultiVAE", "NeuMF"):
        [one] = [one for one in stored("ml1m_neural")["models"] if one["model"] == model]
        found = before("ml-1m", model)
        assert found["settings"] == one["best"]
        assert len(found["rates"]) == one["epochs"]
    assert before("citeulike-a", "NeuMF") is None


def test_no_item_is_both_learned_and_asked_for() -> None:
    here = data.world("ml-latest-small")
    for learned, asked in ((here.train, here.valid), (here.whole, here.test)):
        assert learned.union(asked).n_interactions == learned.n_interactions + asked.n_interactions


def test_one_item_of_each_user() -> None:
    targets = Interactions.from_arrays(
        [0, 0, 0, 2, 3, 3], [0, 1, 2, 1, 0, 4], user_ids=np.arange(5), item_ids=np.arange(5)
    )
    seen = set()
    for seed in range(40):
        users, items = data.one_of_each(targets, seed=seed).pairs()
        assert users.tolist() == [0, 2, 3]
        seen.add(tuple(items.tolist()))
    assert seen == {(a, 1, b) for a in (0, 1, 2) for b in (0, 4)}


@pytest.mark.slow
def test_ease_by_torch_is_ease(need: Callable[[str], ModuleType]) -> None:
    need("torch")
    from reproduction.ranks.models import ease_by_torch

    random = np.random.default_rng(0)
    few = Interactions.from_arrays(*np.nonzero(random.random((200, 80)) < 0.2))
    made = ease_by_torch(few, 30.0, "cpu")
    known = EASE(regularization=30.0).fit(few)
    np.testing.assert_allclose(made.weights_, known.weights_, rtol=1e-6, atol=1e-9)


@pytest.fixture
def further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Small files as the publishers give them out: 40 users, who have 20 of 50 items each."""
    random, folder = np.random.default_rng(0), tmp_path / "data"
    have = [(u, t, i) for u in range(40) for t, i in enumerate(random.permutation(50)[:20])]
    films = [f"{u},{i},{3 + (t + i) % 3},{100 + t}" for u, t, i in have]
    books = [f'"{u}";"{i:010}";"{i % 11}"' for u, _, i in have]
    pairs = [(t, f"{u}\t{i}\t1\t{100 + t}") for u, t, i in have]
    files = {
        "ml-20m/ratings.csv": ["userId,movieId,rating,timestamp", *films],
        "book-crossing/BX-Book-Ratings.csv": ['"User-ID";"ISBN";"Book-Rating"', *books],
        "yelp/yelp.train.rating": [line for t, line in pairs if t < 19],
        "yelp/yelp.test.rating": [line for t, line in pairs if t == 19],
    }
    for name, lines in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="latin1")
    for end in ("train", "test"):
        (folder / "pinterest-20").mkdir(exist_ok=True)
        shutil.copy(
            folder / "yelp" / f"yelp.{end}.rating",
            folder / "pinterest-20" / f"pinterest-20.{end}.rating",
        )
    named = {"FULLRANK_DATA": str(folder), "FULLRANK_CACHE": str(tmp_path / "cache")}
    for variable, value in named.items():
        monkeypatch.setenv(variable, value)
    return named


def test_further_data_are_split(further: dict[str, str]) -> None:
    names = bank.FURTHER
    assert set(data.SPLITS) == {*bank.DATA, *names}
    for name in names:
        found = data.world(name)
        assert found.test.user_counts().tolist() == found.valid.user_counts().tolist() == [1] * 40
        assert found.train.n_interactions + 40 == found.whole.n_interactions
        both = found.whole.union(found.test).n_interactions
        assert both == found.whole.n_interactions + 40
    films = data.world("ml-20m")
    # of 20 items a third has 3 stars and does not count; the last that counts is the test
    assert 40 * 12 < films.whole.n_interactions + 40 < 40 * 15
    assert films.test.timestamps.min() > films.valid.timestamps.min() > 110
    assert data.world("yelp").whole.n_interactions == 40 * 19
    assert data.world("pinterest-20").whole.n_items == 9916  # as its publisher counts them


def test_no_matrix_of_all_books(tmp_path: Path) -> None:
    assert bank.models_of("ml-20m") == bank.MODELS
    asked = fit.Asked(cache=tmp_path, data=("book-crossing", "ml-20m"), quick=True)
    tasks = fit.left([], asked)
    by = {name: {t["model"] for t in tasks if t["data"] == name} for name in asked.data}
    assert by["book-crossing"] == set(bank.MODELS) - {"EASE"}
    assert by["ml-20m"] == set(bank.MODELS)
    assert fit.expected(tasks) == len(tasks) + 4 + 5


def test_studies_take_what_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = {"NeuMF": np.array([1, 5]), "EASE": np.array([2, 2])}
    for name in ("ml-1m", "ml-20m", "book-crossing"):
        bank.keep_bank(name, ranks, ranks, 9, folder=tmp_path)
    monkeypatch.setattr(bank, "FOLDER", tmp_path)
    found = bank.banks(False, ())
    assert list(found) == ["ml-20m", "ml-1m"]
    assert list(found["ml-1m"]) == ["EASE", "NeuMF"]
    assert list(aaai2023.banks(False, ())) == list(user_sampling.banks(False, ()))
    monkeypatch.setattr(books, "FOLDER", tmp_path)
    monkeypatch.setattr(books, "bank", lambda name: bank.bank(name, folder=tmp_path))
    assert books.books(tmp_path / "cache").ranks.tolist() == [1, 5]


@pytest.mark.slow
@pytest.mark.verify
def test_ranks_of_further_data_are_added_to_the_others(
    quick: Any,
    stored: Any,
    tmp_path: Path,
    further: dict[str, str],
    need: Callable[[str], ModuleType],
) -> None:
    need("torch")
    need("matplotlib")
    there = stored("ranks")
    (tmp_path / "ranks.json").write_text(json.dumps(there), encoding="utf-8")
    content = quick("ranks", "--data", "book-crossing", **ONE_THREAD, **further)
    assert len(_made(quick)) == 2 + 2 + 1 + 1 + 4
    assert [one["name"] for one in content["data"]] == [
        *bank.DATA,
        "book-crossing",
    ]
    assert content["data"][:-1] == there["data"]
    assert content["exact"] == there["exact"]
    assert content["seconds"] > there["seconds"]
    found = bank.bank("book-crossing", folder=tmp_path / "ranks")
    assert list(found) == ["itemKNN", "iALS", "MultiVAE", "NeuMF"]
    assert {one.ranks.size for one in found.values()} == {40}
    # the same again adds nothing
    again = quick("ranks", "--data", "book-crossing", **ONE_THREAD, **further)
    assert _made(quick) == []
    assert again["data"] == content["data"]
    assert again["seconds"] == pytest.approx(content["seconds"], abs=0.2)


def test_data_sets_are_in_order_and_further_ones_are_kept(tmp_path: Path) -> None:
    names = bank.DATA
    model = {"seconds": 1.0, "tried": [{"seconds": 2.0}]}

    def one(name: str, found: int) -> dict[str, Any]:
        return {"name": name, "found": found, "models": [model]}

    there = {"data": [one(name, 0) for name in (*names, "ml-20m")], "seconds": 30.0}
    (tmp_path / "ranks.json").write_text(json.dumps(there), encoding="utf-8")
    asked = argparse.Namespace(out=tmp_path, data=["ml-1m"])
    both, before = study._beside([one("ml-1m", 1)], asked)
    assert [each["name"] for each in both] == [*names, "ml-20m"]
    assert [each["found"] for each in both] == [int(name == "ml-1m") for name in (*names, "ml-20m")]
    assert before == 27.0
    asked.data = None
    both, before = study._beside([one(name, 1) for name in names], asked)
    assert [each["found"] for each in both] == [1] * len(names) + [0]
    assert before == 30.0 - 3.0 * len(names)


def test_a_model_that_was_not_fitted_is_named(
    tmp_path: Path,
    need: Callable[[str], ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    need("torch")
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    folder = str(tmp_path)
    options = ["--quick", "--budget", "0", "--out", folder, "--cache", folder]
    assert runner.main(["run", "ranks", *options]) == 2
    err = capsys.readouterr().err
    assert err.startswith("The ranks of EASE on ml-latest-small were not made: ")


def _made(quick: Any) -> list[str]:
    """The fits of the last quick run."""
    return [line for line in quick.printed.splitlines() if not line.startswith("Written to")]


@pytest.mark.slow
@pytest.mark.verify
def test_quick_and_resumed(quick: Any, tmp_path: Path, need: Callable[[str], ModuleType]) -> None:
    need("torch")
    need("matplotlib")
    content = quick("ranks", **ONE_THREAD)
    assert len(_made(quick)) == 1 + 2 + 2 + 1 + 1 + 5  # settings, and a test of each model
    [one] = content["data"]
    for excluded in (False, True):
        ranks = bank.bank("ml-latest-small", excluded=excluded, folder=tmp_path / "ranks")
        for model in one["models"]:
            found = model["excluded" if excluded else "kept"]
            assert found == pytest.approx(at_10(ranks[model["model"]].ranks), abs=1e-6)
    # stopped while a line was written: that fit alone is made again, and is the same
    path = tmp_path / "bank-quick" / "fits.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    at = next(at for at, line in enumerate(lines) if '"test"' in line and "itemKNN" in line)
    path.write_text("\n".join([*lines[:at], *lines[at + 1 :], lines[at][:40]]) + "\n", "utf-8")
    again = quick("ranks", **ONE_THREAD)
    assert len(_made(quick)) == 1
    assert [m["kept"] for m in again["data"][0]["models"]] == [m["kept"] for m in one["models"]]


@pytest.mark.parametrize("name", bank.DATA)
@pytest.mark.parametrize("excluded", [False, True])
def test_a_right_sample_size_is_not_questioned(name: str, excluded: bool) -> None:
    """And one ten times too large is, for the models that have targets at the end of the list."""
    wrong = 0
    known = bank.bank(name, excluded=excluded)
    for one in known.values():
        sample = simulate(
            one.ranks, n_items=one.n_items, design="sampled:100,replacement=true", rng=0
        )
        assert size_doubt(sample) is None
        assert sample.rows is not None
        said = RankSample.from_ranks(
            sample.rows.rank,
            sample_size=1000,
            n_items=one.n_items,
            design="sampled:replacement=true",
        )
        wrong += size_doubt(said) is not None
    assert wrong >= 2
