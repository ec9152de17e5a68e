"""Data sets as a user sees them: their names, which are available locally, and what is in one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fullrank._lib import checks
from fullrank._lib.progress import Progress
from fullrank._lib.results import markup
from fullrank.data import DATASETS, Dataset, Summary
from fullrank.data.sets import cache as cache
from fullrank.data.sets import datasets
from fullrank.errors import InputError


@dataclass(frozen=True)
class Listing:
    """All data sets, and which of them are available locally."""

    here: dict[str, bool]

    def to_dict(self) -> dict[str, Any]:
        found = [
            {
                "name": name,
                "here": here,
                "about": DATASETS[name].about,
                "split": DATASETS[name].split or None,
                "licence": DATASETS[name].licence,
            }
            for name, here in self.here.items()
        ]
        return {"format": 1, "datasets": found}

    def __str__(self) -> str:
        rows = [
            [name, "local" if here else "–", DATASETS[name].about]
            for name, here in self.here.items()
        ]
        lines = markup.text(["data set", "", "contents"], rows, left=(0, 1, 2))
        note = (
            "`fullrank datasets NAME` shows the licence, what to cite, and how to get a data set "
            "that is not available locally."
        )
        return "\n".join([*lines, "", note])


@dataclass(frozen=True)
class Details:
    """One data set, with a summary if it is available locally."""

    dataset: Dataset
    summary: Summary | None

    def to_dict(self) -> dict[str, Any]:
        names = ("name", "about", "split", "page", "licence", "citation", "urls")
        plain = {name: getattr(self.dataset, name) for name in names}
        here = self.summary is not None
        summary = None if self.summary is None else self.summary.to_dict()
        return {"format": 1, **plain, "here": here, "summary": summary}

    def __str__(self) -> str:
        if self.summary is None:
            hint = datasets.how_to_get(self.dataset, "--download")
            return f"{self.dataset}\nIt is not available locally. {hint}"
        return f"{self.dataset}\n\n{self.summary}"


def every() -> Listing:
    """Return the listing of all data sets.

    Examples
    --------
    >>> every().here["simulated"]
    True
    """
    return Listing({name: is_here(name) for name in DATASETS})


def details(
    name: str, *, download: bool = False, progress: bool | Progress | None = None
) -> Details:
    """Describe a data set; with `download`, it is downloaded first.

    Examples
    --------
    >>> details("simulated").summary.n_interactions
    79490
    """
    dataset = DATASETS[checks.choice("name", name, DATASETS)]
    if download and not is_here(name):
        datasets.download(name, progress=progress)
    summary = datasets.load(name).summary() if is_here(name) else None
    return Details(dataset, summary)


def is_here(name: str) -> bool:
    """Whether a data set can be loaded without a download, judged by file names."""
    dataset = DATASETS[name]
    if dataset.simulated:
        return True
    prepared = [*datasets._prepared_folders(dataset), cache.folder()]
    return any((folder / f"{name}.parquet").is_file() for folder in prepared) or any(
        place.is_file() or (place.is_dir() and any(place.iterdir()))
        for place in cache._candidates(dataset)
    )


def no_download(download: bool) -> None:
    """Refuse to download all data sets at once."""
    if download:
        raise InputError("`NAME` must be given with `--download`: the data set to download.")
