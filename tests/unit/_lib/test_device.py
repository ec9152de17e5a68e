"""The argument `device` where there is no GPU, or nothing to reach one with."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from fullrank._lib.device import on_gpu
from fullrank.errors import InputError, MissingExtraError
from fullrank.ranking import rank, sample_ranks
from fullrank.scorers import FactorScorer

SCORER = FactorScorer(np.eye(3), np.arange(600.0).reshape(200, 3))
FUNCTIONS = pytest.mark.parametrize("function", [rank, sample_ranks])


@FUNCTIONS
def test_a_machine_without_a_gpu(function, need, monkeypatch):
    torch = need("torch")
    need("triton")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match=r'`device`.*"cpu".*GPU'):
        function(SCORER, ([0], [1]), device="cuda")


def test_a_gpu_that_is_not_there(need, monkeypatch):
    torch = need("torch")
    need("triton")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    for device in ("cuda:2", "cuda:256"):  # whose number torch cuts to eight bits, all of them 0
        with pytest.raises(InputError, match=rf"`device`.*below 2,.*available GPUs.*'{device}'"):
            rank(SCORER, ([0], [1]), device=device)


@FUNCTIONS
@pytest.mark.parametrize("missing", ["torch", "triton"])
def test_what_must_be_installed(function, missing, need, monkeypatch):
    need("torch")
    monkeypatch.setitem(sys.modules, missing, None)
    told = rf'Ranking on a GPU needs {missing}: pip install "fullrank\[cuda\]"'
    with pytest.raises(MissingExtraError, match=told):
        function(SCORER, ([0], [1]), device="cuda")


@pytest.mark.parametrize(
    ("device", "expected"), [(None, False), ("cpu", False), ("cuda", True), ("cuda:3", True)]
)
def test_what_asks_for_a_gpu(device, expected):
    assert on_gpu(device) is expected


def test_devices_of_torch_are_taken(need):
    torch = need("torch")
    assert [on_gpu(torch.device(name)) for name in ("cpu", "cuda", "cuda:1")] == [False, True, True]


@FUNCTIONS
def test_the_cpu_can_be_named(function):
    named = function(SCORER, ([0], [1]), ties="best", rng=1, device="cpu")
    usual = function(SCORER, ([0], [1]), ties="best", rng=1)
    assert str(named) == str(usual)


def test_ranking_without_a_gpu_loads_neither_torch_nor_triton():
    code = """if True:
        import sys
        import numpy as np
        from fullrank.scorers import FactorScorer
        from fullrank.ranking import rank
        rank(FactorScorer(np.eye(3), np.eye(3)), ([0], [1]))
        assert not {"torch", "triton"} & set(sys.modules), "loaded"
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_evaluation_asks_for_its_gpu_before_it_trains(need, monkeypatch):
    from fullrank.evaluation import evaluate

    torch = need("torch")
    need("triton")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match=r'`device`.*"cpu".*GPU'):
        evaluate(["no model at all"], ([0], [1]), device="cuda")
