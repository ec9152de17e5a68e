"""Texts and numbers made safe and readable, and the ticks of axes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.reporting import escaping
from fullrank.reporting.figures.figure import Axis, ends, even_ticks, log_ticks, tick_text


def test_what_cannot_be_printed_is_shown_as_such() -> None:
    assert escaping.clean(" a\x00b\u202ec\ud800 \n d ") == r"a\x00b\u202ec\ud800 d"
    assert escaping.clean("模型 ü 🎬 <b>") == "模型 ü 🎬 <b>"


@given(st.text())
def test_clean_text_can_be_written_and_is_one_line(text: str) -> None:
    found = escaping.clean(text)
    assert len(found.encode("utf-8").decode("utf-8").splitlines()) <= 1
    assert found == escaping.clean(found)


@given(st.text())
def test_json_in_a_script_says_the_same_and_cannot_end_it(text: str) -> None:
    found = escaping.script_json({"name": text})
    assert not set(found) & set("<>&\u2028\u2029")
    assert json.loads(found) == {"name": text}


def test_json_has_no_nan() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        escaping.script_json([float("nan")])


def test_numbers_have_the_digits_asked_for() -> None:
    assert escaping.number(0.12345, 3) == "0.123"
    assert escaping.number(None) == escaping.number(float("nan")) == "–"


def test_no_probability_is_called_certain() -> None:
    assert [escaping.percent(p) for p in (0.0, 0.005, 0.5, 0.95, 0.999, 1.0)] == [
        "under 1 %", "under 1 %", "50 %", "95 %", "over 99 %", "over 99 %",
    ]  # fmt: skip


def test_long_names() -> None:
    assert escaping.short("a" * 28) == "a" * 28
    assert escaping.short("a" * 29) == "a" * 27 + "…"


def test_ticks_of_log_axes() -> None:
    assert log_ticks(1, 100)[1] == ["1", "2", "5", "10", "20", "50", "100"]
    assert log_ticks(1, 9066)[1] == ["1", "10", "100", "1,000"]
    assert log_ticks(0.002, 0.13, percent=True)[1] == [
        "0.2 %", "0.5 %", "1 %", "2 %", "5 %", "10 %",
    ]  # fmt: skip
    assert len(log_ticks(1, 1e9)[0]) <= 8
    assert [tick_text(x) for x in (0.01, 1, 10_000, 1e5, 2e6, 1e9)] == [
        "0.01", "1", "10,000", "100k", "2M", "1G",
    ]  # fmt: skip


def test_even_ticks_are_round_and_few() -> None:
    assert even_ticks(0.0, 1.0)[1] == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert even_ticks(-0.06, 0.17)[1] == ["−0.05", "0.00", "0.05", "0.10", "0.15"]
    assert even_ticks(0.0, 0.18, percent=True)[1][:3] == ["0 %", "2 %", "4 %"]
    for low, high in ((0.0, 1e-9), (3.0, 3.1), (-5.0, 7e6)):
        ticks, texts = even_ticks(low, high)
        assert 3 <= len(ticks) <= 11
        assert len(set(texts)) == len(texts)


def test_axes_end_around_their_numbers() -> None:
    low, high = ends(Axis(title=""), [(1.0, None, 3.0)])
    assert low < 1.0
    assert high > 3.0
    assert ends(Axis(title="", low=0.0, high=1.0), [(5.0,)]) == (0.0, 1.0)
    low, high = ends(Axis(title="", log=True), [(0.0, 10.0)])
    assert 0.0 < low < 10.0 < high
    assert ends(Axis(title=""), [(None,)])[0] < ends(Axis(title=""), [(None,)])[1]
