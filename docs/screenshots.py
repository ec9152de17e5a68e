"""Pictures of a report in a browser: five models on ml-latest-small.

``python docs/screenshots.py`` writes docs/images/report.png, the top of the page that the guide
shows. ``--all DIR`` writes every view (light, dark, phone, print) into a folder, and
``--twelve`` reports twelve models.
"""

from __future__ import annotations

import argparse
import shutil
import sys
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
MORE: dict[str, dict[str, Any]] = {
    **{f"pure-svd-{n}": {"n_factors": n} for n in (5, 10, 40, 80)},
    **{f"ease-{weight}": {"regularization": float(weight)} for weight in (20, 500, 2000)},
}
VIEWS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1200, "height": 900}},
    "dark": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2},
    "print": {"viewport": {"width": 1000, "height": 900}},
}


def report(path: Path, *, fixed: bool, twelve: bool, seed: int = 0) -> Report:
    """Five models or twelve on 671 users, sampled, with the exact ranks beside them."""
    split = fr.data.load("ml-latest-small").split("leave-one-out", by="random", rng=seed)
    samples, exact = {}, {}
    for name, settings in (SETTINGS | (MORE if twelve else {})).items():
        kind = max((one for one in SETTINGS if name.startswith(one)), key=len)
        scorer = MODELS[kind](**settings).fit(split.train).scorer()
        exact[name] = fr.rank(scorer, split.test, exclude=split.train)
        design = "sampled:100" if fixed else "adaptive:25"
        samples[name] = fr.sample_ranks(
            scorer, split.test, design=design, exclude=split.train, rng=seed
        )
    return fr.report(
        samples,
        path,
        exact=exact,
        metrics=("ndcg@10", "recall@10"),
        measured={"data": "ml-latest-small, leave-one-out", "seed": seed},
        rng=seed,
    )


def shoot(
    page_path: Path, folder: Path, views: dict[str, dict[str, Any]], clip: str | None
) -> None:
    """Take screenshots of a page, of all of it or as far as the element `clip`."""
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
                page.set_viewport_size({"width": 940, "height": 2000})
                last = page.locator(clip).bounding_box()
                end = last["y"] + last["height"] + 6
                page.screenshot(
                    path=folder / "report.png",
                    clip={"x": 0, "y": 0, "width": 940, "height": end},
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
    parser.add_argument("--twelve", action="store_true", help="twelve models")
    options = parser.parse_args()
    folder = options.all or IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "report.html" if options.all else folder / ".report.html"
    sys.stdout.write(f"{report(page, fixed=options.fixed, twelve=options.twelve)}\n")
    if options.all:
        shoot(page, folder, VIEWS, None)
    else:
        shoot(page, folder, {"light": VIEWS["light"]}, "#figure-metrics .plot")
        page.unlink()


if __name__ == "__main__":
    main()
