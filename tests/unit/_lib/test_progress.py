"""The line that `progress=True` writes."""

from __future__ import annotations

import pytest

from fullrank._lib import progress


def test_a_line_says_how_long_it_still_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter([0.0, 10.0, 15.0])
    clock = progress.Clock(lambda: next(times))
    monkeypatch.setattr(progress, "Clock", lambda: clock)
    report = progress.reporter(True, "exact ranks")
    assert report is not None
    for done in (0, 25, 50, 100):
        report(done, 100)
    texts = [text for text in capsys.readouterr().err.split("\r") if text.strip()]
    assert texts == [
        "exact ranks: 0 of 100 (0%)",
        "exact ranks: 25 of 100 (25%)",
        "exact ranks: 50 of 100 (50%, 0:10 left)",
        "exact ranks: 100 of 100 (100%)\n",
    ]
