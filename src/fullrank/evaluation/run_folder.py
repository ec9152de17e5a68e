"""The folder of a run, which keeps finished work so that an interrupted run resumes.

While it runs, everything lies in ``unfinished/``: a manifest of the settings, fitted models, and
one Parquet file for each finished shard, whose name carries a checksum of its bytes. At the end the
shards of each model become ``ranks/<model>.parquet``; ``results.json`` and ``report.html`` follow,
then ``run.json``, which marks the run as complete, and ``unfinished/`` is removed. Every file is
written under another name, flushed to the disk and renamed, so a run can be killed at any moment.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from fullrank._lib import files as _files
from fullrank._lib.fingerprints import file_fingerprint
from fullrank.errors import FullrankWarning, InputError, MissingExtraError, WriteError
from fullrank.evaluation.manifest import (
    FORMAT,
    MANIFEST,
    RANKS,
    REPORT,
    RESULTS,
    as_json,
    asked_of,
    check_same,
    file_names,
    manifest,
    read_manifest,
)
from fullrank.evaluation.result import Evaluation
from fullrank.samples import ExactRanks, RankSample
from fullrank.samples.sample_files import from_arrow

UNFINISHED = "unfinished"
_ASKED = "asked.json"
_CONTENT = (UNFINISHED, RANKS, MANIFEST, RESULTS, REPORT)


class RunFolder:
    """A folder that one run writes to; a context manager that keeps other runs out."""

    def __init__(self, folder: _files.PathLike) -> None:
        self.folder = Path(folder)
        self.work = self.folder / UNFINISHED
        self._lock: Any = None
        self._is_new = False

    # ---- entering and leaving ----

    def __enter__(self) -> Self:
        if os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise InputError(f"`out` must be a folder; {self.folder} is a file.")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            others = sorted(p.name for p in self.folder.iterdir() if p.name not in _CONTENT)
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        if others:
            raise InputError(
                f"`out` must be a new folder or the folder of an earlier run; {self.folder} holds "
                f"{others[0]}{f' and {len(others) - 1} more' if len(others) > 1 else ''}."
            )
        for name in (UNFINISHED, RANKS):
            if (self.folder / name).is_symlink():
                raise InputError(
                    f"`out` must not hold symbolic links; {self.folder / name} is one."
                )
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        refused = kind is not None and issubclass(kind, InputError)
        if self._is_new and refused and not any(self.work.glob("*-*.parquet")):
            self._clear()  # what was asked for cannot be: it should not stand in the way
        self._unlock()
        with contextlib.suppress(OSError):  # made here and still empty: nothing was done
            if self.folder.is_dir() and not any(self.folder.iterdir()):
                self.folder.rmdir()

    def _open_work(self) -> None:
        try:
            self.work.mkdir(exist_ok=True)
            self._lock = open(self.work / "lock", "a", opener=_without_links)  # noqa: SIM115
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        # the other may have ended between our look at the folder and our lock on it
        if not locked(self._lock) or (self.folder / MANIFEST).exists():
            self._unlock()
            raise InputError(
                "`out` must be used by only one run at a time; another run is writing to "
                f"{self.folder}."
            )

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # ---- what was asked ----

    def finished(self, asked: Mapping[str, Any]) -> Evaluation | None:
        """Return the evaluation if it is finished; one with other settings is refused."""
        if not (self.folder / MANIFEST).is_file():
            return None
        head = read_manifest(self.folder)
        check_same(self.folder, asked_of(head), asked, finished=True)
        self._clear()
        return Evaluation.read(self.folder)

    def begin(self, asked: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return what was resolved when the run began; None for a new run. Refuse another run."""
        self._open_work()
        path = self.work / _ASKED
        if not path.is_file():
            try:
                for stray in self.work.iterdir():  # nobody knows what it was made for
                    if stray.name != "lock":
                        stray.unlink()
            except OSError as error:
                raise _unwritable(self.folder, error) from error
            self._is_new = True
            return None
        try:
            content = json.loads(path.read_text("utf-8"))
            there, settled = dict(content["asked"]), content["settled"]
            settled = None if settled is None else dict(settled)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"`out` must hold a complete {_ASKED}; {path} is damaged. Delete {self.work} to "
                "start the run again."
            ) from error
        check_same(self.folder, there, asked)
        return settled

    def settle(self, asked: Mapping[str, Any], settled: Mapping[str, Any] | None) -> None:
        """Store the settings, and what was resolved from them; None if that is still open."""
        content = {"format": FORMAT, "asked": dict(asked), "settled": settled}
        self.put(_ASKED, as_json(content))

    # ---- shards ----

    def put(self, name: str, content: bytes) -> None:
        """Write a file to ``unfinished/``, completely and to the disk, or not at all."""
        target = self.work / name
        temporary = self.work / f"{name}.tmp"
        try:
            temporary.unlink(missing_ok=True)  # of a run that was killed; a link is not followed
            with temporary.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
            _flush_folder(self.work)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise _stopped(self.folder, error) from error

    def keep(self, model: int, shard: int, sample: RankSample | ExactRanks) -> None:
        """Store the ranks of a shard."""
        content = _parquet(sample)
        self.put(f"{model}-{shard}-{_checksum(content)}.parquet", content)

    def keep_model(self, model: int, save: Callable[[Path], None]) -> None:
        """Store a fitted model until the end, so that a resumed run need not fit it again."""
        temporary = self.work / f"{model}.safetensors.tmp"
        try:
            save(temporary)
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            name = f"{model}-{file_fingerprint(temporary)}.safetensors"
            os.replace(temporary, self.work / name)
            _flush_folder(self.work)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise _stopped(self.folder, error) from error

    def kept_model(self, model: int) -> Path | None:
        """Return the file of a fitted model if it is complete; a damaged one is removed."""
        for path in self.work.glob(f"{model}-*.safetensors"):
            if path.stem == f"{model}-{file_fingerprint(path)}":
                return path
            path.unlink()
        return None

    def kept(self, model: int) -> dict[int, Path]:
        """Return the complete shards of a model; damaged ones are removed."""
        found: dict[int, Path] = {}
        for path in self.work.glob(f"{model}-*.parquet"):
            match = re.fullmatch(r"\d+-(\d+)-([0-9a-f]{32})\.parquet", path.name)
            if match is None or _checksum(path.read_bytes()) != match[2]:
                path.unlink()
            else:
                found[int(match[1])] = path
        return found

    def samples(self, model: int, n_shards: int, name: str) -> Iterator[RankSample | ExactRanks]:
        """Return all shards of a model, in order; its name is for the error."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        there = self.kept(model)
        for shard in range(n_shards):
            if shard not in there:
                raise WriteError(
                    f"The run stopped: a finished shard of {name} is damaged. Run the same command "
                    "again to replace it."
                )
            yield from_arrow(pq.read_table(pa.BufferReader(there[shard].read_bytes())))

    # ---- the end ----

    def publish(self, evaluation: Evaluation, *, report: bool = True) -> None:
        """Write all files, ``run.json`` last, and clean up."""
        if (self.folder / MANIFEST).exists():
            raise InputError(
                f"`out` must be a new folder; {self.folder} already holds an evaluation."
            )
        if self._lock is None:
            if (self.work / _ASKED).exists():
                raise InputError(
                    f"`out` must be a new folder; {self.folder} holds an unfinished run."
                )
            self._open_work()
        files = file_names(list(evaluation.samples))
        sums = {}
        for name, sample in evaluation.samples.items():
            content = _parquet(sample)
            sums[name] = _checksum(content)
            self.put(f"{files[name]}.whole", content)
        self.put(RESULTS, as_json(evaluation.to_dict()))
        failure = self._put_report(evaluation) if report else None
        report = (self.work / REPORT).is_file()
        head = manifest(evaluation, files, sums, report)
        self.put(MANIFEST, as_json(head))
        try:
            (self.folder / RANKS).mkdir(exist_ok=True)
            for file in files.values():
                os.replace(self.work / f"{file}.whole", self.folder / RANKS / file)
            _flush_folder(self.folder / RANKS)
            for name in (RESULTS, *([REPORT] if report else []), MANIFEST):
                os.replace(self.work / name, self.folder / name)
            _flush_folder(self.folder)
        except OSError as error:
            raise _stopped(self.folder, error) from error
        self._clear()
        if failure is not None:  # a fault of the report: the numbers are there, and it is told
            raise failure

    def _put_report(self, evaluation: Evaluation) -> Exception | None:
        """The report; where its extra is missing there is none, and the rest stands."""
        (self.work / REPORT).unlink(missing_ok=True)
        try:
            evaluation.write_report(self.work / REPORT)
        except MissingExtraError as error:
            warnings.warn(f"No report was written: {error}", FullrankWarning, stacklevel=4)
        except OSError as error:
            raise _stopped(self.folder, error) from error
        except Exception as error:
            return error
        return None

    def _clear(self) -> None:
        if os.name == "nt":  # which removes no file that is open
            self._unlock()
        shutil.rmtree(self.work, ignore_errors=True)
        self._unlock()  # and not before: it would be another's folder that is removed


def finished_shards(folder: Path) -> int:
    """Return how many shards an unfinished run has kept; 0 where there is no such run."""
    work = folder / UNFINISHED
    return sum(1 for _ in work.glob("*-*-*.parquet")) if os.path.isdir(work) else 0


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def locked(file: Any) -> bool:
    """Return whether this process holds the lock, on a file that still exists."""
    try:
        import fcntl
    except ImportError:  # where there are no such locks, who starts two runs has two runs
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return os.fstat(file.fileno()).st_nlink > 0


def _parquet(sample: RankSample | ExactRanks) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(sample.to_arrow(), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _checksum(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _flush_folder(folder: Path) -> None:
    """Make renames last; not every system can."""
    with contextlib.suppress(PermissionError, IsADirectoryError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            with contextlib.suppress(OSError):
                os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _unwritable(folder: Path, error: OSError) -> InputError:
    return InputError(f"`out` must be a writable folder; {folder} is not: {error.strerror}.")


def _stopped(folder: Path, error: OSError) -> WriteError:
    cause = error.__cause__ if isinstance(error, WriteError) else error
    number = getattr(cause, "errno", None)
    why = "the disk is full" if number in (errno.ENOSPC, errno.EDQUOT) else _files.reason(error)
    return WriteError(
        f"The run stopped: {why} ({folder}). Finished shards are kept; run the same command "
        "again to resume."
    )
