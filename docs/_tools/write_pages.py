"""Write the finished pages into out/pages: plain Markdown that any site builder can take.

    python docs/_tools/write_pages.py                   every page
    python docs/_tools/write_pages.py guide/ranks.md    these pages alone

Numbers come from the JSON of the studies (through Jinja) or from code that is run now (fenced
blocks marked ``run``); none is typed by hand. Formulas become MathML. Pages made from the code (the
command line, the API, the changelog) are added. Everything works without a network.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection
from pathlib import Path

import blocks
import maths
import reference
import study_tables
from jinja2 import Environment, StrictUndefined

from fullrank import __version__
from fullrank.models import MODELS

_DOCS = Path(__file__).parents[1]
_OUT = _DOCS.parent / "out" / "pages"
_NOT_COPIED = {".md", ".py", ".pyc"}
# {# is how a heading names itself, so that Jinja's comments must begin otherwise
_JINJA = Environment(
    undefined=StrictUndefined,
    comment_start_string="{##",
    comment_end_string="##}",
    autoescape=False,
    keep_trailing_newline=True,
)
_JINJA.globals.update(study_tables.FUNCTIONS, models=MODELS, version=__version__)


def main(wanted: Collection[str]) -> None:
    """Write the wanted pages, or all of them and the files beside them."""
    if not wanted:
        shutil.rmtree(_OUT, ignore_errors=True)
        for path in _beside():
            _place(path.relative_to(_DOCS).as_posix()).write_bytes(path.read_bytes())
        for name, text in reference.pages().items():
            _place(name).write_text(text, encoding="utf-8")
    for page in wanted or sorted(path.relative_to(_DOCS).as_posix() for path in _written()):
        _place(page).write_text(finished(page), encoding="utf-8")


def finished(page: str) -> str:
    """A page as a reader sees it."""
    text = (_DOCS / page).read_text(encoding="utf-8")
    return maths.render(blocks.run(rendered(text), page))


def rendered(markdown: str) -> str:
    """The text of a page with its numbers filled in."""
    return _JINJA.from_string(markdown).render()


def _written() -> list[Path]:
    return list(_DOCS.rglob("*.md"))


def _beside() -> list[Path]:
    """Images and style sheets."""
    found = (path for path in _DOCS.rglob("*.*") if path.suffix not in _NOT_COPIED)
    return [path for path in found if path.is_file()]


def _place(name: str) -> Path:
    place = _OUT / name
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except blocks.BlockError as error:
        sys.exit(str(error))
    finally:
        blocks.stop()
