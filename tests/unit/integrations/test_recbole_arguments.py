"""What can be said without RecBole; tests/integrations tries RecBole itself."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import fullrank.integrations
from fullrank.errors import InputError
from fullrank.integrations import recbole
from fullrank.integrations.recbole_compatibility import change


@pytest.mark.parametrize("function", [recbole.rank, recbole.sample])
def test_what_is_not_of_recbole_is_refused(function) -> None:
    with pytest.raises(InputError, match=r"`test_data` must be a RecBole data loader.*list"):
        function(object(), [1, 2])


def test_a_trainer_is_needed() -> None:
    loader = type("FullSortEvalDataLoader", (), {"__module__": "recbole.data.dataloader"})()
    with pytest.raises(InputError, match=r"`trainer` must be a RecBole Trainer.*dict"):
        recbole.rank({}, loader)


def test_a_missing_checkpoint_is_named(tmp_path) -> None:
    pytest.importorskip("torch")
    loader = type("FullSortEvalDataLoader", (), {"__module__": "recbole.data.dataloader"})()
    trainer = type("AbstractTrainer", (), {"__module__": "recbole.trainer"})()
    trainer.model = SimpleNamespace(full_sort_predict=print, modules=list)
    trainer.saved_model_file = str(tmp_path / "BPR.pth")
    with pytest.raises(InputError, match=r"`load_best_model`.*BPR\.pth does not exist"):
        recbole.rank(trainer, loader, load_best_model=True)


def test_names_come_from_modules_that_are_loaded_when_used() -> None:
    assert fullrank.integrations.recbole is recbole
    assert "recbole" in dir(fullrank.integrations)
    with pytest.raises(AttributeError, match="elliot"):
        _ = fullrank.integrations.elliot


def test_modules_loaded_before_are_changed_and_put_back(monkeypatch) -> None:
    module = ModuleType("recbole.data.loaded_before")
    module.np = np
    monkeypatch.setitem(sys.modules, module.__name__, module)
    finders = [*sys.meta_path]
    with recbole.compatible() as outer:
        assert module.np.float_ is np.float64
        assert module.np.bool8 is np.bool_
        assert module.np.linalg is np.linalg
        with recbole.compatible():
            assert module.np.float_ is np.float64
        assert module.np is not np  # the outer call still needs it
        outer.undo()
        assert module.np is np
    assert module.np is np
    assert sys.meta_path == finders
    assert not hasattr(np, "float_")


def test_a_name_that_is_another_library_stays() -> None:
    module = ModuleType("recbole.model.own")
    module.np = "mine"
    change(module)
    assert module.np == "mine"


def test_graphs_are_made_from_pairs_of_numbers() -> None:
    from scipy import sparse

    module = ModuleType("recbole.model.general_recommender.graph")
    module.sp = sparse
    changes = recbole.compatible()
    change(module)
    matrix = module.sp.dok_matrix((3, 4), dtype=np.float32)
    matrix._update({(0, 1): 1, (2, 3): 2})
    changes.undo()
    assert module.sp is sparse
    assert matrix.tocsr().toarray().tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]]
