"""The figures: the same numbers drawn as SVG and by matplotlib."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import fullrank as fr
from fullrank.errors import InputError
from fullrank.reporting import Report
from fullrank.reporting.escaping import outward
from fullrank.reporting.figures.canvas import NARROW, SMALL, WIDE, Scale, apart
from fullrank.reporting.figures.draw_svg import draw
from fullrank.reporting.figures.figure import Axis, Figure, Series, dash_of, mark_of
from fullrank.reporting.figures.legend import entries, key, places
from fullrank.reporting.figures.rank_figures import spread_at
from fullrank.reporting.figures.tips import tips
from fullrank.samples import simulate

LAYOUTS = (WIDE, NARROW, SMALL)
SVG = "{http://www.w3.org/2000/svg}"


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
    assert fixed.plot(axes, figure="recall") is axes
    line = axes.lines[0]
    model = fixed.models[fixed.order[0]]
    np.testing.assert_allclose(line.get_ydata(), [one.estimate for _, one in model.curve])


def _read(figure: Figure, layout: Any = WIDE) -> ElementTree.Element:
    return ElementTree.fromstring(draw(figure, layout))


def _scales(svg: ElementTree.Element) -> list[Scale]:
    found = []
    for side in ("data-x", "data-y"):
        *ends, kind = svg.attrib[side].split()
        low, high, first, last = map(float, ends)
        found.append(Scale(low=low, high=high, first=first, last=last, log=kind == "log"))
    return found


def _series(svg: ElementTree.Element) -> list[ElementTree.Element]:
    return [one for one in svg.iter(f"{SVG}g") if "clip-path" in one.attrib]


def _points(one: ElementTree.Element) -> np.ndarray:
    """The ends of the strokes of a line."""
    steps = next(path.attrib["d"] for path in one.iter(f"{SVG}path") if "stroke" in path.attrib)
    return np.array(re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", steps), float)


def test_both_draw_the_same_numbers(fixed: Report) -> None:
    figure = fixed.figures["recall"]
    svg, axes = _read(figure), fixed.plot(figure="recall")
    x, y = _scales(svg)
    assert len(_series(svg)) == len(axes.lines) == len(figure.series)
    for one, line in zip(_series(svg), axes.lines, strict=True):
        drawn = _points(one)
        numbers = [[x(a), y(b)] for a, b in zip(line.get_xdata(), line.get_ydata(), strict=True)]
        np.testing.assert_allclose(drawn, numbers[: len(drawn)], atol=0.06)
        assert len(drawn) >= np.sum(np.array(line.get_xdata()) <= x.high)


def test_a_metric_has_a_row_for_each_model_the_best_on_top(fixed: Report) -> None:
    figure = fixed.figures["metrics"]
    assert figure.y.labels == ("old", "new")  # drawn from below
    new = figure.series[1]
    value = fixed.models[1].values["recall@10"]
    assert (new.x, new.low, new.high) == ((value.estimate,), (value.low,), (value.high,))
    assert new.strong
    assert not figure.series[0].strong
    assert figure.series[-1].kind == "stroke"
    assert figure.series[-1].x == tuple(
        fixed.models[place].values["recall@10"].exact for place in (0, 1)
    )
    texts = [one for one in _read(figure).iter(f"{SVG}text") if "font-size" not in one.attrib]
    bold = [one.text for one in texts if one.attrib.get("font-weight") == "650"]
    assert bold[0] == "new"
    assert bold[1].startswith(f"{value.estimate:.4f} (")


@pytest.mark.parametrize("layout", LAYOUTS, ids=[one.name for one in LAYOUTS])
def test_drawings_are_well_formed_and_stay_inside(
    fixed: Report, hostile: Report, many: Report, layout: Any
) -> None:
    for report in (fixed, hostile, many):
        for figure in report.figures.values():
            svg = _read(figure, layout)
            assert svg.attrib["aria-label"] == figure.alternative
            width, height = map(float, svg.attrib["viewBox"].split()[2:])
            for one in svg.iter(f"{SVG}text"):
                assert 0 <= float(one.attrib["x"]) <= width, one.text
            assert {one.attrib.get("display") for one in _series(svg)} <= {None, "none"}
            assert height >= 80
            assert "nan" not in draw(figure, layout)


def test_many_models_can_be_told_apart(many: Report) -> None:
    looks = {(i % 8, mark_of(i), dash_of(i)) for i in range(64)}
    assert len({look[:2] for look in looks}) == 64
    recall = many.figures["recall"]
    assert sum(bool(one.low) and one.band for one in recall.series) == 1
    shown = [one.legend for one in many.figures["ranks"].series if not one.hidden]
    best = many.figures["metrics"].y.labels[::-1][:4]
    assert sorted(shown) == sorted(best)
    chances = many.figures["winner"]
    assert len(chances.y.labels) == len(many.models)
    assert sum(sum(one.x) for one in chances.series) == pytest.approx(1.0)
    assert entries(chances) == []  # the rows have the names


def test_names_at_ends_of_lines_do_not_overlap() -> None:
    places = apart([5.0, 5.0, 50.0, 5.5, 99.0], 10.0, 0.0, 100.0)
    assert np.diff(sorted(places)).min() >= 10.0 - 1e-9
    assert places[2] == 50.0
    assert min(places) >= 0.0
    assert max(apart([98.0, 99.0], 10.0, 0.0, 100.0)) == 100.0
    assert apart([], 10.0, 0.0, 100.0) == []


def test_every_point_has_a_label(fixed: Report) -> None:
    for figure in fixed.figures.values():
        found = tips(figure)
        assert len(found) == len(figure.series)
        assert all(text for points in found for *_, text in points)
    x, _, text = tips(fixed.figures["recall"])[1][0]
    one = fixed.models[fixed.order[1]].curve[0][1]
    assert x == 1
    assert text == f"K = 1: {one.estimate:.4f}\ninterval {one.low:.4f} to {one.high:.4f}"


def test_a_model_has_one_colour_everywhere(fixed: Report) -> None:
    for name in ("recall", "ranks", "blind-spot", "winner"):
        colours = {
            one.name: one.colour for one in fixed.figures[name].series if one.colour != "exact"
        }
        assert colours == {"old": 0, "new": 1}, name


def test_names_are_text_in_drawings(hostile: Report) -> None:
    figure = hostile.figures["metrics"]
    told = [one.text for one in _read(figure).iter(f"{SVG}text")]
    assert "<script>alert(1)</script>" in told
    for one in hostile.figures.values():
        tags = {node.tag.removeprefix(SVG) for node in _read(one).iter()}
        assert tags <= {"svg", "g", "defs", "clipPath", "rect", "path", "text"}


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
        fixed.plot(figure="efficiency")
    with pytest.raises(InputError, match=r"`format`.*'png', 'svg'.*'gif'"):
        fixed.save_figures(tmp_path, format="gif")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"`folder`.*file"):
        fixed.save_figures(tmp_path / "file")
    with pytest.raises(InputError, match=r"`kind`.*'pie'"):
        Series(name="a", kind="pie", x=(), y=())


def test_a_figure_without_any_number_can_be_drawn() -> None:
    from fullrank.reporting.figures import draw_matplotlib

    series = Series(name="a", kind="line", x=(1.0, 2.0), y=(None, None), legend="a")
    axis = Axis(title="")
    figure = Figure(
        name="none", section="recall", title="", reading="", alternative="", x=axis, y=axis,
        series=(series,),
    )  # fmt: skip
    draw_matplotlib.draw(figure).figure.canvas.draw()
    assert _scales(_read(figure))[1].high > 0


def test_a_model_may_have_the_name_of_another_entry(kit: Any) -> None:
    names = ("exact ranks", "blind spot", "exact value", "naive", "m", "m, exact")
    truth = {name: kit.ranks_of(2.0 + at / 2, seed=at) for at, name in enumerate(names)}
    samples = {
        name: kit.named(simulate(ranks, n_items=kit.n_items, design="sampled:100", rng=0))
        for name, ranks in truth.items()
    }
    exact = {name: kit.exact_ranks(ranks) for name, ranks in truth.items()}
    report = fr.report(samples, exact=exact, metrics="recall@10", rng=0)
    for figure in report.figures.values():
        shown, where = entries(figure), places(figure)
        for one in figure.series:
            at = where[key(one)]
            if at < 0:  # named by its row
                assert one.legend in figure.y.labels or one.name.startswith("lead over")
                continue
            assert shown[at].label == one.legend
            assert isinstance(shown[at].series.colour, int) == isinstance(one.colour, int)
    assert [one.label for one in entries(report.figures["metrics"])] == ["exact value"]
    blind = [one.label for one in entries(report.figures["blind-spot"])]
    assert blind.count("blind spot") == blind.count("exact ranks") == 2
    ranks = report.figures["ranks"]
    assert ranks.head.count("m, exact") == 2
    assert {len(row) for row in ranks.rows} == {len(ranks.head)}


def test_a_model_beside_one_without_a_curve_keeps_its_colour(kit: Any) -> None:
    several = fr.estimate(kit.several_targets(), "recall@10")
    single = simulate(kit.ranks_of(3.0), n_items=kit.n_items, design="sampled:100", rng=0)
    given = {"several": replace(several, also={}), "single": fr.estimate(single, "recall@10")}
    figures = fr.report(given, bounds=False, rng=0).figures
    for name in ("metrics", "recall", "ranks"):
        (found,) = {one.colour for one in figures[name].series if one.name == "single"}
        assert found == 1, name


def test_bands_are_below_every_line_and_lines_end_with_the_axis(fixed: Report) -> None:
    svg = _read(fixed.figures["recall"])
    drawn = [one for one in svg if one.tag == f"{SVG}g" and "data-legend" in one.attrib]
    bands = [at for at, one in enumerate(drawn) if one.find(f"{SVG}g[@class='band']") is not None]
    assert bands == [0, 1]
    assert [one.attrib["data-legend"] for one in drawn[:4]] == ["0", "1", "0", "1"]
    clips = {one.attrib["id"]: one[0].attrib for one in svg.iter(f"{SVG}clipPath")}
    line = next(one for one in drawn[2] if one.tag == f"{SVG}path" and "stroke" in one.attrib)
    end = clips[line.attrib["clip-path"][5:-1]]
    assert float(end["x"]) + float(end["width"]) == pytest.approx(_scales(svg)[0].last, abs=0.1)


def test_columns_of_numbers_without_any_are_not_shown(fixed: Report, many: Report) -> None:
    assert fixed.figures["metrics"].head[-1] == fixed.figures["recall-1"].head[-1] == "exact"
    for figure in (*fixed.figures.values(), *many.figures.values()):
        columns = list(zip(*figure.rows, strict=True))
        assert len(columns) == len(figure.head)
    assert "–" not in {cell for row in many.figures["metrics"].rows for cell in row}


def test_whiskers_of_one_k_are_on_one_side_of_the_shade() -> None:
    assert spread_at([1, 3, 10], 1.0) == 1.15  # K is where the shade ends: as near as can be told
    assert spread_at([10, 30, 300], 91.0) == 1.5
    found = spread_at([30, 100, 300], 91.0)
    assert 1.15 < found < 1.5
    assert 100 / found**0.5 >= 91.0 - 1e-9


def test_names_above_rows_are_not_crossed(fixed: Report) -> None:
    """On a phone names are above their intervals, and upright lines run only beside these."""
    svg = _read(fixed.figures["differences"], NARROW)
    names = [float(one.attrib["y"]) for one in svg.iter(f"{SVG}text") if "stroke" in one.attrib]
    assert names
    for one in svg.iter(f"{SVG}path"):
        for top, bottom in re.findall(r"M[\d.]+ ([\d.]+)V([\d.]+)", one.attrib["d"]):
            assert not any(float(top) < at < float(bottom) for at in names)


def test_bounds_are_bounds_as_they_are_printed(fixed: Report) -> None:
    model = fixed.models[1]
    known = dict(model.whiskers)
    rows = [row for row in fixed.figures["blind-spot"].rows if row[0] == model.name]
    assert len(rows) == len(known)
    for _, k, least, most, *_ in rows:
        one = known[int(k)]
        assert float(least) <= one.least
        assert one.most <= float(most) < one.most + 1e-4
    for metric, members in fixed.groups():
        row = next(row for row in members if row[0] == model.name)
        shown = row[fixed.columns().index("bounds")].split(" … ")
        one = model.values[metric]
        assert float(shown[0]) <= one.least
        assert one.most <= float(shown[1]) < one.most + 1e-3
        if metric == fixed.metrics[0]:
            assert f"bounds on the value are {' to '.join(shown)}." in " ".join(fixed.summary)
    assert outward(0.415, 0.415) == ("0.415", "0.415")


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda one: one.name)
def test_long_names_that_begin_alike_are_told_apart(layout: Any) -> None:
    names = [f"{'a long name of a model ' * 3}{place}" for place in range(4)]
    rows = [
        Series(name=name, kind="interval", x=(0.5,), y=(float(place),), low=(0.4,), high=(0.6,),
               legend=name, beside=("0.5000 (0.4000 to 0.6000)",), strong=place == 3)
        for place, name in enumerate(names)
    ]  # fmt: skip
    figure = Figure(
        name="metrics", section="answer", title="t", reading="", alternative="a", beside=("v",),
        x=Axis(title="x"), y=Axis(title="", labels=tuple(names)), series=tuple(rows),
    )  # fmt: skip
    shown = [one for one in _read(figure, layout).iter(f"{SVG}text") if "…" in (one.text or "")]
    assert len({one.text for one in shown}) == 4
    plain, strong = (
        [one.text for one in shown if one.get("font-weight") == weight] for weight in (None, "650")
    )
    assert len(strong[0]) < min(map(len, plain))  # bold text is wider


def test_what_buttons_do_is_not_on_paper(many: Report) -> None:
    for name in ("recall", "ranks"):
        figure = many.figures[name]
        assert "name of another model" in figure.live or "another name" in figure.live
        assert "utton" not in figure.reading
        assert "another" not in figure.reading


def test_bars_have_no_outline_of_the_light_page(many: Report, fixed: Report) -> None:
    for report in (many, fixed):
        for box in _read(report.figures["winner"]).iter(f"{SVG}rect"):
            assert "stroke" not in box.attrib


def test_tips_of_the_last_bin_say_its_share() -> None:
    ranks = fr.ExactRanks.from_ranks(np.arange(1, 3001), n_items=3000, user=np.arange(3000))
    report = fr.report({"a": ranks}, metrics="recall@5")
    figure = report.figures["ranks"]
    *_, (_, _, last) = [tip for tip in tips(figure)[0] if "ranks" in tip[2]]
    assert "ranks 2,048–3,000: 31.8 %" in last
    assert figure.rows[-1] == ("2,048–3,000", "31.77 %")


def test_the_text_of_the_recall_figure_compares_at_one_cut_off() -> None:
    """Ranks up to 10 have a curve up to K = 10, and others one with other cut-offs."""
    random = np.random.default_rng(0)
    scores, users = random.random((2, 300, 900)), np.arange(300)
    ranks = {
        "top": fr.rank(scores[0], (users, users), max_rank=10, order="random"),
        "all": fr.rank(scores[1] + np.eye(300, 900), (users, users)),
    }
    says = fr.report(ranks, metrics="recall@10").figures["recall"].alternative
    found = re.search(r"At K = (\d+): (.*)\.$", says)
    assert found is not None
    k = int(found[1])
    for name, one in ranks.items():
        assert f"{name} {one.metrics(f'recall@{k}')[f'recall@{k}']:.3f}" in found[2]
