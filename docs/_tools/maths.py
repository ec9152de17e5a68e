"""Mathematics as MathML, set while the site is built: browsers draw it without a script."""

from __future__ import annotations

import re
from html import unescape

from latex2mathml.converter import convert

# what pymdownx.arithmatex leaves, with `generic: true`
_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
_BLOCK = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)


def render(html: str) -> str:
    """Replace every formula of a page."""
    html = _BLOCK.sub(lambda found: _set(found[1], "block"), html)
    return _INLINE.sub(lambda found: _set(found[1], "inline"), html)


def _set(source: str, display: str) -> str:
    formula = convert(unescape(source).strip(), display=display)
    if display == "inline":
        return formula
    # a formula wider than a phone scrolls by itself, by keyboard too
    return f'<div class="formula" tabindex="0" role="group" aria-label="formula">{formula}</div>'
