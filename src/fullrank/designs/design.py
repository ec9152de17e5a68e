"""How the candidates of a target are drawn: the contract of every design, and its text form.

A design states three things, in arrays: what is drawn next and when to stop (`rounds`), and the
likelihood of its outcomes (`probabilities`, which follows from the rounds unless a design brings
its own). `ranking` has one kernel for the CPU and one for CUDA that execute any rounds, so that a
new design is one class in one file:

    @register
    @dataclass(frozen=True)
    class TwoStage(Design):
        name = "two_stage"
        main = "first"          # what "two_stage:50" sets
        first: int = 50
        second: int = 500

        def rounds(self, n_items, sample_size=None):
            return Rounds((self.first, self.second), (3,), self.replacement)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks
from fullrank._lib.names.registry import Registry
from fullrank._lib.specs import parse_spec
from fullrank._lib.types import Floats, Ints
from fullrank.designs.grid import RankGrid
from fullrank.designs.probabilities import at_most, kernel, kernel_averages
from fullrank.designs.rounds import Rounds
from fullrank.designs.sizes import checked_size
from fullrank.errors import InputError

POOLS = ("all", "unseen")
DESIGNS: Registry[type[Design]] = Registry("design")


def register(design: type[Design]) -> type[Design]:
    """Register a design under its `name`, for `Design.of`, files and the command line."""
    name = getattr(design, "name", "")
    if not (isinstance(design, type) and issubclass(design, Design) and name.isidentifier()):
        raise InputError("`design` must be a subclass of Design with a `name` that is one word.")
    design.__repr__ = Design.__repr__  # type: ignore[method-assign]  # the text form, not the fields
    if design.__module__.startswith("fullrank."):
        DESIGNS.bring({name: design})
        return design
    known = DESIGNS.get(name)
    if known is not None and (known.__module__, known.__qualname__) == (
        design.__module__,
        design.__qualname__,
    ):  # a module that is loaded again
        DESIGNS.unregister(name)
    DESIGNS.register(name, design)
    return design


def unregister(name: str) -> None:
    """Remove a design that was registered."""
    DESIGNS.unregister(name)


def names() -> tuple[str, ...]:
    """The names of the registered designs."""
    return tuple(DESIGNS)


@dataclass(frozen=True, kw_only=True)
class Design:
    """The rule by which candidates are drawn for every target, and the base class of all designs.

    Parameters
    ----------
    replacement : whether an item can be drawn twice for the same target
    pool : "all" items, or the items "unseen" by the user
    ties : which rank a target gets among candidates of equal score
    excluded : whether the user's training items were excluded, that is, not drawn or counted as
        below the target; None if that is unknown

    Notes
    -----
    ``str(design)`` is its text form, which `Design.of` and the option ``--design`` read.

    Examples
    --------
    >>> Design.of("sampled:100")
    sampled:100
    >>> Design.of("adaptive:25,limit=200").rounds(3000).sizes
    (25, 50, 100, 200)
    """

    name: ClassVar[str] = ""
    main: ClassVar[str | None] = None
    size_names: ClassVar[tuple[str, str]] = ("sample_size", "sample_size")  # first and last
    tie_policies: ClassVar[tuple[str, ...]] = ("unknown", "best", "worst", "random")

    replacement: bool = False
    pool: str = "all"
    ties: str = "unknown"
    excluded: bool | None = None

    def __post_init__(self) -> None:
        self._set("replacement", checks.flag("replacement", self.replacement))
        if self.excluded is not None:
            self._set("excluded", checks.flag("excluded", self.excluded))
        checks.choice("pool", self.pool, POOLS)
        checks.choice("ties", self.ties, self.tie_policies)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    # -- what a design states -----------------------------------------------------------------

    def rounds(self, n_items: int, sample_size: int | None = None) -> Rounds:
        """Return what is drawn for a target whose pool has `n_items` items, including the target.

        `sample_size` is that of the target, where the design leaves it open.
        """
        raise NotImplementedError(f"{type(self).__name__} must define `rounds`.")

    def resolved(self, n_items: int) -> Self:
        """Return the design with all settings that depend on the catalogue fixed.

        Its `rounds` are then the same whatever the pool of a target: users who have seen many
        items, or with more than one target, have fewer to draw from than others.
        """
        return self

    def settled(self, n_items: int) -> Self:
        """The resolved design, if its rounds no longer depend on the number of items."""
        design, fewer = self.resolved(n_items), max(2, n_items // 2)
        try:
            rounds = design.rounds(n_items)
        except InputError as error:
            raise _refused("design", repr(str(design)), error) from error
        if not isinstance(rounds, Rounds):
            raise InputError(
                f"`design` must return Rounds, but rounds() of {self.name} returns "
                f"{checks.shown(rounds)}."
            )
        if rounds.within(fewer) != _rounds_of(design, fewer):
            raise InputError(
                f"`design` must have the same rounds for every pool, but those of {design} differ "
                f"between {fewer:,} and {n_items:,} items. Compute the sizes that depend on "
                "the catalogue in the design's method `resolved`."
            )
        return design

    def drawable(self, n_items: int) -> Self:
        """The settled design, if a catalogue of `n_items` has enough of them."""
        design = self.settled(n_items)
        sizes = design.rounds(n_items).sizes
        first, last = self.size_names
        for name, size in ((first, sizes[0]), (last, sizes[-1])):
            checked_size(name, size, n_items=n_items, replacement=self.replacement)
        return design

    @property
    def adaptive(self) -> bool:
        """Whether the number of candidates of a target depends on its rank."""
        return True

    @property
    def uniform(self) -> bool:
        """Whether the likelihood is that of uniform draws, and not one of the design's own."""
        return type(self).likelihood_at is Design.likelihood_at

    def describe(self) -> str:
        """Describe the design in words."""
        return f"{self.label}, {self._manner()}"

    @property
    def label(self) -> str:
        """Return a short label that distinguishes the design from others on the same data."""
        return self._text(hidden=("replacement", "pool", "ties", "excluded"))

    def _manner(self) -> str:
        how = f"{'with' if self.replacement else 'without'} replacement"
        if self.pool == "unseen":
            return f"{how} from unseen items"
        return f"{how}, training items excluded" if self.excluded else f"{how} from all items"

    def joined(self, other: Design) -> Design | None:
        """Return the design of the sum of two samples, or None if they cannot be added."""
        return self if self == other else None

    def cost(self, n_items: int) -> float:
        """About how many items are scored for each target."""
        return float(self.rounds(n_items).sizes[-1])

    @property
    def bare(self) -> Self:
        """Return the design reduced to how candidates are drawn, to check that samples share it."""
        return self.with_(pool="all", ties="unknown", excluded=None)

    def of_size(self, sample_size: int) -> Design:
        """The design of targets that have `sample_size` candidates, where it leaves that open."""
        return self

    def size_for(self, n_items: int) -> int:
        """Return the sample size of every target; raise if it differs between targets."""
        sizes = self.rounds(n_items).sizes
        if self.adaptive or len(sizes) > 1:
            raise InputError("`sample_size` must be given for each target of an adaptive design.")
        return sizes[0]

    def seen(self, sample_size: Ints) -> Self:
        """The design of targets that turned out to have these sizes."""
        return self

    # -- what follows -------------------------------------------------------------------------

    def exhausted(self, sample_size: Ints, pool: ArrayLike) -> NDArray[np.bool_]:
        """Which targets were ranked among all of their items, so that their rank is exact."""
        return np.asarray((sample_size == np.asarray(pool)) & (not self.replacement))

    def reachable(self, sample_size: ArrayLike, pool: ArrayLike) -> Ints:
        """Return how many candidates a target with this pool gets if `sample_size` is requested."""
        wanted, items = np.asarray(sample_size), np.asarray(pool)
        return np.where(items > 1, wanted, 1) if self.replacement else np.minimum(wanted, items)

    def spread(self, sample_size: int, pool: int) -> float:
        """Return the variance of the share of draws above a target, relative to independence."""
        return 1.0 if self.replacement else 1.0 - sample_size / float(pool)

    def check(self, rank: Ints, sample_size: Ints, pool: Ints) -> None:
        """Raise if the design cannot produce an outcome."""
        checks.reject("rank", rank, rank < 1, "be at least 1", ONE_BASED)
        checks.reject("rank", rank, rank > sample_size, "be at most the sample size", ONE_BASED)
        if self.replacement:
            lone = (pool < 2) & (sample_size > 1)
            checks.reject("n_items", pool, lone, "be at least 2 if candidates are drawn")
        else:
            checks.reject(
                "sample_size",
                sample_size,
                sample_size > pool,
                "be at most the number of items that can be drawn, plus the target",
                "Without replacement, a sample cannot be larger than the catalogue.",
            )
        if self.adaptive:
            self.rounds(int(pool.max())).check(rank, sample_size, pool)

    def likelihood(
        self, rank: ArrayLike, sample_size: ArrayLike, *, n_items: ArrayLike, grid: RankGrid
    ) -> Floats:
        """P(outcome | R) up to a factor free of R, averaged over bins: (n_bins, n_outcomes)."""
        r, n, pool = _outcomes(rank, sample_size, n_items)
        table = np.empty((grid.n_bins, r.size))
        for group in _groups(n, pool):
            table[:, group] = kernel_averages(
                r[group],
                sample_size=int(n[group[0]]),
                n_items=int(pool[group[0]]),
                replacement=self.replacement,
                grid=grid,
            )
        return table

    def probabilities(
        self, rank: ArrayLike, sample_size: ArrayLike, *, n_items: ArrayLike, grid: RankGrid
    ) -> Floats:
        """P(outcome | R), averaged over each bin: shape (n_bins, number of outcomes).

        `n_items` is the pool of each outcome (or of all): the items that could rank above
        the target, and the target.
        """
        table = self.likelihood(rank, sample_size, n_items=n_items, grid=grid)
        return table * self._continuation(rank, sample_size, n_items) if self.adaptive else table

    def probabilities_at(
        self, true_ranks: ArrayLike, rank: ArrayLike, sample_size: ArrayLike, *, n_items: int
    ) -> Floats:
        """P(outcome | R) at given true ranks: shape (number of ranks, number of outcomes)."""
        r, n, pool = _outcomes(rank, sample_size, n_items)
        table = np.empty((np.asarray(true_ranks).size, r.size))
        for group in _groups(n, pool):
            size = int(n[group[0]])
            table[:, group] = self.likelihood_at(true_ranks, r[group], size, n_items=n_items)
        return table * self._continuation(r, n, pool) if self.adaptive else table

    def likelihood_at(
        self, true_ranks: ArrayLike, rank: ArrayLike, sample_size: int, *, n_items: int
    ) -> Floats:
        """P(r | R) among `sample_size` candidates at given true ranks: (n_ranks, n_outcomes)."""
        return kernel(
            true_ranks, rank, sample_size=sample_size, n_items=n_items, replacement=self.replacement
        )

    def at_most(self, rank: Ints, true_ranks: Ints, sample_size: int, n_items: int) -> Floats:
        """P(r <= rank | R) among `sample_size` candidates: (n_ranks, number of `rank`)."""
        if not self.uniform:
            every = np.arange(1, int(np.max(rank)) + 1)
            table = self.likelihood_at(true_ranks, every, sample_size, n_items=n_items)
            return np.asarray(np.cumsum(table, axis=1)[:, np.asarray(rank) - 1])
        return at_most(true_ranks, rank, sample_size, n_items, self.replacement)

    def _continuation(self, rank: ArrayLike, sample_size: ArrayLike, n_items: ArrayLike) -> Floats:
        """The factor of each outcome that does not depend on R."""
        r, n, pool = _outcomes(rank, sample_size, n_items)
        factor = np.ones(r.size)
        for group in _groups(n, pool):
            items = int(pool[group[0]])
            rounds = self.rounds(items).within(items)
            factor[group] = rounds.continuation(r[group], int(n[group[0]]))
        return factor

    def possible(self, n_items: int, sample_size: int | None = None) -> tuple[Ints, Ints]:
        """Every outcome (r, n) of a target with a pool of `n_items`."""
        return self.rounds(n_items, sample_size).within(n_items).possible()

    def likely(self, n_items: int, sample_size: int | None = None) -> tuple[Ints, Ints]:
        """The outcomes of a target that are not negligible whatever its rank."""
        return self.rounds(n_items, sample_size).within(n_items).likely()

    # -- text and files -----------------------------------------------------------------------

    @staticmethod
    def of(design: str | Design, *, argument: str = "design") -> Design:
        """A design from its text form, such as ``"sampled:100"``; a Design as it is."""
        if isinstance(design, Design):
            return design
        if not isinstance(design, str):
            raise InputError(
                f"`{argument}` must be a Design or text such as 'sampled:100', not {design!r}."
            )
        spec = parse_spec(argument, design)
        settings = dict(spec.settings)
        kind = _kind(argument, spec.name)
        if spec.main is not None:
            if kind.main is None or kind.main in settings:
                raise InputError(
                    f"`{argument}` must name each setting of {spec.name} once, not {design!r}."
                )
            settings[kind.main] = spec.main
        return _made(argument, kind, settings, repr(design))

    @staticmethod
    def from_dict(entry: Mapping[str, Any]) -> Design:
        """The design that `to_dict` wrote."""
        settings = dict(entry)
        kind = _kind("design", str(settings.pop("name", "")))
        return _made("design", kind, settings, f"{kind.name} with these settings")

    def to_dict(self) -> dict[str, Any]:
        """The name and the settings, for JSON."""
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"name": self.name, **settings}

    def _to_plain(self) -> dict[str, Any]:
        return self.to_dict()

    @classmethod
    def _from_plain(cls, content: Any) -> Design:
        if not isinstance(content, Mapping):
            raise InputError(
                f"`design` must be a mapping written by `to_dict`, not {checks.shown(content)}."
            )
        return cls.from_dict(content)

    def with_(self, **settings: Any) -> Self:
        """Return the design with other settings."""
        return replace(self, **settings)

    def _text(self, hidden: tuple[str, ...] = ()) -> str:
        pieces = []
        shared = [field.name for field in fields(Design)]
        order = {
            field.name: (field.name != self.main, field.name in shared) for field in fields(self)
        }
        for field in sorted(fields(self), key=lambda one: order[one.name]):
            value = getattr(self, field.name)
            if field.name in hidden or (value == field.default and field.name != self.main):
                continue
            if field.name == self.main:
                pieces += [] if value is None else [_written(value)]
            else:
                pieces.append(f"{field.name}={_written(value)}")
        return f"{self.name}:{','.join(pieces)}" if pieces else self.name

    def __str__(self) -> str:
        return self._text()

    def __repr__(self) -> str:
        return self._text()


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "/".join(map(str, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _kind(argument: str, name: str) -> type[Design]:
    if name == "popularity" and name not in DESIGNS:
        raise InputError(
            f"`{argument}` must not be popularity: how far popular candidates crowd out a target "
            "depends on the target, so its rank among them does not determine its rank among "
            "all items. Draw candidates uniformly."
        )
    return DESIGNS.find(name, argument=argument)


def _made(argument: str, kind: type[Design], settings: dict[str, Any], shown: str) -> Design:
    known = {field.name: field.default for field in fields(kind)}
    if not settings.keys() <= known.keys():
        raise checks.unknown_settings(argument, kind.name, known, settings)
    try:
        for name, value in settings.items():
            _check_number(name, value, known[name])
        return kind(**settings)
    except InputError as error:
        raise _refused(argument, shown, error) from error


def _check_number(name: str, value: Any, default: Any) -> None:
    """Text in the place of a number, which a design from outside need not check itself."""
    if isinstance(value, str) and isinstance(default, int | float):
        what = "True or False" if isinstance(default, bool) else "a number"
        what = "a whole number" if type(default) is int else what
        raise InputError(f"`{name}` must be {what}, not {value!r}.")


def _refused(argument: str, shown: str, error: InputError) -> InputError:
    """The error about a whole design; what a setting must be is no argument of the caller."""
    return InputError(f"`{argument}` must not be {shown}: {str(error).replace('`', '')}")


ONE_BASED = (
    "Ranks are 1-based, and the sample size includes the target: a target among 100 others has a "
    "sample size of 101."
)


def _rounds_of(design: Design, n_items: int) -> Rounds | None:
    """The rounds for a pool within itself; None where it has none."""
    try:
        return design.rounds(n_items).within(n_items)
    except InputError:
        return None


def _outcomes(
    rank: ArrayLike, sample_size: ArrayLike, n_items: ArrayLike
) -> tuple[Ints, Ints, Ints]:
    r = checks.integers("rank", rank, low=1, hint="Ranks are 1-based.")
    n = checks.integers("sample_size", sample_size, size=r.size, low=1)
    pool = checks.integers("n_items", n_items, size=r.size, low=1)
    checks.reject("rank", r, r > n, "be at most the sample size")
    return r, n, pool


def _groups(n: Ints, pool: Ints) -> list[Ints]:
    """Indices of the outcomes that share sample size and pool."""
    if n.size == 0:
        return []
    order = np.lexsort((n, pool))
    new = (np.diff(n[order]) != 0) | (np.diff(pool[order]) != 0)
    return np.split(order, np.flatnonzero(new) + 1)
