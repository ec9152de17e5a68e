"""Tests against the real packages of others.

FULLRANK_REQUIRE_PACKAGES=implicit,cornac   a test of one of these fails where it is not installed
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

REQUIRED = set(filter(None, os.environ.get("FULLRANK_REQUIRE_PACKAGES", "").split(",")))


@pytest.fixture(scope="session")
def package() -> Callable[[str, str], ModuleType]:
    """``package("surprise", "scikit-surprise")`` gives the installed module of a distribution.

    Without it the test is skipped, or fails if FULLRANK_REQUIRE_PACKAGES names the module.
    """
    return _package


def _package(name: str, distribution: str) -> ModuleType:
    if importlib.util.find_spec(name) is None:
        if name in REQUIRED:
            pytest.fail(f"{name} must be installed here", pytrace=False)
        pytest.skip(f"{name} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what they import
        module = importlib.import_module(name)
    found = importlib.metadata.distribution(distribution)
    assert module.__file__ is not None
    assert Path(module.__file__).is_relative_to(Path(str(found.locate_file(""))))
    assert getattr(module, "__version__", found.version) == found.version
    return module
