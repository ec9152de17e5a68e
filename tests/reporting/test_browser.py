"""The page in a real browser: drawn, quiet, inert, narrow, accessible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fullrank.reporting import Report

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# plotly draws a path for each line, band and marker
_SHAPES = """box => box.querySelectorAll(
    '.scatterlayer .trace path, .barlayer .point path').length"""
Visit = Callable[..., Any]


@pytest.fixture(scope="module")
def light(visit: Visit, pages: dict[str, Path]) -> Any:
    return visit(pages["fixed"])


def test_nothing_is_said_on_the_console_and_no_request_leaves(light: Any) -> None:
    assert light.console == []
    assert light.requests == []


def test_every_figure_is_drawn(light: Any, fixed: Report) -> None:
    boxes = light.page.locator(".plot")
    assert boxes.count() == len(fixed.figures)
    for place in range(boxes.count()):
        name = boxes.nth(place).get_attribute("data-figure")
        shapes = boxes.nth(place).evaluate(_SHAPES)
        drawn = [one for one in fixed.figures[name].series if not one.hidden]
        assert shapes >= len(drawn), name


def test_pointing_at_a_figure_shows_a_label(light: Any) -> None:
    for text in _labels(light.page, "recall"):
        assert "K = " in text
        assert text.startswith(("old", "new"))
        if "interval" in text:  # which only estimates have, and not exact curves
            break
    else:
        pytest.fail("no label has an interval")
    light.page.mouse.move(0, 0)


def test_a_button_of_the_legend_hides_and_shows(light: Any) -> None:
    box = light.page.locator('[data-figure="recall"]')
    button = light.page.locator('[data-legend="recall"] button').first
    before = box.evaluate(_SHAPES)
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    light.page.wait_for_function(f"box => ({_SHAPES})(box) < {before}", arg=box.element_handle())
    button.focus()  # and by the keyboard
    light.page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    light.page.wait_for_function(f"box => ({_SHAPES})(box) === {before}", arg=box.element_handle())


def test_the_tab_key_reaches_links_tables_and_folds(light: Any) -> None:
    light.page.evaluate("document.activeElement.blur()")
    seen = set()
    for _ in range(60):
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
    fill = """() => document.querySelector('[data-figure="recall"] .xtick text').style.fill"""
    bright = light.page.evaluate(fill)
    light.page.emulate_media(color_scheme="dark")
    light.page.wait_for_function(f"() => ({fill})() !== '{bright}'")
    assert light.page.evaluate(fill) == "rgb(232, 234, 237)"
    light.page.emulate_media(color_scheme="light")
    light.page.wait_for_function(f"() => ({fill})() === '{bright}'")


def test_names_and_titles_of_users_are_inert(
    visit: Visit, pages: dict[str, Path], hostile: Report
) -> None:
    opened = visit(pages["hostile"])
    page = opened.page
    for name in ("recall", "winner"):  # names in labels, too
        _label(page, name, 0.7)
    assert opened.dialogs == []
    assert opened.console == []
    assert opened.requests == []
    assert page.locator("img, iframe, object, embed, .plot a").count() == 0
    assert page.locator("script").count() == 3
    assert page.title() == hostile.title
    assert page.locator("h1").text_content() == hostile.title
    first = page.locator('[data-legend="recall"] button span').all_text_contents()
    assert first == [model.name for model in hostile.models]
    ticks = page.locator('[data-figure="differences"] .ytick text').all_text_contents()
    assert any("<script>" in tick or "</script>" in tick for tick in ticks)


def test_a_phone_needs_no_sideways_scrolling(visit: Visit, pages: dict[str, Path]) -> None:
    for name in ("fixed", "hostile"):
        opened = visit(pages[name], viewport={"width": 375, "height": 800})
        _open_all(opened.page)
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 375
        widths = opened.page.eval_on_selector_all(
            ".plot .main-svg", "all => all.map(one => one.getBoundingClientRect().right)"
        )
        assert max(widths) <= 375


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
    page = visit(pages["fixed"], color_scheme="dark", viewport={"width": 1400, "height": 900}).page
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(media="print", color_scheme="dark")
    page.wait_for_function(
        """() => document.querySelector('[data-figure="recall"] .xtick text').style.fill
           === 'rgb(28, 33, 38)'"""
    )
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert dark != "rgb(255, 255, 255)"
    widths = page.eval_on_selector_all(
        ".plot .main-svg", "all => all.map(one => one.getBoundingClientRect().width)"
    )
    assert max(widths) <= 680
    assert page.locator("details.measured[open]").count() == 1
    assert not page.locator("nav").is_visible()
    page.emulate_media(media="screen", color_scheme="dark")
    page.wait_for_function(
        """() => document.querySelector('[data-figure="recall"] .main-svg')
           .getBoundingClientRect().width > 700"""
    )


def test_without_scripts_the_tables_are_there(visit: Visit, pages: dict[str, Path]) -> None:
    page = visit(pages["fixed"], drawn=False, java_script_enabled=False).page
    assert "needs JavaScript" in page.locator("#recall").inner_text()
    assert page.locator(".plot").first.is_hidden()
    page.locator("#recall details summary").first.click()
    assert page.locator("#recall details table").first.is_visible()
    assert "0." in page.locator("#metrics table").inner_text()


def _labels(page: Any, figure: str) -> Iterator[str]:
    """The labels that pointing at several heights of a figure shows, again and again."""
    from playwright.sync_api import TimeoutError as Late

    box = page.locator(f'[data-figure="{figure}"]')
    box.scroll_into_view_if_needed()
    label = box.locator(".hoverlayer .hovertext").first
    for step in range(200):
        area = box.locator(".nsewdrag").bounding_box()
        height = 0.05 + 0.9 * (7 * step % 20) / 20
        page.mouse.move(
            area["x"] + area["width"] / 2 + step % 2, area["y"] + area["height"] * height
        )
        try:
            label.wait_for(timeout=500)
        except Late:
            continue
        yield label.text_content()


def _label(page: Any, figure: str, height: float) -> Any:
    """The label that pointing at the middle of a figure shows; the mouse moves until it does."""
    from playwright.sync_api import TimeoutError as Late

    box = page.locator(f'[data-figure="{figure}"]')
    box.scroll_into_view_if_needed()
    label = box.locator(".hoverlayer .hovertext").first
    for nudge in range(60):
        area = box.locator(".nsewdrag").bounding_box()
        across = area["x"] + area["width"] / 2 + nudge % 2
        page.mouse.move(across, area["y"] + area["height"] * height)
        try:
            label.wait_for(timeout=2000)
        except Late:
            continue
        return label
    pytest.fail(f"no label in the figure {figure}")


def _open_all(page: Any) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
