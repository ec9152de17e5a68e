"""The same small table as text, Markdown, LaTeX and HTML, and as a frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

Rows = Iterable[Sequence[str]]


class Tabular:
    """A result that is a small table: what it holds, what it shows, and what it is called."""

    def _records(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        raise NotImplementedError

    def _title(self) -> str:
        raise NotImplementedError

    def to_arrow(self) -> Any:
        """A pyarrow Table, one row for each entry."""
        import pyarrow as pa

        return pa.Table.from_pylist(self._records())

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def to_markdown(self) -> str:
        """A Markdown table."""
        return markdown(*self._table())

    def to_latex(self) -> str:
        """A LaTeX tabular."""
        return latex(*self._table())

    def _repr_html_(self) -> str:
        """A table for notebooks; every text in it is escaped."""
        return html(self._title(), *self._table())


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
     "±": r"$\pm$", "…": r"\ldots{}", "▲": r"$\triangle$", "◀": "", "−": "--", "–": "--"}
)  # fmt: skip


def _tex(text: str) -> str:
    return text.translate(_TEX)
