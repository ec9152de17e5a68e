"""Load data sets by name: prepared files, publishers' files, and a simulated data set."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks, files
from fullrank._lib import progress as _progress
from fullrank.data.interactions import Interactions
from fullrank.data.sets import cache
from fullrank.data.sets.origins import DATASETS, Dataset
from fullrank.data.sets.simulated import simulate
from fullrank.data.split import Split
from fullrank.data.split_column import read_split
from fullrank.errors import DataWarning, InputError

__all__ = ["DATASETS", "Dataset", "download", "info", "load", "load_split"]

Progress = bool | _progress.Progress | None
_NOTED = re.compile(r"[0-9a-f]{64}  [\w.-]+")


def load(name: str, *, download: bool = False, progress: Progress = None) -> Interactions:
    """Load a data set by name.

    These places are searched in order: the prepared file `<name>.parquet` in the folder that the
    environment variable FULLRANK_DATA names; the publisher's files, unpacked in the folder
    `<name>` or packed, in FULLRANK_DATA and then in the cache. Data read from a publisher's files
    are kept in the cache (FULLRANK_CACHE, or the platform's cache folder), so that the next load is
    fast. `ml-latest-small` comes with the source tree, and `simulated` is generated.
    ``print(DATASETS)`` lists the names, and ``print(info(name))`` describes a data set.

    Parameters
    ----------
    name : str
    download : bool
        Whether to download the publisher's files if they are not available locally. By default
        nothing is downloaded.
    progress : bool or function of (done, total), optional
        Reports the progress of the download.

    Examples
    --------
    >>> load("simulated").n_users
    1000
    """
    dataset = DATASETS[checks.choice("name", name, DATASETS)]
    if dataset.simulated:
        return simulate()
    source = _find(dataset, checks.flag("download", download), progress)
    ids = _catalogue(dataset)
    if isinstance(source, Path):
        return Interactions.from_parquet(source, item_ids=ids)
    return Interactions.from_frame(source, item_ids=ids)


def load_split(
    name: str,
    *,
    valid: float = 0.0,
    download: bool = False,
    progress: Progress = None,
    rng: checks.RandomState = None,
) -> Split:
    """Load a data set together with the split it comes with.

    Parameters
    ----------
    name : str
        A data set that comes with a split; split others with :meth:`Interactions.split`.
    valid : float
        The share of each user's training interactions that becomes the validation part, if the data
        set has none, as in :func:`read_split`.
    download, progress
        As in :func:`load`.
    rng : None, int, SeedSequence or Generator
        Random seed of `valid`.

    Examples
    --------
    >>> load_split("simulated")
    Traceback (most recent call last):
    fullrank.errors.InputError: `name` must be one of 'ml-1m', 'ml-20m', 'pinterest-20', \
'pinterest-20-part', 'yelp', 'netflix', 'msd', 'gowalla', 'yelp2018', 'amazon-books', \
'yelp-diffnet', not 'simulated'.
    """
    with_split = [key for key, dataset in DATASETS.items() if dataset.may_have_split]
    checks.choice("name", name, with_split)
    found = split_of(name, valid=valid, download=download, progress=progress, rng=rng)
    if found is None:
        raise InputError(
            f"`name` must be a data set whose local files contain a split; those of {name} do not. "
            f"Use load({name!r}).split(…)."
        )
    return found


def split_of(
    name: str,
    *,
    valid: float = 0.0,
    download: bool = False,
    progress: Progress = None,
    rng: checks.RandomState = None,
) -> Split | None:
    """The split that the files of a data set here come with; None where they have none."""
    dataset = DATASETS[name]
    if not dataset.may_have_split:
        return None
    source = _find(dataset, checks.flag("download", download), progress)
    if "split" not in _columns(source):
        return None
    return read_split(source, item_ids=_catalogue(dataset), valid=valid, rng=rng)


def info(name: str) -> Dataset:
    """Describe a data set: its size, files, publisher, licence and citation.

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> print(info("simulated"))
    simulated: simulated data modelled on MovieLens: 1,000 users, 3,000 items
    >>> info("ml-1m").files
    ('*.train.rating + *.test.rating', 'ratings.dat')
    """
    return DATASETS[checks.choice("name", name, DATASETS)]


def download(name: str, *, progress: Progress = True) -> Path:
    """Download the publisher's files of a data set into the cache.

    Files that already exist are not downloaded again. A file appears only when it is complete and
    its checksum, if the publisher provides one, is correct. Other checksums are stored beside the
    files, and a DataWarning reports a later download that differs. Observe the licence.

    Parameters
    ----------
    name : str
    progress : bool or function of (done, total), optional
        True writes a line to stderr.

    Returns
    -------
    path
        The folder of the files.

    Examples
    --------
    >>> download("netflix")
    Traceback (most recent call last):
    fullrank.errors.InputError: `name` must be a data set that can be fetched; netflix cannot: \
Netflix has withdrawn it; get its files by hand.
    """
    dataset = DATASETS[checks.choice("name", name, DATASETS)]
    if not dataset.urls:
        why = dataset.by_hand.removeprefix("no: ") or "no source is known"
        raise InputError(f"`name` must be a data set that can be fetched; {name} cannot: {why}.")
    from fullrank.data.sets import download as _download  # with it comes all of https

    folder = cache.folder() / name
    for url in dataset.urls:
        target = folder / url.rsplit("/", 1)[-1]
        if not target.is_file():
            sha256 = _download.fetch(
                url,
                target,
                md5=dataset.md5,
                max_bytes=dataset.max_bytes,
                progress=_progress.reporter(progress, target.name),
            )
            note_checksum(folder / "SHA256SUMS", target.name, sha256)
    return folder


def note_checksum(path: Path, name: str, sha256: str) -> None:
    """Store a checksum, and warn if it has changed."""
    lines = path.read_text("utf-8", "replace").splitlines() if path.is_file() else []
    # a line that is not one of ours was damaged: it is forgotten, and the file written anew
    known = {line[66:]: line[:64] for line in lines if _NOTED.fullmatch(line)}
    if known.setdefault(name, sha256) != sha256:
        warnings.warn(
            f"{name} is not the file that was downloaded before: its SHA-256 begins with "
            f"{sha256[:12]}, not {known[name][:12]}. The publisher may have changed the file; the "
            "new one was kept.",
            DataWarning,
            stacklevel=3,
        )
        known[name] = sha256
    with files.replacing(path) as temporary:
        temporary.write_text("".join(f"{one}  {file}\n" for file, one in known.items()), "utf-8")


def _find(dataset: Dataset, fetch: bool, progress: Progress) -> Path | Any:
    """A prepared file, or a table where none could be kept."""
    for folder in _prepared_folders(dataset):
        if (folder / f"{dataset.name}.parquet").is_file():
            return folder / f"{dataset.name}.parquet"
    found = cache.prepared(dataset)
    if found is None and fetch:
        download(dataset.name, progress=progress)
        found = cache.prepared(dataset)
    if found is None:
        raise _absent(dataset)
    return found


def _prepared_folders(dataset: Dataset) -> list[Path]:
    folders = []
    given = cache.data_folder()
    if given is not None:
        folders.append(given)
    if dataset.bundled:
        folders.append(Path(__file__).parents[4] / "data")  # the top of a source tree
    return folders


def _absent(dataset: Dataset) -> InputError:
    name = dataset.name
    why = "it is not part of fullrank"
    if dataset.bundled:
        why = "it comes with the repository and the source archive but not with an installed wheel"
    return InputError(
        f"`name` must be a data set that is available locally; {name} is not: {why}. "
        f"{how_to_get(dataset, 'download=True')} 'simulated' is always available."
    )


def how_to_get(dataset: Dataset, download: str) -> str:
    """Return a sentence on how to make a data set available; `download` says how to fetch it."""
    name = dataset.name
    fetch = f"Fetch it with {download}, or set" if dataset.urls else "Set"
    hint = f"{fetch} FULLRANK_DATA to a folder that holds {name}.parquet"
    if dataset.formats:
        hint += f", or a folder {name} with {' or '.join(dataset.files)}"
    return f"{hint}."


def _columns(source: Path | Any) -> list[str]:
    import pyarrow.parquet as pq

    names: list[str] = (pq.read_schema(source) if isinstance(source, Path) else source.schema).names
    return names


def _catalogue(dataset: Dataset) -> NDArray[np.int64] | None:
    return None if dataset.n_items is None else np.arange(dataset.n_items)
