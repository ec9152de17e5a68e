"""Estimates of several models side by side: one table, and what is to be known of each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Protocol, overload

from numpy.typing import ArrayLike

from fullrank._lib import checks, tabular
from fullrank.errors import InputError
from fullrank.inference.estimation.result import Estimate
from fullrank.samples import RankSample


@dataclass(frozen=True, eq=False)
class Estimates(tabular.Tabular, Mapping[str, Estimate]):
    """Name to Estimate, for one model or several; what `estimate` gives for a mapping.

    Attributes
    ----------
    models : name to Estimate
    assumed : what a reader of files took for granted, a sentence each

    Examples
    --------
    >>> from fullrank.inference import estimate
    >>> from fullrank.samples import simulate
    >>> samples = {
    ...     name: simulate([1 + u % top for u in range(600)], n_items=900, sample_size=300, rng=0)
    ...     for name, top in (("old", 300), ("new", 200))
    ... }
    >>> found = estimate(samples, metrics="recall@100")
    >>> round(found["new"]["recall@100"], 1)
    0.5
    >>> print(found.to_markdown())
    | model | metric | naive | full catalogue | 95 % for all users like these |
    | --- | --- | --- | --- | --- |
    | old | recall@100 | 1.0000 | 0.334 | 0.297 … 0.372 |
    | new | recall@100 | 1.0000 | 0.500 | 0.461 … 0.540 |
    """

    models: Mapping[str, Estimate]
    assumed: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Estimate:
        return self.models[checks.choice("model", name, tuple(self.models))]

    def __iter__(self) -> Iterator[str]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)

    def with_bounds(self) -> Estimates:
        """The same, each with what its sample allows without any assumption."""
        models = {name: one.with_bounds() for name, one in self.models.items()}
        return replace(self, models=MappingProxyType(models))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version: of one model, or of each under "models"."""
        models = []
        for name, one in self.models.items():
            content = {k: v for k, v in one.to_dict().items() if k not in ("format", "kind")}
            models.append({"metrics": content.pop("metrics"), "model": name, **content})
        found = models[0] if len(models) == 1 else {"models": models}
        return {"format": 1, **found, "assumed": list(self.assumed)}

    def __str__(self) -> str:
        """The table of all models; for one model, what `print` shows of its Estimate."""
        body = tabular.text(*self._padded(), left=(0, 1) if len(self.models) > 1 else (0,))
        return "\n".join([*self._described(), *self.assumed, "", *body, "", *self._remarks()])

    def _described(self) -> list[str]:
        """What was ranked among what: in a line, or in one for each model where they differ."""
        return described({name: one.sample for name, one in self.models.items()})

    def _remarks(self) -> list[str]:
        """What holds for all models, then what holds for some, with their names."""
        lines: dict[str, list[str]] = {}
        for name, one in self.models.items():
            for line in one.remarks():
                lines.setdefault(line, []).append(name)
        every = [line for line, names in lines.items() if len(names) == len(self.models)]
        some = [
            f"{', '.join(names)}: {line}"
            for line, names in lines.items()
            if len(names) < len(self.models)
        ]
        return [*every, *some]

    def _padded(self) -> tuple[list[str], list[list[str]]]:
        """The table with its marks in a place of their own, so that numbers stand in line."""
        head, rows = self._unmarked()
        head[-1] += "  "
        return head, [[*cells[:-1], cells[-1] + (" ▲" if mark else "  ")] for cells, mark in rows]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        head, rows = self._unmarked()
        return head, [[*cells[:-1], cells[-1] + (" ▲" if mark else "")] for cells, mark in rows]

    def _unmarked(self) -> tuple[list[str], list[tuple[list[str], bool]]]:
        several, rows = len(self.models) > 1, []
        head = next(iter(self.models.values())).head()
        for name, one in self.models.items():
            for place, metric in enumerate(one.values):
                label = [name if place == 0 else ""] if several else []
                rows.append(([*label, *one.cells(metric)], one.marked(metric)))
        return (["model"] if several else []) + head, rows

    def _title(self) -> str:
        return "estimates"

    def _records(self) -> list[dict[str, Any]]:
        return [
            {"model": name} | record for name, one in self.models.items()
            for record in one._records()
        ]  # fmt: skip


class Estimating(Protocol):
    """One sample to an Estimate, several by name to Estimates."""

    @overload
    def __call__(self, sample: RankSample | ArrayLike, **settings: Any) -> Estimate: ...
    @overload
    def __call__(self, sample: Mapping[str, Any], **settings: Any) -> Estimates: ...


def takes_several(estimate: Callable[..., Estimate]) -> Estimating:
    """Let an estimate of one sample take several by name, each with the same settings."""

    @functools.wraps(estimate)
    def called(sample: Any, **settings: Any) -> Any:
        if not isinstance(sample, Mapping):
            return estimate(sample, **settings)
        if not sample or not all(isinstance(name, str) for name in sample):
            raise InputError("`sample` must map the names of models, as text, to their samples.")
        found = {name: estimate(one, **settings) for name, one in sample.items()}
        return Estimates(MappingProxyType(found))

    return called


def described(samples: Mapping[str, RankSample]) -> list[str]:
    """What was ranked among what: in a line, or in one for each model where they differ."""
    lines = {model: str(sample) for model, sample in samples.items()}
    if len(set(lines.values())) == 1:
        return list(lines.values())[:1]
    return [f"{model}: {line}" for model, line in lines.items()]
