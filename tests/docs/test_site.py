"""The site: built without a warning and without a network, its links lead somewhere."""

from __future__ import annotations

import functools
import http.server
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
BROWSED = ("index", "why", "choosing", "estimators/linear", "reproduction/index", "reference/cli")
LINKS = {"inference": 70, "samples": 60, "designs": 60, "models": 150, "scorers": 30, "data": 20}
PATIENCE = 600_000  # milliseconds for a browser on a busy machine
pytestmark = [pytest.mark.slow, pytest.mark.verify]


class _Page(HTMLParser):
    """What a page loads, where it leads, and what can be led to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.ids.update(found[name] for name in ("id", "name") if name in found)
        self.loads += [found[name] for name in ("src", "srcset", "data") if name in found]
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag != "base" and "href" in found and found.get("rel") not in ("canonical",):
            self.loads.append(found["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, need: Callable[[str], ModuleType]) -> Path:
    """The built site."""
    for module in ("mkdocs", "material", "mkdocstrings", "latex2mathml", "typer"):
        need(module)
    folder = tmp_path_factory.mktemp("site")
    # no proxy leads anywhere: what asked the network would fail
    nowhere = dict.fromkeys(("http_proxy", "https_proxy"), "http://localhost:9")
    for command in (
        ["docs/_tools/write_pages.py"],
        ["-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
    ):
        run = subprocess.run(
            [sys.executable, *command],
            cwd=ROOT,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=os.environ | nowhere | {"NO_MKDOCS_2_WARNING": "1"},
        )
        assert run.returncode == 0, run.stderr
        assert not re.search(r"WARNING|ERROR", run.stdout + run.stderr), run.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, _Page]:
    return {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_page_is_there(site: Path) -> None:
    for source in (ROOT / "docs").rglob("*.md"):
        assert (site / source.relative_to(ROOT / "docs").with_suffix(".html")).is_file()
    for made in ("changelog", "reference/index", "reference/cli", "reference/estimators"):
        assert (site / f"{made}.html").is_file()
    assert not list(site.rglob("*.py"))


def test_no_page_loads_anything_from_elsewhere(site: Path, pages: dict[Path, _Page]) -> None:
    assert len(pages) > 40
    for path, page in pages.items():
        assert page.loads, path
        outside = [one for one in page.loads if re.match(r"(https?:)?//", one)]
        assert outside == [], path
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", sheet.read_text("utf-8")), sheet


def test_links_lead_somewhere(site: Path, pages: dict[Path, _Page]) -> None:
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":  # served from anywhere, so that its links are absolute
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            found = target.is_file()
            if found and parts.fragment and target in pages:
                found = unquote(parts.fragment) in pages[target].ids
            if not found:
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


def test_pages_are_finished_before_the_site_is_built(site: Path) -> None:
    """Any builder can take them: no code to run, no number to fill in, no hook."""
    for path in (ROOT / "out" / "pages").rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^ *```\w+ run|\{%", text, flags=re.M), path
    assert "hooks" not in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


def test_names_and_types_of_the_reference_are_links(site: Path) -> None:
    found = {
        path.stem: len(re.findall(r'<a class="autorefs', path.read_text(encoding="utf-8")))
        for path in (site / "reference").glob("*.html")
    }
    for name, least in LINKS.items():
        assert found[name] >= least, f"{name}: {found[name]} links"


def test_formulas_are_set(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\\\(|\$\$|\{\{|\{%", re.sub(r"<pre>.*?</pre>", "", text, flags=re.S))
    for path in (site / "estimators").glob("*.html"):
        assert "<math" in path.read_text(encoding="utf-8"), path


def test_numbers_of_the_studies_are_on_the_page(site: Path) -> None:
    import json

    text = (site / "choosing.html").read_text(encoding="utf-8")
    summary = json.loads((ROOT / "reproduction/results/own/smoothing.json").read_text("utf-8"))[
        "summary"
    ]
    for one in summary:
        assert f"{one['geometric_mean_ratio']:.2f}" in text
    assert "full catalogue" in (site / "quickstart.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("localhost", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


@pytest.mark.browser
def test_pages_in_a_browser(address: str, chromium: str) -> None:
    """Light, dark and on a phone: nothing leaves, nothing complains, nothing overflows."""
    from playwright.sync_api import sync_playwright

    asked: list[str] = []
    said: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-dev-shm-usage"],
            timeout=PATIENCE,
        )
        for width, scheme in ((1280, "light"), (375, "dark")):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page.set_default_timeout(PATIENCE)
            page.on("request", lambda request: asked.append(request.url))
            page.on(
                "console", lambda line: said.append(line.text) if line.type == "error" else None
            )
            page.on("pageerror", lambda error: said.append(str(error)))
            for name in BROWSED:
                page.goto(f"{address}/{name}.html", wait_until="networkidle")
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, f"{name} is {wide} wide on {width}"
            formula = page.goto(f"{address}/estimators/linear.html")
            assert formula is not None
            box = page.locator("math").first.bounding_box()
            assert box is not None
            assert box["height"] > 5
        browser.close()
    assert said == []
    assert [url for url in asked if not url.startswith(address)] == []


@pytest.mark.browser
def test_the_search_finds_a_word(site: Path, address: str, chromium: str) -> None:
    """From a server, and from a folder, where a browser starts no worker."""
    from playwright.sync_api import sync_playwright

    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-dev-shm-usage"],
            timeout=PATIENCE,
        )
        for start in (address, site.as_uri()):
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            page.set_default_timeout(PATIENCE)
            page.on("request", lambda request: asked.append(request.url))
            page.goto(f"{start}/guide/ranks.html")
            field = page.locator("input.md-search__input")
            field.click()
            field.press_sequentially("adaptive")
            page.wait_for_selector(".md-search-result__item")
            results = page.locator(".md-search-result__item a")
            assert (results.first.get_attribute("href") or "").startswith(f"{start}/")
        browser.close()
    assert [url for url in asked if not url.startswith((address, "file://"))] == []
