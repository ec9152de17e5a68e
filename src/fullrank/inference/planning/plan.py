"""How many users and items a given precision needs, at the lowest cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank._lib.progress import Progress, reporter
from fullrank._lib.text import counted
from fullrank._lib.types import Floats
from fullrank.designs import Adaptive, Design, Exact, RankGrid, Uniform
from fullrank.errors import InputError
from fullrank.inference.estimation.doubts import size_doubts
from fullrank.inference.estimation.estimate import check_level, estimate
from fullrank.inference.estimation.influence import SHARED_BIAS, pseudo_values
from fullrank.inference.planning.predicted import Predicted, Predictor
from fullrank.inference.planning.result import Option, Plan
from fullrank.metrics import Metric, parse
from fullrank.samples import ExactRanks, RankDistribution, RankSample

FIXED = (100, 300, 1_000, 3_000, 10_000)
START = 25  # of adaptive designs, which end at 1/2, 1/4, … of the items
_HALVINGS = range(1, 9)
LEAST = 30  # users below which no normal interval is promised
_UNLIMITED = 10**9  # users, where nothing says how many there are
_ROUNDS = 8  # of a prediction for as many users as the last one asks for
Ranks = RankSample | ExactRanks


def plan(
    metric: str | Metric,
    *,
    n_items: int | None = None,
    n_users: int | None = None,
    pilot: Ranks | Sequence[Ranks] | None = None,
    shape: float | None = None,
    margin: float | str | None = None,
    budget: float | None = None,
    difference: float | None = None,
    power: float = 0.8,
    correlation: float | None = None,
    designs: Iterable[str | Design] | None = None,
    interval_for: str = "population",
    confidence_level: float = 0.95,
    progress: bool | Progress | None = None,
) -> Plan:
    """Find the number of users and items that each design needs, and the best design.

    Parameters
    ----------
    metric : a name such as ``"ndcg@10"``
    n_items : number of items that candidates are drawn from, including the target: the catalogue
        or, if training items are never drawn, the catalogue without them; a pilot has its own
    n_users : number of available test users; default: no limit, or those of the pilot with
        ``interval_for="users"``
    pilot : a RankSample or ExactRanks (all ranks known) with one target for each user, from which
        P(R) is taken; a pair of these for the same users under two models to plan for their
        difference
    shape : instead of a pilot, the parameter a of beta@a, which assumes Recall@K = (K/N)^a
    margin : the half-width of the interval, as a number or as a share of the metric (``"2%"``)
    budget : instead of a margin, the total number of items that may be scored; the designs are
        then compared at equal cost
    difference, power : instead of a margin, the difference of two models to detect with this
        power; default: the difference of the two pilots
    correlation : correlation of the two models over users; default: that of two pilots, else 0.5
    designs : the designs to compare, as `Design` objects or text such as ``"sampled:100"``,
        ``"adaptive:25"`` or ``"exact"``; default: all kinds in several sizes
    interval_for : "population": the interval is for the population of users, as in `estimate`;
        "users": for the metric of these `n_users`
    confidence_level : level of the interval
    progress : True prints a line on stderr for the designs; or a function of (done, total)

    Notes
    -----
    `error` includes the bias and the standard error of the estimator that `estimate` would choose,
    from the influence of each outcome (docs/studies/plan.md compares it with measured errors).
    `half_width` accounts for bias: the bound that `estimate` uses, or the bias predicted from the
    pilot or the shape, whichever is larger. A margin is compared with it. A design may need only
    some of the users, who are then drawn at random.

    Examples
    --------
    >>> found = plan(
    ...     "recall@10",
    ...     n_items=20_000,
    ...     n_users=10_000,
    ...     shape=0.3,
    ...     margin="10%",
    ...     designs=["sampled:100", "adaptive:25,limit=1600", "exact"],
    ... )
    >>> found.recommended.design
    adaptive:25,limit=1600
    """
    wanted = parse(metric)
    level = check_level(confidence_level)
    interval_for = checks.choice("interval_for", interval_for, ("users", "population"))
    truth = _truth(wanted, pilot, shape, n_items)
    users = _available(n_users, pilot, interval_for)
    value = truth.metric(wanted)
    if not value > 0.0:
        raise InputError(
            f"`pilot` must have {wanted.name} above 0; otherwise there is nothing to plan."
        )
    whom = "the population of users"
    if interval_for == "users":
        whom = f"the metric of these {users:,} users"
    goal = _goal(margin, budget, difference, pilot, wanted, value, level, power, correlation, whom)
    gain = truth.grid.averages(wanted)
    population = users if interval_for == "users" else None
    report = reporter(progress, "designs")
    excluded = _excluded(pilot)
    candidates, options = candidate_designs(designs, truth.n_items, excluded), []
    for design in candidates:
        if isinstance(design, Exact):
            design.check_metrics(wanted, of=design.label)
    for done, design in enumerate(candidates, start=1):
        options.append(_option(design, truth, gain, value, goal, users, population))
        if report is not None:
            report(done, len(candidates))
    cheap = "error" if budget is not None else "scored"
    options.sort(key=lambda one: (one.n_users is None, getattr(one, cheap), one.items_per_user))
    return Plan(
        options=tuple(options),
        metric=wanted.name,
        value=value,
        goal=goal.says,
        n_items=truth.n_items,
        n_users=None if users == _UNLIMITED else users,
        confidence_level=level,
        interval_for=interval_for,
        notes=size_doubts(pilot if isinstance(pilot, list | tuple) else [pilot]),
    )


@dataclass(frozen=True)
class _Goal:
    """The largest standard error allowed (with bias beside it), or the items to spend."""

    says: str
    level: float
    reach: float = 1.0  # standard errors within a difference
    margin: float = np.inf
    budget: float = np.inf
    two: bool = False  # a difference of two models
    models: float = 1.0  # the variance of a difference over that of one model


def _goal(
    margin: float | str | None,
    budget: float | None,
    difference: float | None,
    pilot: Ranks | Sequence[Ranks] | None,
    metric: Metric,
    value: float,
    level: float,
    power: float,
    correlation: float | None,
    whom: str,
) -> _Goal:
    from scipy.special import ndtri

    reach = float(ndtri(0.5 + 0.5 * level))
    two = isinstance(pilot, list | tuple) and len(pilot) == 2
    if (
        sum(one is not None for one in (margin, budget, difference))
        + (two and margin is None and budget is None and difference is None)
        != 1
    ):
        raise InputError("Exactly one of `margin`, `budget` and `difference` must be given.")
    if margin is not None:
        width = _margin(margin, value)
        around = f"± {width:.2g} ({100 * width / value:.3g} % of the metric)"
        says = f"goal: {100 * level:g} % interval of {around} for {whom}"
        return _Goal(says, level, margin=width)
    if budget is not None:
        spend = checks.real("budget", budget, low=1.0)
        return _Goal(f"budget: {spend:.2g} scored items", level, budget=spend)
    found, together = _pair(pilot, metric) if two else (None, 0.5)
    size = abs(checks.real("difference", found if difference is None else difference))
    if size == 0.0:
        raise InputError(
            "`difference` must not be 0, because no sample is large enough to detect it."
        )
    chance = checks.real("power", power)
    if not 1.0 - level < chance < 1.0:
        raise InputError(
            f"`power` must lie between {1.0 - level:g} and 1, such as 0.8, not {chance:g}."
        )
    together = together if correlation is None else checks.real("correlation", correlation)
    if not -1.0 <= together < 1.0:
        raise InputError(f"`correlation` must be at least -1 and below 1, not {together:g}.")
    says = f"goal: detect a difference of {size:.2g} with power {chance:g}"
    reach += float(ndtri(chance))
    return _Goal(says, level, reach, size, two=True, models=2.0 * (1.0 - together))


def _margin(margin: float | str, value: float) -> float:
    if isinstance(margin, str):
        text = margin.strip()
        try:
            share = float(text.removesuffix("%"))
        except ValueError:
            share = -1.0
        if not text.endswith("%") or not 0.0 < share < np.inf:
            raise InputError(
                f'`margin` must be a positive number or percentage such as "2%", not {margin!r}.'
            )
        return share / 100.0 * value
    return checks.positive("margin", margin)


def _pair(pilot: Any, metric: Metric) -> tuple[float, float]:
    """The difference of two pilots, and the correlation of their users."""
    first, second = (pseudo_values(one, metric) for one in pilot)
    if first.user is None or second.user is None:
        raise InputError(
            "`pilot` must have user ids in both samples, because users are paired by id."
        )
    _, one, two = np.intersect1d(first.user, second.user, return_indices=True)
    if one.size < LEAST:
        raise InputError(
            f"`pilot` must have at least {LEAST} users that are in both samples, not {one.size}."
        )
    together = float(np.corrcoef(first.values[one, 0], second.values[two, 0])[0, 1])
    return float(first.estimate[0] - second.estimate[0]), together


def _truth(
    metric: Metric,
    pilot: Ranks | Sequence[Ranks] | None,
    shape: float | None,
    n_items: int | None,
) -> RankDistribution:
    """P(R) of the pilot (of two, the first), or assumed."""
    if (pilot is None) == (shape is None):
        raise InputError("Exactly one of `pilot` and `shape` must be given.")
    if shape is not None:
        if n_items is None:
            raise InputError("`n_items` must be given with `shape`.")
        grid = RankGrid.for_metrics(checks.integer("n_items", n_items, low=2), [metric])
        power = checks.positive("shape", shape)
        return RankDistribution(
            grid=grid, mass=np.diff((grid.edges / grid.n_items) ** power), method=f"beta@{power:g}"
        )
    if n_items is not None:
        raise InputError("`n_items` must not be given with a pilot, which has its own.")
    found: RankDistribution | None
    samples: Sequence[Any] = [pilot]
    if isinstance(pilot, list | tuple) and len(pilot) == 2:
        samples = pilot
    if not all(isinstance(one, RankSample | ExactRanks) for one in samples):
        kinds = " and ".join(type(one).__name__ for one in samples)
        raise InputError(
            f"`pilot` must be a RankSample or ExactRanks, or two of them, not {kinds}."
        )
    for one in samples:
        if isinstance(one, ExactRanks):
            one.check_all_known("pilot")
    first = samples[0]  # planned samples borrow no shape
    first = first.anchored(None) if isinstance(first, RankSample) else first
    found = estimate(first, metrics=metric, confidence_level=None).distribution
    if found is None or found.signed:
        raise InputError("`pilot` must have one target for each user.")
    return found


def _available(n_users: int | None, pilot: Any, interval_for: str) -> int:
    """The number of users that may be ranked."""
    if n_users is not None:
        return checks.integer("n_users", n_users, low=2)
    if interval_for == "population":
        return _UNLIMITED
    if pilot is None:
        raise InputError('`n_users` must be given for interval_for="users" without a pilot.')
    first = pilot[0] if isinstance(pilot, list | tuple) else pilot
    return max(int(first.n_users or first.n_targets), 2)


def candidate_designs(
    designs: Iterable[str | Design] | None, n_items: int, excluded: bool | None = None
) -> list[Design]:
    """The designs that a plan weighs up: the given ones, or a range of them."""
    if designs is None:
        fixed = [Uniform(size) for size in FIXED if size < n_items]
        ends = {n_items // 2**halving for halving in _HALVINGS}
        adaptive = [Adaptive(START, limit=end) for end in sorted(ends) if end > 2 * START]
        given: list[str | Design] = [*fixed, *adaptive, Exact()]
    elif isinstance(designs, str | Design) or not isinstance(designs, Iterable):
        raise InputError(
            f'`designs` must be a list like ["sampled:100", "exact"], not {designs!r}.'
        )
    else:
        given = [*designs]
    if not given:
        raise InputError("`designs` must name at least one design; it is empty.")
    return [_candidate(one, n_items, excluded) for one in given]


def _excluded(pilot: Any) -> bool | None:
    """Whether the pilot's training items were excluded, as those of the plan would be."""
    first = pilot[0] if isinstance(pilot, list | tuple) else pilot
    if isinstance(first, ExactRanks):
        return True if first.pool == "unseen" else None
    return first.design.excluded if isinstance(first, RankSample) else None


