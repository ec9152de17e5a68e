r"""The same small table as text, Markdown, LaTeX and HTML.

A cell is text. A `Best` cell is bold wherever there is bold type. The marks † and ▲ after a number
take no room in LaTeX. Columns of numbers are aligned to the right, so numbers with as many decimals
as each other are aligned at the point. All text is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from fullrank._lib.text import printable

Rows = Iterable[Sequence[str]]
MARK = "†"
_ARTICLE = 345  # points: the width of a line in LaTeX's article


class Best(str):
    """The best value of a column, or of several that share the first place."""

    __slots__ = ()


class Sheet(NamedTuple):
    """A table fit for print: what it shows in a sentence or two, the heads of columns, the rows."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def text(head: Sequence[str], rows: Rows, left: Sequence[int] = (0,)) -> list[str]:
    """Lines of aligned columns, to the right but for those named."""
    cells = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def markdown(head: Sequence[str], rows: Rows, caption: str = "") -> str:
    """A Markdown table, the columns of numbers to the right, and its caption below it."""
    rows = list(rows)
    rule = ["---" if side == "l" else "---:" for side in _sides(rows)]
    lines = [map(_markdown, head), rule, *(map(_markdown, row) for row in rows)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\nTable: {_markdown(caption)}" if caption else table


def latex(head: Sequence[str], rows: Rows, caption: str = "", label: str | None = None) -> str:
    """A LaTeX tabular for the package booktabs; with a caption, in an environment `table`."""
    rows = list(rows)
    first, *others = [" & ".join(map(_tex, row)) + r" \\" for row in (head, *rows)]
    # "\\" would take a bracket or a star after it for its own
    body = [first, r"\midrule"]
    body += [f"{{}}{row}" if row.lstrip().startswith(("[", "*")) else row for row in others]
    begin = rf"\begin{{tabular}}{{{_sides(rows)}}}"
    tabular = [begin, r"\toprule", *body, r"\bottomrule", r"\end{tabular}"]
    if not caption:
        return "\n".join(tabular)
    named = [] if label is None else [rf"\label{{{label}}}"]
    about = [r"\begin{table}", r"\centering", rf"\caption{{{_tex(caption)}}}", *named]
    return "\n".join([*about, *_size(head, rows), *tabular, r"\end{table}"])


def _size(head: Sequence[str], rows: Rows) -> list[str]:
    """The font and the room between columns in which a table fits the page of an article.

    On average, a character is half as wide as the font is high, as digits are.
    """
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    sizes = ("", 10, 6), (r"\small", 9, 3), (r"\footnotesize", 8, 2), (r"\scriptsize", 7, 2)
    font, _, between = next(
        (
            one
            for one in sizes
            if sum(0.49 * one[1] * width + 2 * one[2] for width in widths) <= _ARTICLE
        ),
        sizes[-1],
    )
    return [font, rf"\setlength{{\tabcolsep}}{{{between}pt}}"] if font else []


def _sides(rows: Sequence[Sequence[str]]) -> str:
    """For each column "l", or "r" where it holds numbers."""
    columns = list(zip(*rows, strict=True))[1:]
    return "l" + "".join("r" if any(map(_NUMBER.match, one)) else "l" for one in columns)


def html(caption: str, head: Sequence[str], rows: Rows) -> str:
    """An HTML table."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(map(_html, row))}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><tr>{top}</tr>{body}</table>"


def _html(cell: str) -> str:
    shown = escape(cell)
    return f"<td><b>{shown}</b></td>" if isinstance(cell, Best) else f"<td>{shown}</td>"


_SIGNED = r"(?<![\w.)\]])[-−+]\d(?:[\d.,]*\d)?"  # a number with a sign; "a-1" has a hyphen
_NUMBER = re.compile(r"[\[<>]? ?[-−+]?\d")
_MINUS = re.compile(r"(?<![\w.)\]])-(?=\d)")
# also an entity such as "&lt;", the end of a link's text, struck text and formulas
_NOT_MARKDOWN = re.compile(
    r"[\\`*<|$]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|\](?=\()|~(?=~)|(?<=~)~"
)


def _in_a_line(cell: str) -> str:
    """The cell without line breaks and other characters that would end it; spaces may be hard."""
    return "\xa0".join(map(printable, cell.split("\xa0")))


def _markdown(cell: str) -> str:
    shown = _MINUS.sub("−", _NOT_MARKDOWN.sub(r"\\\g<0>", _in_a_line(cell)))
    return f"**{shown}**" if isinstance(cell, Best) else shown


def _greek() -> list[tuple[int, str]]:
    """The letters of settings such as α and λ, which LaTeX knows in formulas alone."""
    small = (
        "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi o pi rho "
        "varsigma sigma tau upsilon varphi chi psi omega"
    )
    large = {"Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi",
             "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega"}  # fmt: skip
    letters = [(0x3B1 + place, name) for place, name in enumerate(small.split()) if name != "o"]
    return [*letters, *((ord(one), name) for one, name in large.items())]


_TEX = str.maketrans(
    {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
     "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
     # OT1, the encoding of fonts where none is chosen, has other signs in these places
     "<": "$<$", ">": "$>$", "|": "$|$", '"': "''",
     "±": r"$\pm$", "…": r"\ldots{}", "▲": r"$\triangle$", "◀": "", "−": "$-$", "–": "--",
     "×": r"$\times$", "≤": r"$\le$", "≥": r"$\ge$", "≈": r"$\approx$", "≠": r"$\ne$",
     "→": r"$\to$", "←": r"$\gets$", "∞": r"$\infty$", "\xa0": "~", "\u2060": "{}",
     MARK: r"$^{\dagger}$"}
    | {chr(code): rf"$\{name}$" for code, name in _greek()}
)  # fmt: skip
_MARKED = re.compile(rf"(?<=\d)({MARK}?)( ▲)?$")
_FORMULA = re.compile(rf"(?P<formula>{_SIGNED}|[<>] ?\d[\d.]*)|(?P<percent>(?<=\d) %)")


def _tex(cell: str) -> str:
    """A cell as LaTeX; what is a formula, such as "< 0.001" or "−0.2", as one."""
    # two hyphens would be drawn as a dash
    bold, cell = isinstance(cell, Best), re.sub(r"-(?=-)", "-\u2060", _in_a_line(cell))
    parts, done = [], 0
    for found in _FORMULA.finditer(cell):
        formula = found.group().replace("−", "-").replace(" ", "").replace(",", "{,}")
        parts.append(cell[done : found.start()].translate(_TEX))
        parts.append(r"\,\%" if found["percent"] else f"${formula}$")
        done = found.end()
    marks = _MARKED.search(cell)
    end = len(cell) if marks is None else marks.start()
    shown = "".join([*parts, cell[done:end].translate(_TEX)])
    if bold:
        shown = rf"\textbf{{{shown}}}"
    if marks is None or not marks.group():
        return shown
    signs = (r"\dagger" if marks[1] else "") + (r"\triangle" if marks[2] else "")
    return rf"{shown}\rlap{{$^{{{signs}}}$}}"  # takes no room, and decimals stay aligned
