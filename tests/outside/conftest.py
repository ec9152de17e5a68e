"""Plug-ins are loaded for a test and taken out again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fullrank import designs, estimators, metrics, models, scorers
from fullrank._lib.names import plugins

collect_ignore = ["plugins"]  # which register something when they are imported
FOLDER = Path(__file__).parent / "plugins"
REGISTERED = {
    "my_design": (designs, "two_stage"),
    "my_estimator": (estimators, "short_em"),
    "my_metric": (metrics, "rbp"),
    "my_model": (models, "cooccurrence"),
    "my_scorer": (scorers, "exported"),
}


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave the environment, the modules and the registries as they were."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(plugins, "_loaded", {})
    for variable in (plugins.VARIABLE, "PYTHONPATH"):  # set, so that they are put back
        monkeypatch.setenv(variable, "")
        monkeypatch.delenv(variable)
    yield
    for module, (home, name) in REGISTERED.items():
        if sys.modules.pop(module, None) is not None:
            home.unregister(name)


@pytest.fixture
def loaded(clean: None) -> None:
    """All five plug-ins."""
    plugins.load([FOLDER / f"{name}.py" for name in REGISTERED])