def _candidate(design: str | Design, n_items: int, excluded: bool | None) -> Design:
    drawn = Design.of(design, argument="designs").drawable(n_items)
    return drawn.with_(excluded=excluded) if drawn.excluded is None else drawn


def _option(
    design: Design,
    truth: RankDistribution,
    gain: Floats,
    value: float,
    goal: _Goal,
    users: int,
    population: int | None,
) -> Option:
    """The fewest users that do it, the prediction made for about as many."""
    predict = Predictor(design, truth, gain)
    found, asked = predict(users), users
    needed = _users(found, goal, users, population)
    for _ in range(0 if isinstance(design, Exact) else _ROUNDS):
        # fewer users are smoothed more, which takes more users: halfway towards each other
        if needed is None or abs(needed - asked) <= 0.02 * asked:
            break
        asked = int(np.ceil(np.sqrt(asked * needed))) if asked < users else needed
        found = predict(asked)
        needed = _users(found, goal, users, population)
    used = users if needed is None else needed
    bias = 0.0 if goal.two else found.bias
    error = np.sqrt(goal.models * found.variance(used, population) + _left_of_bias(found, goal))
    width = np.nan if goal.two else found.half_width(used, population, goal.level)
    return Option(
        design=design,
        n_users=needed,
        items_per_user=found.size,
        scored=found.size * used if needed is not None else np.inf,
        standard_error=float(error),
        bias=bias,
        error=float(np.hypot(bias, error)) / value,
        half_width=width,
        method=found.method,
        note="" if needed is not None else _why_not(found, goal, design, truth, bias, users),
    )


