"""Estimates of several models in one table, with the remarks on each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fullrank._lib import checks, tabular
from fullrank._lib.results.markup import Sheet
from fullrank.errors import InputError
from fullrank.inference.estimation.paper_table import sheet
from fullrank.inference.estimation.remarks import page, table
from fullrank.inference.estimation.result import Estimate

_OF_ALL = ("format", "kind", "assumed")  # printed once for all models


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(tabular.ByModel[Estimate]):
    """A mapping from names of models to their `Estimate`, as `estimate` returns for a mapping.

    Attributes
    ----------
    models : name to Estimate
    assumed : assumptions about facts that are not known, one sentence each

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
    >>> found = estimate(samples, "recall@100")
    >>> round(found["new"]["recall@100"], 1)
    0.5
    >>> found.to_frame()[["model", "metric"]].to_dict("list")
    {'model': ['old', 'new'], 'metric': ['recall@100', 'recall@100']}
    """

    models: Mapping[str, Estimate]
    assumed: tuple[str, ...] = ()

    @classmethod
    def of(cls, models: Mapping[str, Estimate]) -> Estimates:
        """Create the result with the assumptions that all estimates share."""
        for name, one in models.items():
            if isinstance(one, Estimates):
                raise InputError(
                    f"`ranks` must hold one model under each name; {checks.printable(name)} is a "
                    f"table of {len(one)}: {checks.printable(', '.join(one))}. Give only the "
                    "table, or only its rows for one model."
                )
        assumed = dict.fromkeys(note for one in models.values() for note in one.diagnosis.assumed)
        return cls(models, tuple(assumed))

    def with_bounds(self) -> Estimates:
        """Return the estimates, each with its bounds."""
        return replace(self, models={name: one.with_bounds() for name, one in self.models.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, with a format version: of one model, or of each under "models"."""
        models = []
        for name, one in self.models.items():
            content = tabular.without(one.to_dict(), *_OF_ALL)
            models.append({"metrics": content.pop("metrics"), "model": name, **content})
        found = models[0] if len(models) == 1 else {"models": models}
        return {"format": 1, "kind": "Estimates", **found, "assumed": list(self.assumed)}

    def plot(self, ax: Any = None) -> Any:
        """Draw the first metric of every model with its interval. Returns the axes."""
        ax, first = tabular.axes(ax), next(iter(self.models.values()))
        metric = next(iter(first.values))
        values = [one[metric] for one in self.models.values()]
        ends = [one.confidence_interval[metric] for one in self.models.values()]
        tabular.whiskers(ax, list(self.models), values, ends)
        ax.set_xlabel(f"{metric} on the full catalogue, with its interval")
        return ax

    def __str__(self) -> str:
        """The table of all models; for one model, what `print` shows of its Estimate."""
        return page(self.models, self.assumed)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        return table(self.models)

    def _sheets(self) -> list[Sheet]:
        return [sheet(self.models)]

    def _title(self) -> str:
        return "estimates"
