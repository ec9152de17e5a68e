"""Read our short parameter lines: ``name : what it is``, with the type left to the signature.

numpydoc has the type after the colon and the words below it. Where nothing is below, what is
after the colon are the words, and the type is in the signature already.
"""

from __future__ import annotations

from typing import Any

import griffe

_SECTIONS = (griffe.DocstringSectionKind.parameters, griffe.DocstringSectionKind.attributes)


class ShortLines(griffe.Extension):
    """Move what stands in the place of the type to the place of the words."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Look at every docstring as it is loaded."""
        if obj.docstring is None:
            return
        sections = obj.docstring.parse("numpy", warnings=False)
        for section in sections:
            if section.kind in _SECTIONS:
                for element in section.value:
                    _mend(element)
        obj.docstring.__dict__["parsed"] = sections


def _mend(element: Any) -> None:
    """Join what was parted; types are followed by a sentence, which begins with a capital."""
    words = (element.description or "").strip()
    if element.annotation is None or words[:1].isupper() or words[:1] in tuple('"`{'):
        return
    element.description, element.annotation = f"{element.annotation} {words}".strip(), None
