"""The page in a real browser: drawn, quiet, inert, narrow, accessible."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from fullrank.reporting import Report
from fullrank.reporting.figures.canvas import Scale
from fullrank.reporting.parts import tables
from fullrank.reporting.sections import sections

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SVG = "{http://www.w3.org/2000/svg}"
Visit = Callable[..., Any]


@pytest.fixture(scope="module")
def light(visit: Visit, pages: dict[str, Path]) -> Any:
    return visit(pages["fixed"])


def test_nothing_is_said_on_the_console_and_no_request_leaves(light: Any) -> None:
    assert light.console == []
    assert light.requests == []


def test_every_figure_is_drawn_at_one_size(light: Any, fixed: Report) -> None:
    figures = light.page.locator("figure[data-figure]")
    names = [figures.nth(place).get_attribute("data-figure") for place in range(figures.count())]
    assert sorted(names) == sorted(fixed.figures)
    for name in names:
        shown = light.page.locator(f'[data-figure="{name}"] svg.drawing:visible')
        assert shown.count() == 1, name
        groups = shown.locator("g[clip-path]")
        assert groups.count() == len(fixed.figures[name].series)


def test_pointing_at_a_figure_shows_a_label(light: Any) -> None:
    tip = _point(light.page, "recall", "old", 10.0)
    assert tip.text_content().startswith("old\nK = 10: 0.")
    assert "interval 0." in tip.text_content()
    assert light.page.locator('[data-figure="recall"] .ring').count() == 1
    tip = _point(light.page, "metrics", "new")
    assert tip.text_content().startswith("new\n0.")
    light.page.mouse.move(0, 0)
    assert light.page.locator(".tip:visible, .ring").count() == 0


def test_a_button_of_the_legend_hides_and_shows(light: Any) -> None:
    figure = light.page.locator('[data-figure="recall"]')
    button = figure.locator("[data-entry]").first
    line = figure.locator('svg.wide g[clip-path][data-legend="0"]')
    assert line.is_visible()
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert not line.is_visible()
    button.focus()  # and by the keyboard
    light.page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    assert line.is_visible()


def test_pointing_at_a_name_lifts_its_line_and_shows_its_band(
    visit: Visit, pages: dict[str, Path], many: Report
) -> None:
    page = visit(pages["many"]).page
    figure = page.locator('[data-figure="recall"]')
    place = next(i for i, one in enumerate(many.figures["recall"].series) if not one.band)
    band = figure.locator(f'svg.wide [data-legend="{place}"] .band')
    assert not band.is_visible()
    figure.locator(f'[data-entry="{place}"]').hover()
    assert band.is_visible()
    other = figure.locator(f'svg.wide g[clip-path][data-legend="{1 if place == 0 else 0}"]')
    page.wait_for_function(
        "one => Number(getComputedStyle(one).opacity) < 0.2", arg=other.element_handle()
    )


def test_tables_download_as_csv(light: Any, fixed: Report) -> None:
    shown = {one.name: one for section in sections(fixed) for one in tables(section.parts)}
    assert set(shown) == {*fixed.figures, "metrics-table", "comparison-table"}
    buttons = light.page.locator("[data-csv]")
    assert buttons.count() == len(shown)
    light.page.evaluate(
        "document.querySelectorAll('details.numbers').forEach(one => { one.open = true; })"
    )
    for name in ("metrics-table", "comparison-table", "recall"):
        with light.page.expect_download() as got:
            light.page.locator(f'[data-csv="{name}"]').click()
        assert got.value.suggested_filename == f"fullrank-{name}.csv"
        assert Path(got.value.path()).read_bytes() == shown[name].to_csv().encode()
    assert light.console == []


def test_figures_download_as_svg_and_png(light: Any, fixed: Report) -> None:
    light.page.emulate_media(color_scheme="dark")  # a file is for paper, whatever the screen
    for name in ("metrics", "recall", "winner", "recall-1"):
        figure = light.page.locator(f'[data-figure="{name}"]')
        with light.page.expect_download() as got:
            figure.locator('[data-save="svg"]').click()
        assert got.value.suggested_filename == f"fullrank-{name}.svg"
        svg = ElementTree.parse(got.value.path()).getroot()
        texts = [one.text for one in svg.iter(f"{SVG}text")]
        assert fixed.figures[name].title in texts
        assert not [one for one in svg.iter() if one.attrib.get("display") == "none"]
        assert all("var(" not in text for one in svg.iter() for text in one.attrib.values())
        assert next(svg.iter(f"{SVG}rect")).attrib["fill"] == "#ffffff"
        with light.page.expect_download() as got:
            figure.locator('[data-save="png"]').click()
        data = Path(got.value.path()).read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        width = int.from_bytes(data[16:20])
        assert width == 2 * int(float(svg.attrib["width"]))
    light.page.emulate_media(color_scheme="light")
    assert light.console == []


def test_what_is_switched_off_is_not_in_the_file(
    visit: Visit, pages: dict[str, Path], fixed: Report
) -> None:
    page = visit(pages["fixed"]).page
    figure = page.locator('[data-figure="recall"]')
    figure.locator("[data-entry]").first.click()
    page.mouse.move(0, 0)
    with page.expect_download() as got:
        figure.locator('[data-save="svg"]').click()
    texts = [one.text for one in ElementTree.parse(got.value.path()).iter(f"{SVG}text")]
    first, second = (fixed.models[at].name for at in fixed.order)
    assert second in texts
    assert first not in texts


def test_the_tab_key_reaches_links_tables_and_folds(light: Any) -> None:
    light.page.evaluate("document.activeElement.blur()")
    seen = set()
    for _ in range(80):
        light.page.keyboard.press("Tab")
        seen.add(
            light.page.evaluate(
                "[document.activeElement.tagName, document.activeElement.className].join(' ')"
            )
        )
    assert {"A skip", "DIV scroll", "SUMMARY ", "BUTTON ", "A "} <= seen
    style = light.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert style == "solid"


def test_the_figures_follow_the_colour_scheme(light: Any) -> None:
    stroke = """() => getComputedStyle(document.querySelector(
        '[data-figure="recall"] svg.wide path.s-m0')).stroke"""
    assert light.page.evaluate(stroke) == "rgb(0, 114, 178)"
    light.page.emulate_media(color_scheme="dark")
    assert light.page.evaluate(stroke) == "rgb(86, 180, 233)"
    light.page.emulate_media(color_scheme="light")


def test_the_contents_stay_in_sight(visit: Visit, pages: dict[str, Path]) -> None:
    """In a column of a wide page; behind a button at the top of a phone's."""
    page = visit(pages["fixed"]).page
    page.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
    page.locator("#blind").scroll_into_view_if_needed()
    page.evaluate("document.getElementById('blind').scrollIntoView()")
    aside = page.locator("nav .aside")
    assert 0 <= aside.bounding_box()["y"] < 100
    page.wait_for_selector('nav .aside a[href="#blind"][aria-current]')
    narrow = visit(pages["fixed"], viewport={"width": 390, "height": 844}).page
    assert not narrow.locator("nav .aside").is_visible()
    narrow.locator("nav .compact summary").click()
    narrow.locator('nav .compact a[href="#blind"]').click()
    assert narrow.locator("nav .compact[open]").count() == 0
    narrow.wait_for_function(
        "() => document.getElementById('blind').getBoundingClientRect().y < 99"
    )
    assert narrow.locator("nav .compact summary").bounding_box()["y"] < 60


