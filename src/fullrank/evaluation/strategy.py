"""How much of the catalogue, and of the users, is ranked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from fullrank._lib import checks
from fullrank._lib.specs import parse_spec
from fullrank.designs.draws import POOLS
from fullrank.errors import InputError
from fullrank.ranking import adaptive_ranks, rank, sample_ranks
from fullrank.ranking.sampled import TIES
from fullrank.samples import ExactRanks, RankSample
from fullrank.samples.exact_ranks import POLICIES

Check = Callable[[str, Any], Any]


def _whole(low: int) -> Check:
    return lambda name, value: checks.integer(name, value, low=low)


def _perhaps(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def _one_of(options: Any) -> Check:
    return lambda name, value: checks.choice(name, value, tuple(options))


_EXACT: Mapping[str, tuple[Any, Check]] = {"ties": ("mean", _one_of(POLICIES))}
_DRAWN: Mapping[str, tuple[Any, Check]] = {
    "replacement": (False, checks.flag),
    "pool": ("all", _one_of(POOLS)),
    "ties": ("random", _one_of(TIES)),
}


@dataclass(frozen=True)
class Kind:
    """What a strategy is, its settings with defaults, and the one that needs no name."""

    about: str
    settings: Mapping[str, tuple[Any, Check]]
    main: str | None = None


KINDS: Mapping[str, Kind] = {
    "exact": Kind("every item for every user", _EXACT),
    "sampled": Kind(
        "a fixed number of items for each target, drawn at random",
        {"sample_size": (100, _whole(2)), **_DRAWN},
        "sample_size",
    ),
    "adaptive": Kind(
        "few items for each target, and more while it is at the top",
        {
            "limit": (None, _perhaps(_whole(2))),
            "start": (25, _whole(2)),
            "growth": (2, checks.real),
            "stop_rank": (1, _whole(1)),
            **_DRAWN,
        },
        "limit",
    ),
    "users": Kind("every item for some users, drawn at random", _EXACT, "users"),
    "budget": Kind(
        "the design of least predicted error for that many scored items, after a pilot",
        {"items": (None, lambda name, value: checks.real(name, value, low=1))},
        "items",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """A kind of ranking, its settings, and how many users it is for.

    Attributes
    ----------
    name : of `KINDS`
    users : how many users are drawn; None for all
    settings : of the kind, defaults filled in

    Examples
    --------
    >>> print(Strategy.of("sampled:50,users=1000"))
    sampled:50,users=1000,replacement=False,pool=all,ties=random
    """

    name: str = "exact"
    users: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kind = KINDS[checks.choice("strategy", self.name, KINDS)]
        for name in self.settings:
            if name not in kind.settings:
                known = [*kind.settings, "users"]
                raise InputError(
                    f"`strategy` must have settings of {self.name}, {', '.join(known)}; "
                    f"got {name!r}."
                )
        filled = {
            name: check(name, self.settings.get(name, default))
            for name, (default, check) in kind.settings.items()
        }
        object.__setattr__(self, "settings", filled)
        if self.users is not None:
            object.__setattr__(self, "users", checks.integer("users", self.users, low=1))
        elif self.name == "users":
            raise InputError("`strategy` must say how many users, as in users:1000.")

    @classmethod
    def of(cls, asked: str | Self) -> Self:
        """A strategy from text such as ``"adaptive"``, ``"sampled:100"``, ``"users:1000"``."""
        if isinstance(asked, cls):
            return asked
        if not isinstance(asked, str):
            raise InputError(
                f"`strategy` must be text such as 'sampled:100' or a Strategy, not {asked!r}."
            )
        spec = parse_spec("strategy", asked)
        kind = KINDS[checks.choice("strategy", spec.name, KINDS)]
        settings = dict(spec.settings)
        if spec.main is not None:
            if kind.main is None or kind.main in settings:
                raise InputError(
                    f"`strategy` must be {spec.name} with named settings, not {asked!r}."
                )
            settings[kind.main] = spec.main
        if spec.name == "budget" and "items" not in settings:
            raise InputError("`strategy` must say how many items may be scored, as in budget:1e7.")
        return cls(name=spec.name, users=settings.pop("users", None), settings=settings)

    def rank(self, scorer: Any, targets: Any, **arguments: Any) -> RankSample | ExactRanks:
        """The ranks of these targets, exact or among sampled candidates."""
        kinds: Any = {"sampled": sample_ranks, "adaptive": adaptive_ranks}
        function = kinds.get(self.name, rank)
        found: RankSample | ExactRanks = function(scorer, targets, **self.settings, **arguments)
        return found

    def per_user(self, n_items: int) -> float:
        """About how many items are scored for each user."""
        if self.name == "sampled":
            return float(self.settings["sample_size"])
        return 200.0 if self.name == "adaptive" else float(n_items)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "users": self.users, **self.settings}

    def __str__(self) -> str:
        settings = dict(self.settings)
        main = KINDS[self.name].main
        first = settings.pop(main, None) if main is not None else None
        if main == "users":
            first = self.users
        pieces = [] if first is None else [f"{first:g}" if main == "items" else str(first)]
        if self.users is not None and main != "users":
            pieces.append(f"users={self.users}")
        pieces += [f"{name}={value}" for name, value in settings.items() if value is not None]
        return f"{self.name}:{','.join(pieces)}" if pieces else self.name
