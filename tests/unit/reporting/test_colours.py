"""Contrast of the page's colours: 4.5 for text, 3 for lines and marks (WCAG 2, AA)."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from fullrank.reporting.figures.canvas import PAPER
from fullrank.reporting.figures.draw_matplotlib import COLOURS
from fullrank.reporting.figures.figure import N_COLOURS


def _schemes() -> dict[str, dict[str, str]]:
    style = (
        resources.files("fullrank.reporting").joinpath("templates/report.css").read_text("utf-8")
    )
    blocks = re.findall(r":root[^{]*\{([^}]*)\}", style)
    return {
        name: dict(re.findall(r"(--\w+): (#[0-9a-f]{6})", block))
        for name, block in zip(("light", "dark"), blocks, strict=True)
    }


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    low, high = sorted(map(_luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


def test_the_formula_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_can_be_read(scheme: str) -> None:
    colours = _schemes()[scheme]
    for name in ("--text", "--quiet", "--accent"):
        assert contrast(colours[name], colours["--page"]) >= 4.5, name
    assert contrast(colours["--text"], colours["--tint"]) >= 4.5
    lines = ["--naive", "--exact", *(f"--m{place}" for place in range(N_COLOURS))]
    for name in lines:
        assert contrast(colours[name], colours["--page"]) >= 4.5, name  # of names and of shares
        assert contrast(colours[name], colours["--shade"]) >= 3.0, name  # whiskers stand on it


def test_drawings_have_the_colours_of_the_light_page() -> None:
    assert {f"--{name}": colour for name, colour in PAPER.items()}.items() <= _schemes()[
        "light"
    ].items()


def test_matplotlib_has_as_many_colours_that_stand_out_on_white() -> None:
    assert len(COLOURS) == N_COLOURS
    assert all(contrast(colour, "#ffffff") >= 3.0 for colour in COLOURS)