def test_names_and_titles_of_users_are_inert(
    visit: Visit, pages: dict[str, Path], hostile: Report
) -> None:
    opened = visit(pages["hostile"])
    page = opened.page
    for figure in ("metrics", "recall"):  # names in labels, too
        tip = _point(page, figure, hostile.models[0].name)
        assert tip.text_content().startswith(hostile.models[0].name)
    assert opened.dialogs == []
    assert opened.console == []
    assert opened.requests == []
    assert page.locator("img, iframe, object, embed, .plot a").count() == 0
    assert page.locator("script").count() == 2
    assert page.title() == f"{hostile.title} · 2024-02-29"
    assert page.locator("h1").text_content() == hostile.title
    first = page.locator('[data-figure="recall"] [data-entry] span').all_text_contents()
    assert first == [hostile.models[at].name for at in hostile.order]
    rows = page.locator('[data-figure="metrics"] svg.wide text').all_text_contents()
    assert "<script>alert(1)</script>" in rows
    with page.expect_download() as got:
        page.locator('[data-figure="metrics"] [data-save="svg"]').click()
    tags = {one.tag.removeprefix(SVG) for one in ElementTree.parse(got.value.path()).iter()}
    assert tags <= {"svg", "title", "g", "defs", "clipPath", "rect", "path", "text"}


