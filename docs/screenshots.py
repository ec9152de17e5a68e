"""The picture of a report in the README: five models on ml-latest-small, seen in a browser.

``python docs/screenshots.py`` writes docs/images/report.png; ``--all DIR`` writes every view
(light, dark, phone, print) into a folder, to look at.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import fullrank as fr
from fullrank.models import MODELS
from fullrank.reporting import Report

IMAGES = Path(__file__).parent / "images"
SETTINGS: dict[str, dict[str, Any]] = {
    "popularity": {},
    "item-knn": {},
    "pure-svd": {"n_factors": 20},
    "ease": {"regularization": 200.0},
    "ials": {},
}
VIEWS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1200, "height": 900}},
    "dark": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 375, "height": 800}, "device_scale_factor": 2},
    "print": {"viewport": {"width": 1000, "height": 900}},
}


def report(path: Path, *, fixed: bool, compact: bool, seed: int = 0) -> Report:
    """Five models on 671 users, sampled, with the exact ranks beside them."""
    started = time.perf_counter()
    split = fr.datasets.load("ml-latest-small").split("leave-one-out", by="random", rng=seed)
    samples, exact = {}, {}
    for name, settings in SETTINGS.items():
        scorer = MODELS[name](**settings).fit(split.train).scorer()
        exact[name] = fr.rank(scorer, split.test, exclude=split.train)
        design = "sampled:100" if fixed else "adaptive:25"
        samples[name] = fr.sample_ranks(
            scorer, split.test, design=design, exclude=split.train, rng=seed
        )
    return fr.report(
        samples,
        path,
        exact=exact,
        metrics="ndcg@10" if compact else ("ndcg@10", "recall@10"),
        title="Five models on MovieLens",
        measured={
            "data": "ml-latest-small, leave one out",
            "seed": seed,
            "time to train and rank": f"{time.perf_counter() - started:.1f} s",
        },
        rng=seed,
    )


def shoot(
    page_path: Path, folder: Path, views: dict[str, dict[str, Any]], clip: str | None
) -> None:
    """Screenshots of a page, the whole of it or as far as the element `clip`."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name, settings in views.items():
            context = browser.new_context(**settings)
            page = context.new_page()
            page.goto(page_path.resolve().as_uri())
            page.wait_for_selector("html[data-drawn]")
            if name == "print":
                page.pdf(path=folder / "report-print.pdf", format="A4", print_background=True)
            elif clip is not None:
                page.set_viewport_size({"width": 900, "height": 2000})
                last = page.locator(clip).bounding_box()
                end = last["y"] + last["height"] + 6
                page.screenshot(
                    path=folder / "report.png",
                    clip={"x": 0, "y": 0, "width": 900, "height": end},
                )
                _compress(folder / "report.png")
            else:
                page.screenshot(path=folder / f"report-{name}.png", full_page=True)
            context.close()
        browser.close()


def _compress(path: Path) -> None:
    """Few colours are enough for a page."""
    from PIL import Image

    with Image.open(path) as image:
        small = image.convert("RGB").quantize(colors=96, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def main() -> None:
    """Read the options, write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", metavar="DIR", type=Path, help="every view, into this folder")
    parser.add_argument("--fixed", action="store_true", help="fixed samples of 100")
    options = parser.parse_args()
    folder = options.all or IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "report.html" if options.all else folder / ".report.html"
    sys.stdout.write(f"{report(page, fixed=options.fixed, compact=options.all is None)}\n")
    if options.all:
        shoot(page, folder, VIEWS, None)
    else:
        shoot(page, folder, {"light": VIEWS["light"]}, "[data-legend=recall]")
        page.unlink()


if __name__ == "__main__":
    main()
