"""What a page is made of: sections, and in them prose, tables, figures and folds.

`templates/parts.html` has a macro for each kind. A page is a tuple of sections, so that another
page can be put together from other sections.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from typing import ClassVar

from fullrank.reporting.figures.figure import Figure

Rows = tuple[tuple[str, ...], ...]

_NUMBER = re.compile(r"[+-]?\d[\d,]*(\.\d+)?( ?%)?")
_NAMES = ("model", "over")  # heads of columns whose cells are names, whatever they look like


@dataclass(frozen=True, kw_only=True)
class Prose:
    """Paragraphs; `look` is "lead", "more" or "quiet"."""

    kind: ClassVar[str] = "prose"
    text: tuple[str, ...]
    look: str = "more"


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A heading within a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table, in groups of rows with a heading each; one without a heading is a plain table.

    Attributes
    ----------
    name : of the file to download
    caption : what it shows
    head, groups : its cells, the first of each row naming the row
    best : (group, row, column) of the cells that are bold
    csv_head, csv_rows : the same numbers for programs; made from the cells where there are none
    """

    kind: ClassVar[str] = "table"
    name: str
    caption: str
    head: tuple[str, ...]
    groups: tuple[tuple[str | None, Rows], ...]
    best: frozenset[tuple[int, int, int]] = frozenset()
    csv_head: tuple[str, ...] = ()
    csv_rows: tuple[tuple[object, ...], ...] = ()

    @property
    def marked(self) -> frozenset[int]:
        """The columns in which some numbers have the mark ▲, for which others leave room."""
        rows = (row for _, some in self.groups for row in some)
        return frozenset(at for row in rows for at, cell in enumerate(row) if cell[-2:] == " ▲")

    def to_csv(self) -> str:
        """The table as comma-separated values."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow([_text(one) for one in self.csv_head or self.head])
        if self.csv_rows:
            writer.writerows([_plain(one) for one in row] for row in self.csv_rows)
            return out.getvalue()
        named = self.head[0] in _NAMES
        for first, *others in (row for _, some in self.groups for row in some):
            label = _text(first) if named else _cell(first)
            writer.writerow([label, *(_cell(one) for one in others)])
        return out.getvalue()


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure with its heading at `level`, its reading and its numbers.

    It is `small` where several are side by side, and `said` where its reading is shown.
    """

    kind: ClassVar[str] = "picture"
    figure: Figure
    level: int = 3
    small: bool = False
    said: bool = True

    @property
    def numbers(self) -> Table:
        """The figure's numbers."""
        figure = self.figure
        return Table(
            name=figure.name,
            caption=f"Numbers of the figure: {figure.title}",
            head=figure.head,
            groups=((None, figure.rows),),
        )


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Terms and what is said of them; `look` is "facts" or "key"."""

    kind: ClassVar[str] = "facts"
    pairs: tuple[tuple[str, tuple[str, ...]], ...]
    look: str = "facts"


@dataclass(frozen=True, kw_only=True)
class Listing:
    """A list of sentences."""

    kind: ClassVar[str] = "listing"
    items: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Code:
    """Text to copy."""

    kind: ClassVar[str] = "code"
    text: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Pictures side by side, where there is room."""

    kind: ClassVar[str] = "grid"
    parts: tuple[Part, ...]


@dataclass(frozen=True, kw_only=True)
class Fold:
    """Parts behind a line that opens them; `printed` opens it on paper."""

    kind: ClassVar[str] = "fold"
    title: str
    parts: tuple[Part, ...]
    printed: bool = False


Part = Prose | Heading | Table | Picture | Facts | Listing | Code | Grid | Fold


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section: its anchor, its name in the contents, its heading, its parts."""

    name: str
    link: str
    heading: str
    parts: tuple[Part, ...] = field(default=())


def tables(parts: tuple[Part, ...]) -> list[Table]:
    """Every table among parts, those of figures included."""
    found: list[Table] = []
    for one in parts:
        if isinstance(one, Table):
            found.append(one)
        elif isinstance(one, Picture):
            found.append(one.numbers)
        elif isinstance(one, Grid | Fold):
            found += tables(one.parts)
    return found


def pictures(parts: tuple[Part, ...]) -> list[Picture]:
    """Every picture among parts."""
    found: list[Picture] = []
    for one in parts:
        if isinstance(one, Picture):
            found.append(one)
        elif isinstance(one, Grid | Fold):
            found += pictures(one.parts)
    return found


def _plain(value: object) -> str:
    """A value as programs read it; nothing for what is not known."""
    if isinstance(value, str):
        return _text(value)
    if value is None or value != value:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def _text(value: str) -> str:
    """Text; what a spreadsheet would run as a formula is quoted."""
    return f"'{value}" if value.startswith(("=", "+", "-", "@")) else value


def _cell(shown: str) -> str:
    """A cell of the page: its number, if it is one."""
    if shown == "–":
        return ""
    number = shown.replace("−", "-")
    if not _NUMBER.fullmatch(number):
        return _text(shown)
    number = number.replace(",", "")
    return f"{float(number[:-1]) / 100:.6g}" if number.endswith("%") else number
