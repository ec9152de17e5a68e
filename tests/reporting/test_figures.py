"""The figures: the same numbers drawn by plotly and by matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.errors import InputError
from fullrank.reporting import Report
from fullrank.reporting.figures.draw_plotly import spec
from fullrank.reporting.figures.figure import Axis, Figure, Series


@pytest.fixture(autouse=True)
def _drawable(need: Any) -> None:
    need("matplotlib")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Glyph")  # fonts without Chinese
def test_matplotlib_draws_every_figure(fixed: Report, hostile: Report) -> None:
    for report in (fixed, hostile):
        for name, figure in report.figures.items():
            axes = report.plot(figure=name)
            assert axes.get_xscale() == ("log" if figure.x.log else "linear")
            drawn = len(axes.lines) + len(axes.collections) + len(axes.patches)
            assert drawn >= sum(not one.hidden for one in figure.series), name
            axes.figure.canvas.draw()  # texts that matplotlib cannot read would fail here


def test_given_axes_are_drawn_on(fixed: Report) -> None:
    import matplotlib.pyplot as plt

    axes = plt.subplots()[1]
    assert fixed.plot("recall", axes) is axes
    line = axes.lines[0]
    model = fixed.models[0]
    np.testing.assert_allclose(line.get_ydata(), [one.estimate for _, one in model.curve])


def test_both_draw_the_same_numbers(fixed: Report) -> None:
    figure = fixed.figures["recall"]
    traces = [one for one in spec(figure)["data"] if one["name"]]
    axes = fixed.plot("recall")
    assert len(traces) == len(axes.lines) == len(figure.series)
    for trace, line in zip(traces, axes.lines, strict=True):
        np.testing.assert_allclose(trace["x"], line.get_xdata())
        np.testing.assert_allclose(trace["y"], line.get_ydata())


def test_a_model_has_one_colour_everywhere(fixed: Report) -> None:
    for name in ("recall", "ranks", "blind-spot", "winner"):
        colours = {
            one.name: one.colour for one in fixed.figures[name].series if one.colour != "exact"
        }
        assert colours == {"old": 0, "new": 1}, name


def test_names_reach_plotly_without_markup(hostile: Report) -> None:
    for figure in hostile.figures.values():
        for trace in spec(figure)["data"]:
            assert "<" not in trace["name"]
            assert not set("<>") & set("".join(trace.get("ticktext", ())))
    ticks = spec(hostile.figures["differences"])["layout"]["yaxis"]["ticktext"]
    assert not any("<" in tick for tick in ticks)
    assert any("&lt;script&gt;" in tick for tick in ticks)


@pytest.mark.slow
@pytest.mark.parametrize("format", ["png", "svg"])
def test_every_figure_can_be_saved(fixed: Report, tmp_path: Path, format: str) -> None:
    paths = fixed.save_figures(tmp_path / "new", format=format)
    assert [path.name for path in paths] == [f"{name}.{format}" for name in fixed.figures]
    starts = {"png": b"\x89PNG", "svg": b"<?xml"}[format]
    assert all(path.read_bytes().startswith(starts) for path in paths)
    assert len(list((tmp_path / "new").iterdir())) == len(paths)


def test_what_is_not_there_is_named(fixed: Report, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"`figure`.*'recall'.*'efficiency'"):
        fixed.plot("efficiency")
    with pytest.raises(InputError, match=r"`format`.*'png', 'svg'.*'gif'"):
        fixed.save_figures(tmp_path, format="gif")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"`folder`.*file"):
        fixed.save_figures(tmp_path / "file")
    with pytest.raises(InputError, match=r"`kind`.*'pie'"):
        Series(name="a", kind="pie", x=(), y=())


def test_a_figure_without_any_number_can_be_drawn() -> None:
    from fullrank.reporting.figures.draw_matplotlib import draw

    series = Series(name="a", kind="line", x=(1.0, 2.0), y=(None, None), legend="a")
    axis = Axis(title="")
    figure = Figure(
        name="none", section="recall", title="", reading="", alternative="", x=axis, y=axis,
        series=(series,),
    )  # fmt: skip
    draw(figure).figure.canvas.draw()
    assert spec(figure)["layout"]["yaxis"]["range"][1] > 0
