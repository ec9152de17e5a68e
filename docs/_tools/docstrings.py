"""Read our docstrings: short parameter lines, and names that link to their page.

numpydoc has the type after the colon and the words below it. Our lines are often ``name : what it
is``, with the type left to the signature. If nothing is below, what is after the colon is the
description.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import griffe

sys.path.append(str(Path(__file__).parent))  # griffe loads this file by itself
import reference

_SECTIONS = (griffe.DocstringSectionKind.parameters, griffe.DocstringSectionKind.attributes)
_ROLE = re.compile(r":(?:class|func|meth|mod|attr):(`~?[\w.]+`)")
# a name as code, other code, which stays as it is, and a name such as RankSample in the text
_NAME = re.compile(
    r"`(?P<last>~?)(?P<code>[A-Za-z][\w.]*)(?P<call>(?:\(\))?)`|`[^`]+`|``.*?``"
    r"|\b(?P<bare>(?:[A-Z][a-z]+){2,})\b"
)


class ShortLines(griffe.Extension):
    """Mend parameter lines, and link names of public classes and functions."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Look at every docstring as it is loaded."""
        if obj.docstring is None:
            return
        sections = obj.docstring.parse("numpy", warnings=False)
        for section in sections:
            if section.kind is griffe.DocstringSectionKind.text:
                section.value = _linked(section.value, obj.path)
            elif isinstance(section.value, list):
                for element in section.value:
                    if section.kind in _SECTIONS:
                        _mend(element)
                    if isinstance(getattr(element, "description", None), str):
                        element.description = _linked(element.description, obj.path)
        obj.docstring.__dict__["parsed"] = sections


def _mend(element: Any) -> None:
    """Join what was parted; types are followed by a sentence, which begins with a capital."""
    words = (element.description or "").strip()
    if element.annotation is None or words[:1].isupper() or words[:1] in tuple('"`{'):
        return
    element.description, element.annotation = f"{element.annotation} {words}".strip(), None


def _linked(text: str, path: str) -> str:
    """The text with its names as links, but for those of the object itself and Sphinx's roles."""

    def link(found: re.Match[str]) -> str:
        name = found["code"] or found["bare"]
        if name is None:
            return found[0]
        call = found["call"] or ""
        target = _targets().get(name + call) or _targets().get(name)
        if target is None or f"{path}.".startswith(f"{target}."):
            return found[0].replace("~", "")
        return f"[`{name.rpartition('.')[2] if found['last'] else name}{call}`][{target}]"

    return _NAME.sub(link, _ROLE.sub(r"\1", text))


@functools.cache
def _targets() -> dict[str, str]:
    """What is written in docstrings to the path of the object: `Class`, `function()`, `fr.name`."""
    import fullrank

    found = {}
    for package in reference.present():
        for name, value in reference.public(package).items():
            if inspect.isclass(value) or inspect.isfunction(value):
                path = f"{value.__module__}.{value.__qualname__}"
                found[name if inspect.isclass(value) else f"{name}()"] = path
                found[f"fullrank.{package}.{name}"] = found[path] = path
                if getattr(fullrank, name, None) is value:
                    found[f"fr.{name}"] = found[f"fullrank.{name}"] = path
    return found
