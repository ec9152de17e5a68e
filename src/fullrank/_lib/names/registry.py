"""Things by name that anyone may add to: metrics, estimators, designs, models, losses, scorers.

A name is entered once. An unknown one is answered with the known ones, the closest first. Plug-ins
(`fullrank._lib.names.plugins`) are looked into before a name is given up.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from fullrank._lib import checks
from fullrank._lib.names import plugins
from fullrank.errors import InputError

Entry = TypeVar("Entry")


class Registry(dict[str, Entry], Generic[Entry]):
    """Entries by name; upper and lower case, ``-`` and ``_`` are the same when one is looked up.

    Parameters
    ----------
    what : the singular, such as "metric"; errors say it
    entries : those that are there from the beginning
    aliases : name to further names
    reserved : names that mean something else, such as "auto"

    Examples
    --------
    >>> shapes = Registry("shape", {"square": 4})
    >>> shapes.register("triangle", 3)
    >>> shapes.find("Triangle")
    3
    >>> shapes.find("triangel")
    Traceback (most recent call last):
    fullrank.errors.InputError: `shape` must be one of 'triangle', 'square', not 'triangel'.
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
        """Enter something under a name that is free, and under further names."""
        for one in (name, *aliases):
            self._check_free(one)
        super().__setitem__(name, entry)
        self._names |= {_plain(one): name for one in (name, *aliases)}

    def bring(self, entries: Mapping[str, Entry]) -> None:
        """Enter what the library itself brings, which stays."""
        for name, entry in entries.items():
            self.register(name, entry)
        self._own |= set(entries)

    def unregister(self, name: str) -> None:
        """Take out what was added from outside; what the library brings stays."""
        found = self.name_of(name)
        if found is None or found in self._own:
            raise InputError(
                f"`name` must be a {self._what} that was registered, not {checks.shown(name)}."
            )
        super().__delitem__(found)
        self._names = {key: value for key, value in self._names.items() if value != found}

    @contextmanager
    def temporarily(self, name: str, entry: Entry) -> Iterator[None]:
        """With the entry inside of the block alone, as tests want it."""
        self.register(name, entry)
        try:
            yield
        finally:
            self.unregister(name)

    def name_of(self, name: Any) -> str | None:
        """The name as it was registered, from any spelling of it; None where nothing has it."""
        if not isinstance(name, str):
            return None
        key = _plain(name)
        if key not in self._names:
            plugins.from_environment()
        return self._names.get(key)

    def find(self, name: Any, *, argument: str | None = None, also: tuple[str, ...] = ()) -> Entry:
        """The entry, or an error that lists the names; `also` are further ones to list."""
        found = self.name_of(name)
        if found is None:
            raise self.unknown(name, argument=argument, also=also)
        return super().__getitem__(found)

    def unknown(
        self, name: Any, *, argument: str | None = None, also: tuple[str, ...] = ()
    ) -> InputError:
        """The error for a name that nothing has: the known ones, the closest first."""
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
        """All names, those like `name` first."""
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
            raise InputError(f"`name` must be free; there is a {self._what} {name!r} already.")

    def __missing__(self, name: str) -> Entry:
        """Another spelling of a name: names as they were registered do not come here."""
        found = self.name_of(name)
        if found is None:
            raise KeyError(name)
        return super().__getitem__(found)

    def __contains__(self, name: object) -> bool:
        return self.name_of(name) is not None

    def get(self, name: str, default: Any = None) -> Any:
        """The entry under any spelling of its name, or the default."""
        found = self.name_of(name)
        return default if found is None else super().__getitem__(found)

    def __setitem__(self, name: str, entry: Entry) -> None:
        raise InputError(f"`{self._what}` must be entered with `register`.")

    def __delitem__(self, name: str) -> None:
        raise InputError(f"`{self._what}` must be taken out with `unregister`.")

    def __repr__(self) -> str:
        return f"Registry of {self._what}s: {', '.join(self)}"


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")
