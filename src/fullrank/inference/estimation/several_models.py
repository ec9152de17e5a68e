"""Estimates of several models side by side: one table, and what is to be known of each."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Protocol, overload

from numpy.typing import ArrayLike

from fullrank._lib import checks, tabular
from fullrank.errors import InputError
from fullrank.inference.estimation.remarks import page, table
from fullrank.inference.estimation.result import Estimate
from fullrank.inference.estimation.seeded import seeded_estimate
from fullrank.samples import ExactRanks, RankSample, Seeds, read_ranks
from fullrank.tables.columnar import is_frame
from fullrank.tables.table import plain

_OF_FRAME = ("n_items", "sample_size", "design", "excluded", "columns")
_OF_ALL = ("format", "kind", "assumed")  # said once for all models


@dataclass(frozen=True, eq=False)
class Estimates(tabular.Tabular, Mapping[str, Estimate]):
    """Name to Estimate, for one model or several; what `estimate` gives for a mapping.

    Attributes
    ----------
    models : name to Estimate
    assumed : what was taken for granted, a sentence each; of a file, by its reader

    Examples
    --------
    >>> from fullrank.inference import estimate
    >>> from fullrank.samples import simulate
    >>> samples = {
    ...     name: simulate(
    ...         [1 + u % top for u in range(600)], n_items=900, design="sampled:300", rng=0
    ...     )
    ...     for name, top in (("old", 300), ("new", 200))
    ... }
    >>> found = estimate(samples, metrics="recall@100")
    >>> round(found["new"]["recall@100"], 1)
    0.5
    >>> found.to_frame()[["model", "metric"]].to_dict("list")
    {'model': ['old', 'new'], 'metric': ['recall@100', 'recall@100']}
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
        """The same, each with its bounds."""
        models = {name: one.with_bounds() for name, one in self.models.items()}
        return replace(self, models=MappingProxyType(models))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version: of one model, or of each under "models"."""
        models = []
        for name, one in self.models.items():
            content = {k: v for k, v in one.to_dict().items() if k not in _OF_ALL}
            models.append({"metrics": content.pop("metrics"), "model": name, **content})
        found = models[0] if len(models) == 1 else {"models": models}
        return {"format": 1, **found, "assumed": list(self.assumed)}

    def __str__(self) -> str:
        """The table of all models; for one model, what `print` shows of its Estimate."""
        return page(self.models, self.assumed)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        return table(self.models)

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
    def __call__(
        self, sample: RankSample | ExactRanks | ArrayLike, **settings: Any
    ) -> Estimate: ...
    @overload
    def __call__(self, sample: Mapping[str, Any], **settings: Any) -> Estimates: ...


def takes_several(estimate: Callable[..., Estimate]) -> Estimating:
    """Let an estimate of one sample take several by name, each with the same settings."""

    @functools.wraps(estimate)
    def called(sample: Any, **settings: Any) -> Any:
        if isinstance(sample, Seeds):
            return seeded_estimate(sample, estimate, **{"metrics": _default(estimate), **settings})
        if is_frame(sample):
            return _of_frame(called, sample, settings)
        if not isinstance(sample, Mapping):
            return estimate(sample, **settings)
        if not sample or not all(isinstance(name, str) for name in sample):
            raise InputError("`sample` must map the names of models, as text, to their samples.")
        found = {name: called(one, **settings) for name, one in sample.items()}
        assumed = dict.fromkeys(note for one in found.values() for note in one.diagnosis.assumed)
        return Estimates(MappingProxyType(found), tuple(assumed))

    return called


def _default(estimate: Callable[..., Estimate]) -> Any:
    return inspect.signature(estimate).parameters["metrics"].default


def _of_frame(estimate: Callable[..., Any], frame: Any, settings: dict[str, Any]) -> Any:
    """The models in a data frame with a column ``rank``; one that names no model is one sample."""
    given = {key: settings.pop(key) for key in _OF_FRAME if key in settings}
    read = read_ranks(frame, **given)
    if len(read) == 1 and "model" not in {plain(str(name)) for name in _names(frame)}:
        (sample,) = read.values()
        return estimate(sample, **settings)
    found = estimate(dict(read), **settings)
    return replace(found, assumed=tuple(dict.fromkeys((*read.notes, *found.assumed))))


def _names(frame: Any) -> Any:
    return getattr(frame, "column_names", getattr(frame, "columns", ()))
