"""Checkpoints: a training run in one safetensors file, its state as JSON in the metadata."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import files
from fullrank._lib.checks import because, printable
from fullrank.data.interactions import Interactions
from fullrank.errors import InputError, WriteError
from fullrank.models.training.adam import Adam, to_array
from fullrank.models.training.state import Run

FORMAT = 1
_KEY = "fullrank-training"
_BEST = "best."


class Checkpoint:
    """A file to which a run is written after every epoch, completely or not at all.

    Parameters
    ----------
    path : path
    identity : mapping
        What must be the same for a run to resume: the model, its settings and the data, as JSON.
    """

    def __init__(self, path: files.PathLike, identity: Mapping[str, Any]) -> None:
        self.path = _place(path)
        self.identity = json.loads(json.dumps(identity, allow_nan=False))

    def write(self, run: Run, adam: Adam, best: Mapping[str, Any]) -> None:
        """Store the state after an epoch; `best` are the tensors of the best epoch, if any."""
        from safetensors import SafetensorError
        from safetensors.numpy import save_file

        head = {"format": FORMAT, "identity": self.identity, "run": run.to_dict()}
        arrays = adam.arrays() | {_BEST + name: to_array(tensor) for name, tensor in best.items()}
        with files.replacing(self.path) as temporary:
            try:
                metadata = {_KEY: json.dumps(head, allow_nan=False)}
                save_file(arrays, str(temporary), metadata=metadata)
            except SafetensorError as error:
                raise WriteError(
                    f"{printable(self.path)} could not be written: {because(error)}."
                ) from error

    def resume(self, adam: Adam) -> tuple[Run, dict[str, Any]] | None:
        """Set the tensors and moments; return the run and its best tensors, None without a file."""
        source = self.path
        if not source.exists():
            return None
        head, arrays = _read(source)
        self._check_identity(source, head.get("identity"))
        try:
            run = Run.from_dict(head["run"])
            best = {}
            if run.best is not None:  # through the tensors, where shapes are checked
                kept = {f"parameter.{name}": arrays[_BEST + name] for name in adam.parameters}
                adam.set_arrays(arrays | kept)
                best = adam.copies()
            adam.set_arrays(arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise _broken(source, because(error)) from error
        return run, best

    def _check_identity(self, source: Path, found: Any) -> None:
        """Raise if the file is of another run; the first difference is named."""
        if found == self.identity:
            return
        if not isinstance(found, dict):
            raise _broken(source, "its metadata cannot be read")
        for name in {**self.identity, **found}:
            ours, theirs = self.identity.get(name), found.get(name)
            if ours != theirs:
                raise InputError(
                    f"`checkpoint` must belong to the same run; in {printable(source)}, {name} is "
                    f"{_short(theirs)}, not {_short(ours)}. Delete the file, or name another."
                )


def fingerprint(data: Interactions | None) -> str | None:
    """Return a short text that differs if users' items differ."""
    if data is None:
        return None
    digest = hashlib.blake2b(digest_size=12)
    digest.update(f"{data.n_users} {data.n_items}".encode())
    digest.update(np.ascontiguousarray(data.indptr).data)
    digest.update(np.ascontiguousarray(data.indices).data)
    return digest.hexdigest()


def _place(path: Any) -> Path:
    """Where a run can be written; what speaks against it is said before an epoch is spent."""
    try:
        target = Path(path)
        is_file = target.is_file() or not target.exists()
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except TypeError:
        raise InputError(
            f"`checkpoint` must be text or a path, not {type(path).__name__}."
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"`checkpoint` must be writable; {printable(path)} is not: {files.reason(error)}."
        ) from error
    if not is_file:
        raise InputError(f"`checkpoint` must name a file; {printable(target)} is not one.")
    return target


def _read(source: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(source), framework="np") as content:
            head = json.loads((content.metadata() or {})[_KEY])
            if not isinstance(head, dict) or head.get("format") != FORMAT:
                raise ValueError("its metadata is of another format")
            return head, {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
    except KeyError as error:
        raise _broken(source, "it is a safetensors file with other content") from error
    except (SafetensorError, TypeError, ValueError, OSError, RecursionError) as error:
        raise _broken(source, f"it cannot be read ({because(error)})") from error


def _broken(source: Path, why: str) -> InputError:
    return InputError(
        f"`checkpoint` must be a training checkpoint that fullrank wrote; {printable(source)} is "
        "not: "
        f"{printable(why)}."
    )


def _short(value: Any) -> str:
    text = printable(json.dumps(value))
    return text if len(text) <= 60 else f"{text[:57]}..."
