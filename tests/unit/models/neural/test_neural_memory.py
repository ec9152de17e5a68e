"""What training takes: said before, refused where there is not as much, and near what is taken."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from fullrank.data import Interactions, simulate
from fullrank.errors import InputError
from fullrank.evaluation.fit_memory import check_fit
from fullrank.models import CDAE, EmbeddingMF, LightGCN, MultiDAE, MultiVAE, NeuMF

MODELS = (CDAE, EmbeddingMF, LightGCN, MultiDAE, MultiVAE, NeuMF)


@pytest.fixture(scope="module")
def data() -> Interactions:
    return simulate(n_users=100, n_items=60, mean_interactions=12)


@pytest.mark.parametrize("model", MODELS)
def test_more_than_there_is_is_refused_before_anything_is_made(
    data: Interactions,
    model: type,
    monkeypatch: pytest.MonkeyPatch,
    need: Callable[[str], ModuleType],
) -> None:
    need("torch")
    monkeypatch.setattr("fullrank._lib.memory.limit", lambda: 20_000)
    what = f"{model.__name__} of 100 users and 60 items would take"
    with pytest.raises(InputError, match=rf"`(n_factors|batch_size)`.*{what}"):
        model(epochs=1).fit(data)
    with pytest.raises(InputError, match=r"`models`.*mine.*\b60\b"):
        check_fit("mine", model(), data)


@pytest.mark.parametrize("model", MODELS)
def test_it_grows_with_what_is_asked_for(data: Interactions, model: type) -> None:
    plain = model(batch_size=32).memory(data)
    assert model(batch_size=64).memory(data) > plain
    assert model(batch_size=32, n_factors=1000).memory(data) > plain
    assert model(batch_size=32).memory(data, validated=True) > plain


def test_the_blamed_is_what_takes_most(data: Interactions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullrank._lib.memory.limit", lambda: 20_000)
    with pytest.raises(InputError, match=r"`n_factors`.*MiB"):
        CDAE(n_factors=10_000, batch_size=1).fit(data)
    with pytest.raises(InputError, match=r"`batch_size`.*KiB"):
        CDAE(n_factors=1, batch_size=100).fit(data)


def test_negatives_that_a_batch_shares_take_less(data: Interactions) -> None:
    settings: dict[str, Any] = {"loss": "ccl", "n_negatives": 500, "batch_size": 512}
    shared = EmbeddingMF(**settings, shared_negatives=True).memory(data)
    assert shared < EmbeddingMF(**settings).memory(data)
    assert EmbeddingMF(**settings | {"loss": "debiased-ccl"}).memory(data) > (
        EmbeddingMF(**settings).memory(data)
    )


# the highest resident set while it trains, beyond what is there after a small training
TAKEN = """
import pathlib, sys
import numpy as np, torch
from fullrank import models
from fullrank.data import Interactions, simulate

model = getattr(models, sys.argv[1])
settings = {name: int(value) for name, value in (one.split("=") for one in sys.argv[2].split(","))}
n_users, n_items = settings.pop("users"), settings.pop("items")
torch.set_num_threads(1)
model(epochs=1, **settings | {"batch_size": 64}).fit(simulate(n_users=300, n_items=200))
users, items = np.repeat(np.arange(n_users), 20), np.arange(20 * n_users) * 7 % n_items
data = Interactions.from_arrays(users, items)
pathlib.Path("/proc/self/clear_refs").write_text("5")
before = int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096
trained = model(epochs=1, **settings)
trained.fit(data)
status = pathlib.Path("/proc/self/status").read_text()
most = int(status.split("VmHWM:")[1].split()[0]) * 1024
print((most - before) / trained.memory(data))
"""


@pytest.mark.breadth
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
@pytest.mark.parametrize(
    ("model", "settings"),
    [
        ("CDAE", "users=1000,items=20000,batch_size=1000"),
        ("EmbeddingMF", "users=2000,items=5000,batch_size=4096,n_negatives=800"),
        ("LightGCN", "users=20000,items=20001,batch_size=400000,n_layers=2"),
        ("MultiVAE", "users=1000,items=20000,batch_size=500"),
        ("NeuMF", "users=20000,items=20001,batch_size=65536,n_factors=128"),
    ],
)
def test_it_is_near_what_is_taken(
    model: str, settings: str, need: Callable[[str], ModuleType]
) -> None:
    need("torch")
    command = [sys.executable, "-c", TAKEN, model, settings]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    share = float(run.stdout)
    assert 0.5 < share < 1.8
