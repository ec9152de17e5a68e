"""The same small table as Markdown, LaTeX and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

Rows = Iterable[Sequence[str]]


def markdown(head: Sequence[str], rows: Rows) -> str:
    """A Markdown table."""
    lines = [
        head,
        ["---"] * len(head),
        *([cell.replace("|", r"\|") for cell in row] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def latex(head: Sequence[str], rows: Rows) -> str:
    """A LaTeX tabular, the first column left, the others right."""
    lines = [" & ".join(map(_tex, row)) + r" \\" for row in (head, *rows)]
    begin = rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}"
    return "\n".join([begin, lines[0], r"\hline", *lines[1:], r"\end{tabular}"])


def html(caption: str, head: Sequence[str], rows: Rows) -> str:
    """An HTML table; every text is escaped."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><caption>{escape(caption)}</caption><tr>{top}</tr>{body}</table>"


_TEX = str.maketrans(
    {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
     "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
     "±": r"$\pm$", "−": "--", "–": "--"}
)  # fmt: skip


def _tex(text: str) -> str:
    return text.translate(_TEX)
