"""Registries that users can add to: metrics, estimators, designs, models, losses, scorers.

A name is registered once. The error for an unknown name lists the known ones, the closest first.
Plug-ins (`fullrank._lib.names.plugins`) are loaded before a name is refused.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from fullrank._lib import checks
from fullrank._lib.names import plugins
from fullrank._lib.text import plural
from fullrank.errors import InputError

Entry = TypeVar("Entry")


class Registry(dict[str, Entry], Generic[Entry]):
    """Entries by name; lookups ignore case and the difference between ``-`` and ``_``.

    Parameters
    ----------
    what : the singular, such as "metric", for errors
    entries : the initial entries
    aliases : mapping from names to further names
    reserved : names that mean something else, such as "auto"

    Examples
    --------
    >>> shapes = Registry("shape", {"square": 4})
    >>> shapes.register("triangle", 3)
    >>> shapes.find("Triangle")
    3
    >>> shapes.find("circle")
    Traceback (most recent call last):
    fullrank.errors.InputError: `shape` must be one of 'square', 'triangle', not 'circle'.
    """

    def __init__(
        self,
        what: str,
        entries: Mapping[str, Entry] | None = None,
        *,
        aliases: Mapping[str, tuple[str, ...]] | None = None,
        reserved: tuple[str, ...] = (),
    ) -> None:
        super().__init__()
        self._what = what
        self._names: dict[str, str] = {}  # what is looked up, to the name
        self._reserved = {_plain(name) for name in reserved}
        self._own: set[str] = set()
        for name, entry in (entries or {}).items():
            self.register(name, entry, aliases=(aliases or {}).get(name, ()))
        self._own = set(self)

    def register(self, name: str, entry: Entry, *, aliases: tuple[str, ...] = ()) -> None:
        """Register an entry under an unused name, and under further names."""
        for one in (name, *aliases):
            self._check_free(one)
        super().__setitem__(name, entry)
        self._names |= {_plain(one): name for one in (name, *aliases)}

    def bring(self, entries: Mapping[str, Entry]) -> None:
        """Register an entry of the library itself, which cannot be removed."""
        for name, entry in entries.items():
            self.register(name, entry)
        self._own |= set(entries)

    def unregister(self, name: str) -> None:
        """Remove an entry that a user registered; entries of the library stay."""
        found = self.name_of(name)
        if found is None or found in self._own:
            raise InputError(
                f"`name` must be one of the {plural(self._what)} added with `register`, not "
                f"{checks.shown(name)}."
            )
        super().__delitem__(found)
        self._names = {key: value for key, value in self._names.items() if value != found}

    @contextmanager
    def temporarily(self, name: str, entry: Entry) -> Iterator[None]:
        """Register the entry within the block only, for tests."""
        self.register(name, entry)
        try:
            yield
        finally:
            self.unregister(name)

    def name_of(self, name: Any) -> str | None:
        """Return the name as it was registered, from any spelling of it; None if it is unknown."""
        if not isinstance(name, str):
            return None
        key = _plain(name)
        if key not in self._names:
            plugins.from_environment()
        return self._names.get(key)

    def find(self, name: Any, *, argument: str | None = None, also: tuple[str, ...] = ()) -> Entry:
        """Return the entry, or raise an error that lists the names and those in `also`."""
        found = self.name_of(name)
        if found is None:
            raise self.unknown(name, argument=argument, also=also)
        return super().__getitem__(found)

    def unknown(
        self, name: Any, *, argument: str | None = None, also: tuple[str, ...] = ()
    ) -> InputError:
        """Return the error for an unknown name, which lists the known ones, the closest first."""
        names = ", ".join(map(repr, self.closest(name, also)))
        return InputError(
            f"`{argument or self._what}` must be one of {names}, not {checks.shown(name)}."
            f"{self.meant(name, also)}"
        )

    def meant(self, name: Any, also: tuple[str, ...] = ()) -> str:
        """A question that ends the error, where a known name is close."""
        if not isinstance(name, str):
            return ""
        like = {_plain(one): one for one in (*also, *self)}
        near = difflib.get_close_matches(_plain(name), like, 1, 0.6)
        return f" Did you mean {like[near[0]]!r}?" if near else ""

    def closest(self, name: Any, also: tuple[str, ...] = ()) -> list[str]:
        """Return all names, those similar to `name` first."""
        names = [*also, *self]
        if not isinstance(name, str):
            return names
        like = {_plain(one): one for one in names}
        near = [like[one] for one in difflib.get_close_matches(_plain(name), like, 3, 0.6)]
        return [*near, *(one for one in names if one not in near)]

    def _check_free(self, name: Any) -> None:
        if not isinstance(name, str) or not name.replace("-", "_").isidentifier():
            raise InputError(
                "`name` must be a letter followed by letters, digits, - and _, "
                f"not {checks.shown(name)}."
            )
        if _plain(name) in self._names or _plain(name) in self._reserved:
            raise InputError(
                f"`name` must be unused; a {self._what} named {name!r} already exists."
            )

    def __missing__(self, name: str) -> Entry:
        """Another spelling of a name: names as they were registered do not come here."""
        found = self.name_of(name)
        if found is None:
            raise KeyError(name)
        return super().__getitem__(found)

    def __contains__(self, name: object) -> bool:
        return self.name_of(name) is not None

    def get(self, name: str, default: Any = None) -> Any:
        """Return the entry under any spelling of its name, or the default."""
        found = self.name_of(name)
        return default if found is None else super().__getitem__(found)

    def __setitem__(self, name: str, entry: Entry) -> None:
        raise InputError(f"`{self._what}` must be added with `register`.")

    def __delitem__(self, name: str) -> None:
        raise InputError(f"`{self._what}` must be removed with `unregister`.")

    def __repr__(self) -> str:
        return f"Registry of {plural(self._what)}: {', '.join(self)}"


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")
