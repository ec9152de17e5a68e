"""The result of an evaluation: the ranks of each model, estimates, and a comparison."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fullrank._lib import extras, tabular
from fullrank._lib import files as _files
from fullrank._lib.fingerprints import file_fingerprint
from fullrank._lib.results import markup
from fullrank._lib.results.markup import Sheet
from fullrank._lib.text import decimals
from fullrank.data.split import describe_split
from fullrank.errors import InputError
from fullrank.estimators.methods import Named
from fullrank.evaluation.manifest import (
    KIND,
    known,
    read_manifest,
    shown,
)
from fullrank.inference import Comparison, Estimate, compare, estimate
from fullrank.inference.comparison.numbers import shown_chance
from fullrank.inference.comparison.paper_tables import (
    BOLD,
    best_by_metric,
    better_by_metric,
    significance,
)
from fullrank.inference.estimation.paper_table import sheet, whose_intervals
from fullrank.inference.estimation.remarks import described
from fullrank.samples import ExactRanks, RankSample
from fullrank.samples.read_ranks import read_own

HOW_TO_TURN_OFF = " (--no-anchor or anchor=None turns this off)"  # of anchors; no words for a paper


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Evaluation(tabular.Tabular):
    """The ranks of every model on the same targets, with estimates and a comparison.

    Attributes
    ----------
    samples : mapping from the name of a model to its ranks, ExactRanks or a RankSample
    metrics : names of the metrics
    about : how the models were evaluated: data, split, seed, design, models, version, …
    confidence_level : confidence level of the intervals
    method : the estimator for samples
    """

    samples: Mapping[str, RankSample | ExactRanks]
    metrics: tuple[str, ...]
    about: Mapping[str, Any]
    confidence_level: float = 0.95
    method: Named = "auto"

    @cached_property
    def estimates(self) -> Mapping[str, Estimate]:
        """The full-catalogue metrics of every model; those of exact ranks are exact."""
        from fullrank.reporting import drawn_metrics

        drawn = drawn_metrics(self.samples.values(), self.metrics)
        return MappingProxyType(
            {
                name: estimate(
                    sample,
                    metrics=self.metrics,
                    also=() if isinstance(sample, ExactRanks) else drawn,  # of the same fit
                    confidence_level=self.confidence_level,
                    method="auto" if isinstance(sample, ExactRanks) else self.method,
                    rng=self.about.get("seed", 0),
                )
                for name, sample in self.samples.items()
            }
        )

    @cached_property
    def comparison(self) -> Comparison | None:
        """The models compared user by user; None for one model, or if rows were not kept."""
        if len(self.samples) < 2 or not all(_has_rows(one) for one in self.samples.values()):
            return None
        return compare(
            self.samples,
            self.metrics,
            confidence_level=self.confidence_level,
            method=self.method,
            rng=self.about.get("seed", 0),
        )

    @property
    def exact(self) -> bool:
        """Whether every target was ranked among all items."""
        return all(isinstance(one, ExactRanks) or one.exhausted for one in self.samples.values())

    @property
    def split(self) -> str | None:
        """A line that says how the test items were held out; None if the data were not a split."""
        return _split(self.about)

    @property
    def borrowed(self) -> str | None:
        """A line that names the anchors of the estimates; None if none were requested."""
        return self.about.get("borrowed")

    @property
    def scored(self) -> str | None:
        """A line with the share of pairs scored for ranks up to K; None for other ranks."""
        shares = {
            name: one.share_scored
            for name, one in self.samples.items()
            if isinstance(one, ExactRanks) and one.share_scored is not None
        }
        if not shares:
            return None
        several = len(self.samples) > 1
        each = [
            f"{100 * share:.3g} %{f' ({name})' if several else ''}"
            for name, share in shares.items()
        ]
        return f"Share of user–candidate pairs scored: {', '.join(each)}."

    def write(self, folder: _files.PathLike, *, report: bool = True) -> None:
        """Write ranks (Parquet), results (JSON) and a report (HTML) into a folder.

        The folder is created; a folder that holds anything other than an evaluation is refused.
        """
        from fullrank.evaluation.run_folder import RunFolder

        with RunFolder(folder) as run:
            run.publish(self, report=report)

    @classmethod
    def read(cls, folder: _files.PathLike) -> Evaluation:
        """Read an evaluation that `write` or `evaluate(..., out=folder)` wrote."""
        place = Path(folder)
        head = read_manifest(place)
        samples = {one["name"]: _ranks(place, one) for one in head["models"]}
        return cls(
            samples=MappingProxyType(samples),
            metrics=tuple(head["metrics"]),
            about=MappingProxyType(head),
            confidence_level=head["confidence_level"],
            method=head.get("method", "auto"),
        )

    def write_report(self, path: _files.PathLike, **settings: Any) -> None:
        """Write only the report, one HTML file with these estimates and this comparison."""
        from fullrank.reporting import report

        report(self, path, **settings)

    def for_report(self) -> dict[str, Any]:
        """Return what `fullrank.report` shows of an evaluation."""
        return {
            "results": self.estimates,
            "metrics": self.metrics,
            "comparison": self.comparison,
            "measured": self.measured(),
        }

    def measured(self) -> dict[str, str]:
        """Return how the models were evaluated, as a mapping from labels to text."""
        return _measured(self.about)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain numbers, with a format version."""
        models = [
            {"model": name}
            | {k: v for k, v in one.to_dict().items() if k not in ("format", "kind")}
            for name, one in self.estimates.items()
        ]
        found: dict[str, Any] = known(
            {
                "format": 1,
                "kind": KIND,
                "exact": self.exact,
                "split": self.split,
                "borrowed": self.borrowed,
                "metrics": list(self.metrics),
                "models": models,
                "comparison": None if self.comparison is None else self.comparison.to_dict(),
            }
        )
        return found

    def plot(self, ax: Any = None) -> Any:
        """Plot every model's first metric with its interval, and return the axes."""
        plt = extras.load("matplotlib.pyplot", extra="plot", purpose="Drawing")
        ax = ax if ax is not None else plt.subplots()[1]
        metric = self.metrics[0]
        at = range(len(self.samples) - 1, -1, -1)  # the first on top
        for y, one in zip(at, self.estimates.values(), strict=True):
            ax.plot(one.confidence_interval[metric], (y, y), color="black")
            ax.plot(one[metric], y, "o", color="black")
        ax.set_yticks(list(at), [name.replace("$", r"\$") for name in self.samples])
        ax.set_xlabel(f"{metric}, {100 * self.confidence_level:g} % interval")
        return ax

    def __str__(self) -> str:
        split = [] if self.split is None else [f"Split: {self.split}"]
        lines = [self._title(), *split, "", *markup.text(*self._table())]
        lines += whose_intervals(self.estimates.values())
        if self.comparison is not None:
            if len(self.metrics) > 1:
                lines.append(
                    f"P(best) and differences are for {self.metrics[0]}, the first metric."
                )
            best = self.comparison.best(self.metrics[0])
            others = [name for name in self.samples if name != best]
            found = [self.comparison.between(best, name, self.metrics[0]) for name in others]
            width = max(len(one.pair) for one in found)
            lines += ["", *(f"{one.pair:<{width}}  {one.metric}  {one.tail}" for one in found)]
            unnamed = self.comparison.leader(self.metrics[0]).says
            lines += [*([] if unnamed is None else [unnamed]), *self.comparison.notes]
        several = len(self.samples) > 1
        notes = [
            f"{name}: {note}" if several else note
            for name, one in self.estimates.items()
            for note in one.diagnosis.lines()
            if note
        ]
        beside = [one for one in (self.scored, self.borrowed) if one is not None]
        return "\n".join([*lines, *beside, *notes])

    def _title(self) -> str:
        name = self.about.get("name") or "ranks"
        lines = described(self.samples)
        return f"{name} · {lines[0]}" if len(lines) == 1 else "\n".join([f"{name}:", *lines])

    def _sheets(self) -> list[Sheet]:
        """The estimates; with marks of the comparison, where there is one."""
        compared, told, best, better = self.comparison, [], None, None
        if compared is not None:
            best, better = best_by_metric(compared), better_by_metric(compared)
            told += [BOLD] if best else []
            told += [significance(compared)] if better else []
        table = sheet(self.estimates, by_model=True, best=best, better=better)
        data = f"Data: {self.about['name']}." if self.about.get("name") else None
        split = None if self.split is None else f"Split: {self.split}."
        borrowed = None if self.borrowed is None else self.borrowed.replace(HOW_TO_TURN_OFF, "")
        lines = [table.caption, *told, data, split, self.scored, borrowed]
        return [table._replace(caption=" ".join(line for line in lines if line is not None))]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        compared = self.comparison
        head = ["model", *self.metrics, *(["P(best)"] if compared is not None else [])]
        rows = []
        for name, one in self.estimates.items():
            row = [name]
            for metric in self.metrics:
                digits = decimals(one[metric])
                ends = one.confidence_interval[metric]
                mark = " ▲" if one.marked(metric) else ""
                between = ""
                if math.isfinite(ends.low):
                    between = f" [{ends.low:.{digits}f}, {ends.high:.{digits}f}]"
                row.append(f"{one[metric]:.{digits}f}{between}{mark}")
            if compared is not None:
                row.append(shown_chance(compared.p_best[compared.models.index(name), 0]))
            rows.append(row)
        return head, rows

    def _records(self) -> list[dict[str, Any]]:
        return [
            {"model": name, **record}
            for name, one in self.estimates.items()
            for record in one._records()
        ]


