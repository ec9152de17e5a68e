"""What mkdocs does to the pages beyond Markdown: run their code, fill in numbers, set mathematics.

Numbers come from the JSON of the studies (through Jinja) or from code that runs while the site is
built (fenced blocks marked ``run``); none is typed by hand. Everything works without a network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import blocks
import maths
import reference
import study_tables
from jinja2 import Environment, StrictUndefined
from mkdocs.structure.files import File

from fullrank import __version__
from fullrank.models import MODELS

# {# is how a heading names itself, so that Jinja's comments must begin otherwise
_JINJA = Environment(
    undefined=StrictUndefined,
    comment_start_string="{##",
    comment_end_string="##}",
    autoescape=False,
)
_JINJA.globals.update(study_tables.FUNCTIONS, models=MODELS, version=__version__)
_AS_THEY_ARE = ("changelog", "reference/")
_ROLE = re.compile(r":(?:class|func|meth|mod|attr):<code>(~?)([\w.]+)</code>")


def on_config(config: Any) -> Any:
    """Complete the navigation: studies, packages and pages that are there and not listed."""
    named = {path for part in config.nav for path in _paths(part)}
    completed = {
        "Papers": reference.studies("reproduction"),
        "Studies": reference.studies("studies"),
        "Reference": reference.listed(),
    }
    for heading, found in completed.items():
        section = next(part[heading] for part in config.nav if heading in part)
        place = next((at for at, one in enumerate(section) if "Promises" in one), len(section))
        section[place:place] = [{title: path} for path, title in found.items() if path not in named]
    return config


def _paths(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    else:
        for inside in part.values() if isinstance(part, dict) else part:
            yield from _paths(inside)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made from the code: the command line, the API, the changelog."""
    for path, content in reference.pages().items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill in the numbers, then run the code."""
    path = page.file.src_uri
    if path.startswith(_AS_THEY_ARE):
        return markdown
    return blocks.run(rendered(markdown), path)


def rendered(markdown: str) -> str:
    """The text of a page with its numbers filled in."""
    return _JINJA.from_string(markdown).render()


def on_page_content(html: str, **_: Any) -> str:
    """Set the mathematics as MathML, and Sphinx's roles in docstrings as plain code."""
    return _ROLE.sub(_named, maths.render(html))


def on_post_build(**_: Any) -> None:
    """End the process that ran the code."""
    blocks.stop()


def on_build_error(**_: Any) -> None:
    """End it too where the build fails."""
    blocks.stop()


def _named(role: re.Match[str]) -> str:
    name = role[2].rsplit(".", 1)[-1] if role[1] else role[2]
    return f"<code>{name}</code>"
