"""The stored exact ranks of the papers' five models.

The study `ranks` trains the models and writes the files. Studies that only sample from these ranks
need neither data nor training. Tied scores are in random order, seed 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from fullrank.errors import InputError
from reproduction.common.exact import Ranks
from reproduction.common.kept import RESULTS, keep_arrays

MODELS = ("EASE", "itemKNN", "iALS", "MultiVAE", "NeuMF")  # iALS is the papers' ALS
QUICK_DATA = "ml-latest-small"  # comes with the repository
DATA = ("ml-1m", "pinterest-20-part", "citeulike-a", "yelp-diffnet", QUICK_DATA)
# also in the papers, without stored ranks: `run ranks -- --data NAME` makes them from the data
FURTHER = ("pinterest-20", "yelp", "ml-20m", "book-crossing")
_WITHOUT = {"book-crossing": ("EASE",)}  # whose matrix of books by books takes 150 GB
FOLDER = RESULTS / "ranks"


def models_of(data: str) -> tuple[str, ...]:
    """Those of MODELS that are trained on a data set."""
    return tuple(model for model in MODELS if model not in _WITHOUT.get(data, ()))


def bank(data: str, *, excluded: bool = False, folder: Path = FOLDER) -> dict[str, Ranks]:
    """Exact ranks of the test items, one for each user, the users in the same order for each model.

    Parameters
    ----------
    data : one of DATA, or of FURTHER where its ranks were made
    excluded : bool
        Whether training items stand below the target; by default they are candidates as in the
        papers. Either way a rank is one among all N items.
    folder : path

    Examples
    --------
    >>> known = bank("ml-1m")
    >>> known["EASE"].n_items, known["EASE"].ranks.size
    (3706, 6040)
    """
    kept, n_items = _read(_file(data, folder, excluded=False))
    if excluded:
        above, _ = _read(_file(data, folder, excluded=True))
        kept = {model: ranks - above[model] for model, ranks in kept.items()}
    return {model: Ranks(ranks, n_items) for model, ranks in kept.items()}


def banks(quick: bool, quick_models: Iterable[str]) -> dict[str, dict[str, Ranks]]:
    """The bank of every data set whose ranks are kept, those of the 2023 paper first.

    The quick form takes `quick_models` on the data set that comes with the repository.
    """
    if quick:
        known = bank(QUICK_DATA)
        return {QUICK_DATA: {model: known[model] for model in quick_models}}
    first = ("pinterest-20", "pinterest-20-part", "yelp", "yelp-diffnet", "ml-20m")
    every = [name for name in dict.fromkeys([*first, *DATA]) if name != QUICK_DATA]
    return {name: bank(name, folder=FOLDER) for name in every if _file(name, FOLDER).is_file()}


def keep_bank(
    data: str,
    kept: Mapping[str, np.ndarray],
    excluded: Mapping[str, np.ndarray],
    n_items: int,
    *,
    folder: Path = FOLDER,
) -> None:
    """Write both files of a data set.

    The second holds how many training items stand above each target, which are small numbers and
    take half the room of ranks.
    """
    folder.mkdir(parents=True, exist_ok=True)
    above = {model: kept[model] - excluded[model] for model in kept}
    for ranks, path in ((kept, _file(data, folder)), (above, _file(data, folder, excluded=True))):
        arrays = {model: _narrow(ranks[model]) for model in MODELS if model in ranks}
        keep_arrays(path, n_items=np.int64(n_items), **arrays)


def _file(data: str, folder: Path, *, excluded: bool = False) -> Path:
    return folder / f"{data}{'-excluded' if excluded else ''}.npz"


def _read(path: Path) -> tuple[dict[str, np.ndarray], int]:
    if not path.is_file():
        known = [name for name in (*DATA, *FURTHER) if _file(name, path.parent).is_file()]
        raise InputError(
            f"`data` must be one of {', '.join(known) or 'none'}, whose ranks are kept in "
            f"{path.parent.name}/; got {path.name}. `python -m reproduction run ranks` makes them."
        )
    with np.load(path) as content:
        ranks = {model: content[model].astype(np.int64) for model in MODELS if model in content}
        return ranks, int(content["n_items"])


def _narrow(values: np.ndarray) -> np.ndarray:
    """The same whole numbers in as few bytes as hold them."""
    whole = values.astype(np.int64)
    if not np.array_equal(whole, values):
        raise InputError(
            "`ranks` must be whole numbers; some are not. Equal scores must not share their ranks."
        )
    return whole.astype(np.result_type(*map(np.min_scalar_type, (whole.min(), whole.max()))))
