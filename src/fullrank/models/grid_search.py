"""Grid search: evaluate every combination of settings by exact ranks of held-out items."""

from __future__ import annotations

import inspect
import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np

from fullrank._lib import checks, extras
from fullrank._lib.progress import Progress, reporter
from fullrank._lib.results import markup
from fullrank.data.interactions import Interactions
from fullrank.errors import InputError
from fullrank.metrics import Metric, deepest, parse_all
from fullrank.models.base import Model, to_learn_from, to_score_from
from fullrank.models.low_rank.spectrum import SpectralModel, spectrum


def grid_search(
    model: Callable[..., Model],
    interactions: Interactions,
    targets: Any,
    *,
    grid: Mapping[str, Iterable[Any]],
    settings: Mapping[str, Any] | None = None,
    metrics: str | Metric | Iterable[str | Metric] = "ndcg@10",
    history: Interactions | None = None,
    exclude: Any = None,
    n_jobs: int | None = None,
    progress: bool | Progress | None = None,
) -> GridSearch:
    """Fit a model with every combination of settings and rank the targets with each.

    PureSVD, MF and LRR are fitted from one decomposition of the interactions for any regularisation
    and number of factors (Li, dissertation, Algorithm 2), so that a combination costs little more
    than its ranking. Other models are fitted one by one. One model is in memory at a time.

    Parameters
    ----------
    model : a class of `fullrank.models`, or anything that makes a model from keyword arguments
    interactions : Interactions
        The data that every model is fitted on.
    targets : Interactions, or a pair (user_rows, item_rows)
        Held-out items of the same users, such as the test part of a split of the training data.
        If the model does not learn from these users, as in a strong split, give their `history`.
    grid : mapping from settings to their values
        The last setting varies fastest.
    settings : mapping, optional
        Settings shared by all combinations.
    metrics : names such as ``"ndcg@10"``; the first decides
    history : Interactions, optional
        The interactions that users are scored from, such as `split.history`; default:
        `interactions`.
    exclude : Interactions or sparse matrix, optional
        Items that are not candidates, usually `interactions`. Default: `history`, if it is given.
    n_jobs : int, optional
        Threads for ranking.
    progress : True for a line on stderr, or a function of (done, total)

    Returns
    -------
    GridSearch

    Examples
    --------
    >>> from fullrank.data import load
    >>> from fullrank.models import LRR
    >>> split = load("simulated").split("leave-one-out", rng=0)
    >>> grid = {"n_factors": [4, 16], "regularization": [10, 1000]}
    >>> found = grid_search(
    ...     LRR, split.train, split.test, grid=grid, metrics="recall@20", exclude=split.train
    ... )
    >>> found.best_settings
    {'n_factors': 16, 'regularization': 10}
    """
    wanted = [metric.name for metric in parse_all(metrics)]
    fixed = dict(settings or {})
    names, rows = _combinations(model, grid, fixed)
    data = to_learn_from(interactions)
    if history is not None:
        history = to_score_from(history, data.item_ids)
        exclude = history if exclude is None else exclude
    _check_known(targets, data, history)
    fit = _fitter(model, data, names, rows, fixed)
    report = reporter(progress, "grid search")
    values, seconds = np.empty((len(rows), len(wanted))), np.empty(len(rows))
    for at, row in enumerate(rows):
        start = time.perf_counter()
        values[at] = _judged(fit(row), targets, history, exclude, wanted, n_jobs)
        seconds[at] = time.perf_counter() - start
        if report is not None:
            report(at + 1, len(rows))
    return GridSearch(
        model=model,
        names=names,
        combinations=tuple(rows),
        settings=MappingProxyType(fixed),
        metrics=tuple(wanted),
        values=checks.frozen(values),
        seconds=checks.frozen(seconds),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class GridSearch:
    """The metrics of each combination of settings.

    Attributes
    ----------
    model : the class that was searched
    names : the settings that vary
    combinations : their values, one tuple for each combination
    settings : the settings that do not vary
    metrics : names; the first decides
    values : array, shape (n_combinations, n_metrics)
    seconds : array, time of fitting and ranking, without a decomposition shared by all
    """

    model: Callable[..., Model]
    names: tuple[str, ...]
    combinations: tuple[tuple[Any, ...], ...]
    settings: Mapping[str, Any]
    metrics: tuple[str, ...]
    values: np.ndarray
    seconds: np.ndarray

    @property
    def best(self) -> int:
        """The index of the best combination; the first of equally good ones."""
        return int(np.argmax(self.values[:, 0]))

    @property
    def best_settings(self) -> dict[str, Any]:
        """All settings of the best combination."""
        return {
            **self.settings,
            **dict(zip(self.names, self.combinations[self.best], strict=True)),
        }

    def fit(self, interactions: Interactions) -> Model:
        """Fit a new model with the best settings, usually on all training data."""
        return self.model(**self.best_settings).fit(interactions)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain numbers, with a format version."""
        return {
            "format": 1,
            "kind": "GridSearch",
            "model": _name(self.model),
            "settings": dict(self.settings),
            "best_settings": self.best_settings,
            "combinations": self._records(),
        }

    def to_arrow(self) -> Any:
        """Return a pyarrow Table with one row per combination."""
        import pyarrow as pa

        return pa.Table.from_pylist(self._records())

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per combination."""
        return extras.frame(self.to_arrow())

    def to_markdown(self) -> str:
        """Return a Markdown table with the best combination in bold."""
        return markup.markdown(*self._bold())

    def to_latex(self) -> str:
        """Return a LaTeX tabular for booktabs with the best combination in bold."""
        return markup.latex(*self._bold())

    def _repr_html_(self) -> str:
        """A table for notebooks, every text in it escaped."""
        return markup.html(_name(self.model), *self._bold())

    def plot(self, ax: Any = None) -> Any:
        """Plot the first metric against the last setting, with a line for each other value."""
        if ax is None:
            ax = extras.load("matplotlib.pyplot", extra="plot", purpose="plot").subplots()[1]
        lines: dict[str, list[int]] = {}  # by what the values look like: a list has no hash
        for at, row in enumerate(self.combinations):
            rest = ", ".join(f"{n}={v}" for n, v in zip(self.names[:-1], row[:-1], strict=True))
            lines.setdefault(rest, []).append(at)
        along = [row[-1] for row in self.combinations]
        if not all(isinstance(value, Real) for value in along):
            along = list(map(str, along))  # names along the axis
        for label, places in lines.items():
            at_x = [along[place] for place in places]
            ax.plot(at_x, self.values[places, 0], marker="o", label=label or None)
        ax.set(xlabel=self.names[-1], ylabel=self.metrics[0], title=_name(self.model))
        if len(lines) > 1:
            ax.legend()
        return ax

    def __str__(self) -> str:
        rows = self._cells()
        widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
        lines = []
        for at, row in enumerate(rows):
            mark = "*" if at == self.best + 1 else " "
            cells = (f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
            lines.append(f"{mark} {'  '.join(cells)}")
        n = len(rows) - 1
        count = f"{n} combination{'' if n == 1 else 's'}"
        return "\n".join([f"{_name(self.model)}: {count}; * marks the best", *lines])

    def _records(self) -> list[dict[str, Any]]:
        return [
            dict(zip(self.names, row, strict=True))
            | dict(zip(self.metrics, values.tolist(), strict=True))
            | {"seconds": float(seconds)}
            for row, values, seconds in zip(
                self.combinations, self.values, self.seconds, strict=True
            )
        ]

    def _bold(self) -> tuple[list[str], list[list[str]]]:
        """The cells, those of the best combination as the best."""
        head, *rows = self._cells()
        rows[self.best] = [markup.Best(cell) for cell in rows[self.best]]
        return head, rows

    def _cells(self) -> list[list[str]]:
        head = [*self.names, *self.metrics, "seconds"]
        rows = [
            [*map(str, row), *(f"{value:.4f}" for value in values), f"{seconds:.2f}"]
            for row, values, seconds in zip(
                self.combinations, self.values, self.seconds, strict=True
            )
        ]
        return [head, *rows]


def _combinations(
    model: Callable[..., Model], grid: Mapping[str, Iterable[Any]], fixed: Mapping[str, Any]
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    lists = {name: list(values) for name, values in grid.items()}
    if not lists:
        raise InputError("`grid` must name at least one setting; it is empty.")
    for name, values in lists.items():
        if not values:
            raise InputError(f"`grid` must have values for every setting; {name!r} has none.")
        if name in fixed:
            raise InputError(f"`settings` must not repeat the grid; both have {name!r}.")
    if is_dataclass(model):
        takes = list(inspect.signature(model).parameters)
        for name in (*lists, *fixed):
            if name not in takes:
                raise InputError(
                    f"`grid` and `settings` must name settings of {_name(model)} "
                    f"({', '.join(takes) or 'it has none'}); {name!r} is not one."
                )
    return tuple(lists), list(itertools.product(*lists.values()))


def _fitter(
    model: Callable[..., Model],
    data: Interactions,
    names: tuple[str, ...],
    rows: Sequence[tuple[Any, ...]],
    fixed: Mapping[str, Any],
) -> Callable[[tuple[Any, ...]], Model]:
    def made(row: tuple[Any, ...]) -> Any:
        return model(**fixed, **dict(zip(names, row, strict=True)))

    if not (isinstance(model, type) and issubclass(model, SpectralModel)):
        return lambda row: made(row).fit(data)
    found = spectrum(data, max(made(row).n_factors for row in rows))
    return lambda row: made(row).fit_from(found, data)


def _judged(
    model: Any,
    targets: Any,
    history: Interactions | None,
    exclude: Any,
    metrics: Sequence[str],
    n_jobs: int | None,
) -> list[float]:
    from fullrank.ranking import rank

    scorer = model if history is None else model.scorer(history)
    ranks = rank(
        scorer, targets, exclude=exclude, max_rank=deepest(metrics), n_jobs=n_jobs
    )  # fmt: skip
    return list(ranks.metrics(metrics).values())


def _check_known(targets: Any, data: Interactions, history: Interactions | None) -> None:
    """Raise where every user would be scored from nothing: all combinations would tie."""
    from fullrank.data.targets import clean_targets

    users = clean_targets(targets, n_users=None, n_items=data.n_items).users
    name, known = ("interactions", data) if history is None else ("history", history)
    if not known.user_counts()[users[users < known.n_users]].any():
        raise InputError(
            f"`{name}` must hold interactions of the users of `targets`; it has none for any of "
            f"the {users.size}. For a strong split, give `history=split.history`."
        )


def _name(model: Any) -> str:
    return str(getattr(model, "__name__", type(model).__name__))
