"""What is recognised as another library's model, and what only a fake can show: a GPU."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import fullrank as fr
from fullrank.errors import InputError, NotFittedError
from fullrank.scorers import CallableScorer
from fullrank.scorers.foreign import recognise
from fullrank.scorers.foreign.recognise import LIBRARIES, recognised

RNG = np.random.default_rng(0)
USERS, ITEMS = RNG.normal(size=(4, 3)).astype(np.float32), RNG.normal(size=(6, 3))


def of(module, name, bases=(), **contents):
    """A class that says it comes from a module."""
    return type(name, bases, {"__module__": module, **contents})


RECOMMENDER = of("implicit.recommender_base", "RecommenderBase")


class OnGpu:
    """implicit.gpu.Matrix: no array, and a method that copies it to the host."""

    def __init__(self, values):
        self.values = values

    def to_numpy(self):
        return self.values


def test_factors_on_a_gpu_are_copied() -> None:
    kind = of("implicit.gpu.als", "AlternatingLeastSquares", (RECOMMENDER,))
    model = kind()
    model.user_factors, model.item_factors = OnGpu(USERS), OnGpu(ITEMS.astype(np.float32))
    scorer = fr.as_scorer(model)
    assert np.array_equal(scorer.user_factors, USERS)
    assert np.array_equal(scorer.item_factors, ITEMS.astype(np.float32))
    model.user_factors = OnGpu(np.arange(4))
    with pytest.raises(InputError, match=r"as user_factors; this .* has int64 of shape \(4"):
        fr.as_scorer(model)


def test_attributes_of_the_libraries_are_not_misread() -> None:
    """`factors` of implicit is a number, `n_items` and `scores` may be anything."""
    kind = of(
        "implicit.cpu.als", "ALS", (RECOMMENDER,), factors=3, n_items=99, scores=lambda self: 1
    )
    model = kind()
    model.user_factors, model.item_factors = USERS, ITEMS
    assert fr.as_scorer(model).n_items == 6


@pytest.mark.parametrize(
    ("method", "value"),
    [("factors", (USERS, ITEMS)), ("item_scores", np.arange(6.0))],
)
def test_a_class_of_ones_own_that_says_how_it_scores_is_believed(method, value) -> None:
    class Mine(RECOMMENDER):
        n_users, n_items = 4, 6
        user_factors = item_factors = None  # not fitted, were it implicit's

    setattr(Mine, method, lambda self: value)
    assert recognised(Mine()) is None
    assert fr.as_scorer(Mine()).scores([1]).shape == (1, 6)


def test_a_class_of_ones_own_that_says_nothing_is_the_librarys() -> None:
    class Mine(RECOMMENDER):
        user_factors, item_factors = USERS, ITEMS

    assert fr.as_scorer(Mine()).n_users == 4


@pytest.mark.parametrize("library", sorted(LIBRARIES))
def test_what_is_no_model_of_a_library_is_read_as_before(library) -> None:
    offers = {"n_users": 4, "n_items": 6, "factors": lambda self: (USERS, ITEMS)}
    holder = of(f"{library}.data", "Dataset", **offers)
    assert recognised(holder()) is None
    assert fr.as_scorer(holder()).n_items == 6


def test_our_own_scorers_and_arrays_are_not_looked_at() -> None:
    for thing in (fr.FactorScorer(USERS, ITEMS), USERS, [[1.0]], print, object()):
        assert recognised(thing) is None


def test_no_library_is_imported() -> None:
    """Not before one of its models is given."""
    fr.as_scorer(fr.FactorScorer(USERS, ITEMS))
    names = [*LIBRARIES, "torch"]
    code = f"import sys, fullrank.scorers; print([m for m in {names!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_error_without_ids_names_what_to_call() -> None:
    class Mine(RECOMMENDER):
        user_factors, item_factors = USERS, ITEMS

    data = fr.Interactions.from_arrays(["a", "b"], ["x", "y"], item_ids=[*"uvwxyz"])
    advice = r"`scorer` must have user_ids.*: use fr\.as_scorer\(model, user_ids=…, item_ids=…\)\.$"
    with pytest.raises(InputError, match=advice):
        fr.rank(Mine(), data)
    with pytest.raises(InputError, match=r": use FactorScorer\(…, user_ids=…\)\.$"):
        fr.rank(fr.FactorScorer(USERS, ITEMS), data)


def test_models_without_factors_get_a_sentence() -> None:
    kind = of("implicit.nearest_neighbours", "CosineRecommender", (RECOMMENDER,), similarity=None)
    with pytest.raises(InputError, match=r"which CosineRecommender from implicit does not store"):
        fr.as_scorer(kind())
    other = of("implicit.new", "Unheard", (RECOMMENDER,))
    with pytest.raises(InputError, match="Unheard has no user_factors"):
        fr.as_scorer(other())
    unfitted = of("implicit.cpu.lmf", "LMF", (RECOMMENDER,), user_factors=None, item_factors=None)
    with pytest.raises(NotFittedError, match=r"this LMF from implicit is not. Call its `fit`"):
        fr.as_scorer(unfitted())


def test_biases_are_not_taken_for_the_estimates_of_another_algorithm(monkeypatch) -> None:
    """KNNBaseline has biases of items, and where few ratings are its estimates may be these."""
    predictions = SimpleNamespace(PredictionImpossible=LookupError)
    name = "surprise.prediction_algorithms.predictions"
    monkeypatch.setitem(sys.modules, name, predictions)
    trainset = SimpleNamespace(
        n_users=4, n_items=6, to_raw_uid=lambda row: row, to_raw_iid=lambda row: row
    )
    base = of("surprise.prediction_algorithms.algo_base", "AlgoBase", trainset=trainset)
    biases = {"bi": np.arange(6.0), "estimate": lambda self, user, item: float(item)}
    kinds = {
        name: of("surprise.prediction_algorithms", name, (base,), **biases)
        for name in ("BaselineOnly", "KNNBaseline")
    }
    own = of("mine", "BaselineOnly", (kinds["BaselineOnly"],), estimate=biases["estimate"])
    fitted = of("mine", "Fitted", (kinds["BaselineOnly"],))
    assert type(fr.as_scorer(kinds["BaselineOnly"]())) is fr.ItemScorer
    assert type(fr.as_scorer(fitted())) is fr.ItemScorer
    for kind in (kinds["KNNBaseline"], own):
        assert type(fr.as_scorer(kind())) is CallableScorer


def test_a_model_of_recbole_is_ranked_by_its_integration() -> None:
    base = of("recbole.model.abstract_recommender", "AbstractRecommender")
    kind = of("recbole.model.general_recommender.neumf", "NeuMF", (base,))
    with pytest.raises(
        InputError, match=r"NeuMF uses: call fullrank\.integrations\.recbole\.rank\("
    ):
        fr.as_scorer(kind())


def test_advice_names_what_exists() -> None:
    """Errors say what to write instead, in names that can be imported."""
    folder = Path(recognise.__file__).parent
    advice = {
        name
        for file in folder.glob("*.py")
        for name in re.findall(r"\b(?:fr|fullrank)((?:\.\w+)+)\(", file.read_text("utf-8"))
    }
    assert ".scorers.CallableScorer" in advice
    for name in advice:
        importlib.import_module("fullrank.integrations.recbole")
        assert callable(attrgetter(name[1:])(fr)), name
