"""The base of all results: the same small table in every format.

A result prints as its table, renders in notebooks, and converts to a frame, a dictionary, JSON,
Markdown or LaTeX. `write` and `read` store it in a file.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar, overload

from fullrank._lib import checks, extras
from fullrank._lib.files import PathLike, existing, replacing
from fullrank._lib.results import markup, records
from fullrank._lib.results.markup import Sheet
from fullrank.errors import InputError

Result = TypeVar("Result", bound="Tabular")
One = TypeVar("One", covariant=True)
Many = TypeVar("Many", covariant=True)
FORMAT = 1
_KEY = b"fullrank"


class Tabular:
    """A result that is a small table."""

    def _records(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        raise NotImplementedError

    def _title(self) -> str:
        raise NotImplementedError

    def _sheets(self) -> Sequence[Sheet]:
        """The tables of a paper: that of the screen, where it needs no other form."""
        title = self._title()
        return [Sheet(f"{title[:1].upper()}{title[1:]}.", *self._table())]

    def __str__(self) -> str:
        return "\n".join([self._title(), "", *markup.text(*self._table())])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """A table for notebooks; every text in it is escaped."""
        return markup.html(self._title(), *self._table())

    def to_arrow(self) -> Any:
        """Return a pyarrow Table with one row per entry."""
        import pyarrow as pa

        return pa.Table.from_pylist(self._records())

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        return extras.frame(self.to_arrow())

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and text, with a format version; None for unknown values."""
        entries = [{key: known(one) for key, one in row.items()} for row in self._records()]
        return {"format": FORMAT, "kind": type(self).__name__, "entries": entries}

    def to_json(self) -> str:
        """Return `to_dict` as the text of a JSON object."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def to_markdown(self, *, caption: str | None = None) -> str:
        """Return a Markdown table, followed by its caption.

        Parameters
        ----------
        caption : replaces the caption that states what was measured; "" for no caption
        """
        return "\n\n".join(
            markup.markdown(one.head, one.rows, one.caption if caption is None else caption)
            for one in self._sheets()
        )

    def to_latex(self, *, caption: str | None = None, label: str | None = None) -> str:
        r"""Return a LaTeX table for a paper that loads the package booktabs.

        Names in scripts other than Latin and Greek need XeLaTeX or LuaLaTeX.

        Parameters
        ----------
        caption : replaces the caption that states what was measured; "" for only the tabular
        label : a label to refer to, such as "tab:models"
        """
        sheets = self._sheets()
        labels = [label, *(label and f"{label}-{place}" for place in range(2, len(sheets) + 1))]
        return "\n\n".join(
            markup.latex(one.head, one.rows, one.caption if caption is None else caption, known)
            for one, known in zip(sheets, labels, strict=True)
        )

    def plot(self, ax: Any = None) -> Any:
        """Plot the result with matplotlib, and return the axes."""
        raise NotImplementedError

    def write(self, path: PathLike) -> None:
        """Write a ``.json`` or ``.parquet`` file for `read`, completely or not at all.

        Samples within a result are stored as counts; write a sample itself to keep its ids.
        """
        content = json.dumps({"format": FORMAT, **records.to_plain(self)}, ensure_ascii=False)
        suffix = _suffix(path)
        with replacing(path) as temporary:
            if suffix == ".json":
                temporary.write_text(content + "\n", encoding="utf-8")
            else:
                import pyarrow.parquet as pq

                table = self.to_arrow().replace_schema_metadata({_KEY: content.encode()})
                pq.write_table(table, temporary)

    @classmethod
    def read(cls, path: PathLike) -> Self:
        """Read a result that `write` wrote."""
        suffix, source = _suffix(path), existing(path)
        where = checks.printable(source)
        try:
            content = json.loads(_json_of(source) if suffix == ".parquet" else source.read_bytes())
        except (ValueError, RecursionError, OSError) as error:
            why = checks.because(error)
            raise InputError(
                f"`path` must hold {cls.__name__} data; {where} does not: {why}."
            ) from error
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind != cls.__name__ or content.get("format") != FORMAT:
            found = "something else"
            if isinstance(kind, str):
                found = f"{checks.shown(kind)} of format {checks.shown(content.get('format'))}"
            raise InputError(
                f"`path` must hold {cls.__name__} data of format {FORMAT}; {where} holds {found}."
            )
        return cls._checked(content, where)

    @classmethod
    def _checked(cls, content: Any, where: str) -> Self:
        """The result in a file, which anyone can have changed, if it can be shown."""
        try:
            found: Self = records.from_plain(
                cls, {k: v for k, v in content.items() if k != "format"}
            )
            found.to_dict(), str(found)
        except Exception as error:
            why = checks.because(error)
            raise InputError(
                f"`path` must hold {cls.__name__} data unchanged since `write` wrote it; {where} "
                f"does not: {why}."
            ) from error
        return found


class OneRow(Tabular):
    """A result of one number and its details, printed in a line."""

    def _title(self) -> str:
        return str(self)

    def _records(self) -> list[dict[str, Any]]:
        return [without(self.to_dict(), "format", "kind")]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        (row,) = self._records()
        return list(row), [["–" if one is None else _short(one) for one in row.values()]]


class ByModel(Tabular, Mapping[str, Result], Generic[Result]):
    """Results of several models by name, in one table."""

    models: Mapping[str, Result]

    def __getitem__(self, name: str) -> Result:
        return self.models[checks.choice("model", name, tuple(self.models))]

    def __iter__(self) -> Iterator[str]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)

    def __str__(self) -> str:
        if len(self.models) == 1:
            return str(next(iter(self.models.values())))
        return "\n\n".join(f"{name}: {one}" for name, one in self.models.items())

    def _records(self) -> list[dict[str, Any]]:
        return [
            {"model": name, **row} for name, one in self.models.items() for row in one._records()
        ]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = []
        for name, one in self.models.items():
            head, cells = one._table()
            rows += [[name if at == 0 else "", *row] for at, row in enumerate(cells)]
        return ["model", *head], rows

    def _title(self) -> str:
        return next(iter(self.models.values()))._title()

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, with a format version: of one model, or of each under "models"."""
        models = []
        for name, one in self.models.items():
            models.append({"model": name, **without(one.to_dict(), "format", "kind")})
        found = models[0] if len(models) == 1 else {"models": models}
        return {"format": FORMAT, "kind": type(self).__name__, **found}


