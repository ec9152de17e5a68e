"""Optional packages: what is missing is named with the line that installs it."""

from __future__ import annotations

import sys

import pyarrow as pa
import pytest

from fullrank._lib import extras
from fullrank.errors import MissingExtraError


def test_a_missing_package_is_named_with_its_extra() -> None:
    with pytest.raises(MissingExtraError, match=r'needs no_such: pip install "fullrank\[plot\]"'):
        extras.load("no_such.part", extra="plot", purpose="Drawing")


def test_frames_need_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"rank": [1]})
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"`to_frame` needs pandas: pip install pandas"):
        extras.frame(table)