def _users(found: Predicted, goal: _Goal, users: int, population: int | None) -> int | None:
    """How many users are needed, or None if all are not enough."""
    if np.isfinite(goal.budget):
        afford = int(min(goal.budget / found.size, users))
        return afford if afford >= min(LEAST, users) else None
    if not goal.two:
        reaches = lambda m: found.half_width(m, population, goal.level) <= goal.margin  # noqa: E731
        return _least(reaches, min(LEAST, users), users)
    allowed = ((goal.margin / goal.reach) ** 2 - _left_of_bias(found, goal)) / goal.models
    if population is not None:
        allowed += (2.0 * found.shared - found.ranks) / population
    if allowed <= 0.0 or found.spread / allowed > users:
        return None
    return min(users, max(LEAST, int(np.ceil(found.spread / allowed))))


def _least(reaches: Callable[[int], bool], low: int, high: int) -> int | None:
    """The least number from `low` to `high` that reaches the goal, as all above it do."""
    if not reaches(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle + 1, high)
    return high


def _left_of_bias(found: Predicted, goal: _Goal) -> float:
    """The variance that `compare` adds for the bias that two models do not share."""
    return 2.0 * (1.0 - SHARED_BIAS) * found.bias_bound**2 if goal.two else 0.0


def _why_not(
    found: Predicted,
    goal: _Goal,
    design: Design,
    truth: RankDistribution,
    bias: float,
    users: int,
) -> str:
    if np.isfinite(goal.budget):
        return f"the budget covers fewer than {counted(min(LEAST, users), 'user')}"
    biased = abs(bias) if goal.two else found.largest_bias
    if biased >= goal.margin and not isinstance(design, Exact):
        largest = design.rounds(truth.n_items).sizes[-1]
        return f"biased: rank 1 covers {truth.n_items / largest:,.0f} ranks"
    if users == _UNLIMITED:
        return "no number of users is enough"
    return f"even all {users:,} users are too few"