class Verb(Protocol[One, Many]):
    """The ranks of one model to one result, those of several by name to one table."""

    @overload
    def __call__(self, ranks: Mapping[str, Any], *given: Any, **settings: Any) -> Many: ...
    @overload
    def __call__(self, ranks: Any = ..., *given: Any, **settings: Any) -> One: ...


def takes_several(
    many: Callable[[dict[str, One]], Many],
) -> Callable[[Callable[..., One]], Verb[One, Many]]:
    """Extend a function of the ranks of one model to several by name, with the same settings."""

    def decorate(verb: Callable[..., One]) -> Verb[One, Many]:
        @functools.wraps(verb)
        def called(ranks: Any = None, *given: Any, **settings: Any) -> Any:
            if not isinstance(ranks, Mapping):
                return verb(ranks, *given, **settings)
            if not ranks or not all(isinstance(name, str) for name in ranks):
                raise InputError("`ranks` must map model names, as text, to ranks.")
            return many({name: verb(one, *given, **settings) for name, one in ranks.items()})

        return called

    return decorate


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else checks.printable(value)


def without(content: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return a dictionary without some of its keys."""
    return {key: value for key, value in content.items() if key not in keys}


def known(value: Any) -> Any:
    """Return a value that JSON can represent: None for NaN and infinity."""
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        return None
    return value


def axes(ax: Any = None) -> Any:
    """Return the axes to draw on: the given ones, or new ones."""
    plt = extras.load("matplotlib.pyplot", extra="plot", purpose="Drawing")
    return ax if ax is not None else plt.subplots()[1]


def whiskers(ax: Any, names: Sequence[str], values: Sequence[float], ends: Sequence[Any]) -> None:
    """Plot values with intervals from the top down, one line per name."""
    places = range(len(names) - 1, -1, -1)
    for y, value, (low, high) in zip(places, values, ends, strict=True):
        ax.plot((low, high), (y, y), color="black")
        ax.plot(value, y, "o", color="black")
    ax.set_yticks(list(places), [name.replace("$", r"\$") for name in names])


def _suffix(path: PathLike) -> str:
    try:
        suffix = Path(path).suffix.lower()
    except TypeError:
        raise InputError(f"`path` must be text or a path, not {type(path).__name__}.") from None
    if suffix not in (".json", ".parquet"):
        raise InputError(f"`path` must end in .json or .parquet, not {suffix!r}.")
    return suffix


def _json_of(source: Path) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_schema(source).metadata or {}
    except pa.ArrowException as error:
        raise ValueError(checks.because(error)) from error
    return bytes(metadata.get(_KEY, b"null"))
