"""`RankMetric` on torchmetrics and without it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture(scope="session")
def plain_metric() -> type[Any]:
    """The class that is made where torchmetrics is not installed."""
    pytest.importorskip("torch")
    import fullrank.torch

    path = Path(fullrank.torch.__file__).parent / "rank_metric.py"
    spec = importlib.util.spec_from_file_location("plain_rank_metric", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where pickle looks for the class
    find = importlib.util.find_spec
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            importlib.util, "find_spec", lambda name: None if name == "torchmetrics" else find(name)
        )
        spec.loader.exec_module(module)
    assert "torchmetrics" not in {base.__module__.split(".")[0] for base in module.RankMetric.mro()}
    found: type[Any] = module.RankMetric
    return found


@pytest.fixture(scope="session")
def metric_on_torchmetrics(need: Callable[[str], ModuleType]) -> type[Any]:
    need("torch")
    torchmetrics = need("torchmetrics")
    from fullrank.torch import RankMetric

    assert issubclass(RankMetric, torchmetrics.Metric)
    return RankMetric


@pytest.fixture(params=["plain_metric", "metric_on_torchmetrics"])
def rank_metric(request: pytest.FixtureRequest) -> type[Any]:
    """Either class."""
    found: type[Any] = request.getfixturevalue(request.param)
    return found
