"""Models that are trained by epochs get the validation part that says something of them."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from fullrank import models
from fullrank.errors import DataWarning, InputError
from fullrank.evaluation.train import train_model


@pytest.mark.parametrize(
    ("model", "split", "judged"),
    [
        ("embedding-mf:epochs=2,n_factors=4", "leave-one-out:valid=1", True),
        ("multi-dae:epochs=2,n_factors=4", "leave-one-out:valid=1", True),
        ("embedding-mf:epochs=2,n_factors=4", "strong:valid=0.1", False),
        ("multi-dae:epochs=2,n_factors=4", "strong:valid=0.1", True),
        ("embedding-mf:epochs=2,n_factors=4", "none", False),
    ],
)
def test_what_is_validated(model, split, judged, tmp_path: Path, need) -> None:
    need("torch")
    path = tmp_path / "model.safetensors"
    with warnings.catch_warnings():
        # users of a strong split have random vectors, of which the scorer warns
        warnings.simplefilter("ignore", DataWarning)
        train_model("simulated", model, path, split=split)
    history = models.load(path).history_
    assert history.loss.size == 2
    assert (history.best_metric is not None) is judged


@pytest.mark.parametrize(
    ("split", "says"),
    [
        ("non", r"`split` must be one of 'auto', 'given', 'none', .*, not 'non'"),
        ("none:by=last", r"`split` must not have settings for none; got 'none:by=last'"),
    ],
)
def test_a_split_that_is_none_of_them(split: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says):
        train_model("simulated", "popularity", tmp_path / "model.safetensors", split=split)
