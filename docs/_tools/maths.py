r"""Formulas as MathML, set before the site is built: browsers draw it without a script.

A formula in the text is between ``\(`` and ``\)``, and a displayed one between lines of ``$$``.
"""

from __future__ import annotations

import re

from latex2mathml.converter import convert

# a formula wider than a phone scrolls by itself, by keyboard too
_BLOCK = '<div class="formula" tabindex="0" role="group" aria-label="formula">{}</div>'
# code is found first, so that nothing in it is taken for a formula
_FORMULA = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,}).*?^(?P=indent)(?P=fence)$|`[^`\n]+`"
    r"|^\$\$\n(?P<block>.*?)\n\$\$$|\\\((?P<inline>.+?)\\\)",
    re.DOTALL | re.MULTILINE,
)


def render(markdown: str) -> str:
    """Replace every formula of a page."""
    return _FORMULA.sub(_set, markdown)


def _set(found: re.Match[str]) -> str:
    if found["inline"]:
        # Markdown takes a line that begins with <math> for a block
        return f"<span>{_converted(found['inline'], 'inline')}</span>"
    if found["block"]:
        return _BLOCK.format(_converted(found["block"], "block"))
    return found[0]


def _converted(source: str, display: str) -> str:
    formula: str = convert(source.strip(), display=display)
    return formula.replace("[", "&#x5B;").replace("]", "&#x5D;")  # no links of Markdown