def _has_rows(ranks: RankSample | ExactRanks) -> bool:
    return ranks.count is None if isinstance(ranks, ExactRanks) else ranks.rows is not None


def _ranks(folder: Path, told: Mapping[str, Any]) -> RankSample | ExactRanks:
    path = _files.existing(folder / told["ranks"])
    if told.get("checksum") not in (None, file_fingerprint(path)):
        raise InputError(
            f"`folder` must be unchanged since evaluate wrote it; {path} is damaged or was changed."
        )
    found = read_own(path)
    if found is None:
        raise InputError(
            f"`folder` must be unchanged since evaluate wrote it; {path} does not hold ranks."
        )
    return found


def told_by(folders: Iterable[Path]) -> tuple[dict[str, str], list[str]]:
    """Return how the runs among these paths were evaluated, and their metrics."""
    heads = {str(one): read_manifest(one) for one in folders if os.path.isdir(one)}
    if len(heads) == 1:
        (head,) = heads.values()
        return _measured(head), list(head["metrics"])
    told = {
        name: "; ".join(f"{label}: {text}" for label, text in _measured(head).items())
        for name, head in heads.items()
    }
    return told, list(dict.fromkeys(one for head in heads.values() for one in head["metrics"]))


def _measured(about: Mapping[str, Any]) -> dict[str, str]:
    data, told = about.get("data") or {}, {}
    if data:
        users, targets = (_grouped(data.get(key)) for key in ("n_users", "n_targets"))
        who = "evaluated users" if about.get("n_users") is None else "test users"  # drawn from them
        told["data"] = (
            f"{about.get('name') or 'as given'}: {users} {who}, "
            f"{'their' if targets is None else targets} targets{_of_items(data)}"
        )
    split = _split(about)
    if split is not None:
        told["split"] = split
    labels = {"design": "design", "n_users": "users drawn", "budget": "budget"}
    labels |= {"settled": "resolved design"}
    labels |= {"seed": "seed", "engine": "engine", "device": "device"}
    labels |= {"fullrank": "fullrank", "borrowed": "anchor"}
    for key, label in labels.items():
        if about.get(key) is not None:
            told[label] = shown(about[key])
    if about.get("seconds") is not None:
        told["time"] = f"{about['seconds']} s"
    return told


def _split(about: Mapping[str, Any]) -> str | None:
    settings = dict(about.get("split") or {})
    return describe_split(settings.pop("name"), settings) if settings else None


def _grouped(number: Any) -> Any:
    return f"{number:,}" if isinstance(number, int) else number


def _of_items(data: Mapping[str, Any]) -> str:
    return f" among {data['n_items']:,} items" if data.get("n_items") else ""