def test_a_phone_needs_no_sideways_scrolling(visit: Visit, pages: dict[str, Path]) -> None:
    for name in ("fixed", "hostile", "many"):
        page = visit(pages[name], viewport={"width": 390, "height": 844}).page
        _open_all(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        drawings = page.locator("svg.drawing:visible")
        assert page.locator("svg.wide:visible").count() == 0
        for place in range(drawings.count()):
            box = drawings.nth(place).bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390


def test_a_table_that_scrolls_says_so(visit: Visit, pages: dict[str, Path], light: Any) -> None:
    page = visit(pages["fixed"], viewport={"width": 390, "height": 844}).page
    box = page.locator("#metrics > .tabled")
    assert box.locator(".scroll").evaluate("one => one.scrollWidth > one.clientWidth")
    assert box.locator(".sideways").is_visible()
    assert "gradient" in box.locator(".scroll").evaluate(
        "one => getComputedStyle(one).backgroundImage"
    )
    assert not light.page.locator("#metrics > .tabled .sideways").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(
    visit: Visit, pages: dict[str, Path], need: Callable[[str], Any], scheme: str
) -> None:
    need("axe_playwright_python")
    from axe_playwright_python.sync_playwright import Axe

    opened = visit(pages["fixed"], color_scheme=scheme, bypass_csp=True)
    _open_all(opened.page)
    found = Axe().run(opened.page).response["violations"]
    bad = [
        (one["id"], [node["target"] for node in one["nodes"]][:3])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert bad == []


def test_print_is_light_and_fits_the_paper(visit: Visit, pages: dict[str, Path]) -> None:
    page = visit(pages["fixed"], color_scheme="dark", viewport={"width": 640, "height": 900}).page
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(media="print", color_scheme="dark")
    page.wait_for_selector("details.printed[open]", state="attached")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert dark != "rgb(255, 255, 255)"
    stroke = page.locator('[data-figure="recall"] svg.wide path.s-m0').first.evaluate(
        "one => getComputedStyle(one).stroke"
    )
    assert stroke == "rgb(0, 114, 178)"
    widths = page.eval_on_selector_all(
        "svg.drawing", "all => all.map(one => one.getBoundingClientRect().width)"
    )
    assert max(widths) <= 640
    assert page.locator("nav:visible, .save:visible").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 640


def test_without_scripts_everything_is_there(visit: Visit, pages: dict[str, Path]) -> None:
    page = visit(pages["fixed"], drawn=False, java_script_enabled=False).page
    assert page.locator("svg.wide:visible").count() > 4
    assert page.locator(".save:visible").count() == 0
    page.locator("#recall details summary").first.click()
    assert page.locator("#recall details table").first.is_visible()
    assert "0." in page.locator("#metrics > .tabled table").inner_text()
    many = visit(pages["many"], drawn=False, java_script_enabled=False).page
    assert many.locator(".live").count() > 1
    assert many.locator('.live:visible, [aria-pressed="false"]:visible').count() == 0
    assert not many.locator("#measured dl").is_visible()
    many.emulate_media(media="print")
    assert many.locator("#measured dl").is_visible()


def _point(page: Any, figure: str, name: str, x: float | None = None) -> Any:
    """The label that pointing at a point of a series shows: at x, or at the first."""
    box = page.locator(f'[data-figure="{figure}"]')
    box.scroll_into_view_if_needed()
    points = page.evaluate(
        """([figure, name]) => JSON.parse(document.getElementById("data").textContent)
           .tips[figure].find(one => one.name === name).points""",
        [figure, name],
    )
    at = next(one for one in points if x is None or one[0] >= x)
    drawn = box.locator("svg.drawing:visible")
    place = []
    for side, value in zip(("data-x", "data-y"), at[:2], strict=True):
        *ends, kind = drawn.get_attribute(side).split()
        low, high, first, last = map(float, ends)
        scale = Scale(low=low, high=high, first=first, last=last, log=kind == "log")
        place.append(scale(value))
    area, width = drawn.bounding_box(), float(drawn.get_attribute("viewBox").split()[2])
    size = area["width"] / width
    page.mouse.move(area["x"] + place[0] * size, area["y"] + place[1] * size)
    tip = box.locator(".tip")
    tip.wait_for()
    return tip


def _open_all(page: Any) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
