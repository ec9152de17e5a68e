"""Train a model of fullrank and save it in a file."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullrank._lib.files import PathLike
from fullrank._lib.progress import Progress
from fullrank.data.sets.sources import load_interactions, load_split, split_spec
from fullrank.errors import InputError
from fullrank.evaluation import fit_memory
from fullrank.evaluation.model_sources import make_model
from fullrank.metrics import parse_all
from fullrank.models.neural.gradient_model import NeuralModel
from fullrank.ranking import rank

_NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Training:
    """A trained model.

    Attributes
    ----------
    model : the model and its settings as text
    path : the file it was written to
    split : a line that says how the training part was separated; None for all data
    n_users, n_items, n_interactions : sizes of the training data
    seconds : time of the fit
    part : the part that it was evaluated on, "valid" or "test"; None if it was not
    metrics : mapping from names to values, from exact ranks of that part
    """

    model: str
    path: Path
    split: str | None
    n_users: int
    n_items: int
    n_interactions: int
    seconds: float
    part: str | None
    metrics: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version."""
        return {"format": 1, "kind": "Training", **vars(self), "path": str(self.path)}

    def __str__(self) -> str:
        sizes = f"{self.n_interactions:,} interactions of {self.n_users:,} users"
        lines = [
            f"{self.model} trained on {sizes} with {self.n_items:,} items in {self.seconds:.1f} s"
        ]
        if self.split is not None:
            lines.append(f"Split: {self.split}")
        if self.part is not None:
            where = "validation" if self.part == "valid" else self.part
            lines += [f"{name} on the {where} part: {v:.4f}" for name, v in self.metrics.items()]
        return "\n".join([*lines, f"Written to {self.path}."])


def train_model(
    data: PathLike,
    model: str,
    out: PathLike,
    *,
    split: str = "auto",
    metrics: str | Iterable[str] = (),
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
    download: bool = False,
    progress: bool | Progress | None = None,
    rng: int = 0,
) -> Training:
    """Fit a model on the training part of a split, evaluate it, and save it.

    Parameters
    ----------
    data, split, columns, encoding, download, progress, rng : as in `load_split`; the split "none"
        trains on everything
    model : text such as ``"ease:regularization=500"``
    out : path of the file, usually with the suffix ``.safetensors``
    metrics : computed from exact ranks of the validation part, or of the test part without one

    Notes
    -----
    Models that are trained by epochs use the validation part, if there is one, and keep the epoch
    that is best on it. Their metrics on it are therefore slightly too high.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "popular.safetensors")
    ...     found = train_model("simulated", "popularity", path, metrics="recall@10")
    >>> found.metrics
    {'recall@10': 0.041}
    """
    fitted = make_model(model)
    if not callable(getattr(fitted, "save", None)):
        raise InputError(
            f"`model` must be a model that can be saved; {type(fitted).__name__} has no method "
            "`save`. Derive your dataclass from fullrank.models.Saved."
        )
    wanted = parse_all(metrics) if metrics else ()
    how = {
        "columns": columns, "encoding": encoding, "download": download, "progress": progress
    }  # fmt: skip
    parts: Any = None
    if split_spec(split, _NONE).name == _NONE:
        if wanted:
            raise InputError("`metrics` must not be given without a split: nothing is held out.")
        learn = load_interactions(data, **how)  # type: ignore[arg-type]
    else:
        parts = load_split(data, split=split, rng=rng, **how)  # type: ignore[arg-type]
        learn = parts.train
    fit_memory.check_fit(model, fitted, learn)
    start = time.perf_counter()
    if isinstance(fitted, NeuralModel):
        fitted.fit(learn, progress=progress, **_validation(fitted, parts))
    else:
        fitted.fit(learn)
    seconds = time.perf_counter() - start
    part, values = None, {}
    if wanted:
        part = "test" if parts.valid is None else "valid"
        history = parts.history if part == "test" else parts.valid_history
        scorer = fitted.scorer() if history is learn else fitted.scorer(history)
        values = rank(scorer, getattr(parts, part), exclude=history).metrics(wanted)
    fitted.save(out)
    return Training(
        model=model,
        path=Path(out),
        split=None if parts is None else parts.described,
        n_users=learn.n_users,
        n_items=learn.n_items,
        n_interactions=learn.n_interactions,
        seconds=round(seconds, 3),
        part=part,
        metrics=values,
    )


def _validation(model: NeuralModel, parts: Any) -> dict[str, Any]:
    """What a model that is trained by epochs is given to stop by.

    Users of a strong split who are not learned from say something of models that fold them in only.
    """
    if parts is None or parts.valid is None:
        return {}
    if parts.valid_history is parts.train:
        return {"valid": parts.valid}
    if not hasattr(model, "fold_in"):
        return {}
    return {"valid": parts.valid, "valid_history": parts.valid_history}
