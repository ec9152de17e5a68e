"""Runs that are stopped: they go on, end the same, and leave nothing behind."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from fullrank._lib import files
from fullrank.data import Split
from fullrank.errors import InputError, MissingExtraError, WriteError
from fullrank.evaluation import Evaluation, evaluate
from fullrank.evaluation.manifest import file_names
from fullrank.evaluation.run_folder import RunFolder, locked
from tests.unit.evaluation.stopped_runs import Breaking, StoppedError

pytestmark = pytest.mark.slow  # together: each of them takes a fraction of a second

# all 90 items are drawn, which leaves nothing to estimate and saves its time
SETTINGS: dict[str, Any] = {"design": "sampled:90", "shard_size": 25, "report": False}


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a finished run but the manifest, which tells the time."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "run.json"
    }


@pytest.fixture
def whole(split: Split, scorers: dict[str, Any], tmp_path: Path) -> dict[str, bytes]:
    evaluate(scorers, split, out=tmp_path / "whole", **SETTINGS)
    return content(tmp_path / "whole")


def test_what_a_run_leaves(whole: dict[str, bytes], tmp_path: Path) -> None:
    assert sorted(whole) == ["ranks/a.parquet", "ranks/b.parquet", "results.json"]
    head = json.loads((tmp_path / "whole" / "run.json").read_text("utf-8"))
    assert head["format"] == 2
    assert head["kind"] == "Evaluation"
    assert head["seed"] == 0
    assert head["design"] == "sampled:90"
    assert [one["ranks"] for one in head["models"]] == ["ranks/a.parquet", "ranks/b.parquet"]
    assert head["results"] == "results.json"
    assert head["report"] is None


@pytest.mark.parametrize("after", [0, 1, 5, 9])
def test_a_stopped_run_goes_on(
    split: Split, scorers: dict[str, Any], tmp_path: Path, whole: dict[str, bytes], after: int
) -> None:
    out = tmp_path / "run"
    with pytest.raises(StoppedError):
        evaluate(scorers, split, out=out, engine=Breaking(after), **SETTINGS)
    assert len(list((out / "unfinished").glob("*-*-*.parquet"))) == after
    assert not (out / "run.json").exists()
    # the rest of ten shards is done and not one more, though another size is asked for
    rest = Breaking(10 - after)
    evaluate(scorers, split, out=out, engine=rest, **{**SETTINGS, "shard_size": 7})
    assert rest.after == 0
    assert content(out) == whole


def test_a_finished_run_is_read(split: Split, scorers: dict[str, Any], tmp_path: Path) -> None:
    first = evaluate(scorers, split, out=tmp_path / "run", **SETTINGS)
    (tmp_path / "run" / "unfinished").mkdir()  # as if killed at the very end
    again = evaluate(scorers, split, out=tmp_path / "run", engine=Breaking(0), **SETTINGS)
    assert again.to_dict() == first.to_dict()
    assert not (tmp_path / "run" / "unfinished").exists()


def test_a_fitted_model_is_not_fitted_again(
    split: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fullrank.models import EASE

    with pytest.raises(StoppedError):
        evaluate("ease", split, out=tmp_path / "run", engine=Breaking(2), **SETTINGS)
    monkeypatch.delattr(EASE, "fit")
    found = evaluate("ease", split, out=tmp_path / "run", **SETTINGS)
    monkeypatch.undo()
    assert found.to_dict() == evaluate("ease", split, **SETTINGS).to_dict()
    assert not list((tmp_path / "run").rglob("*.safetensors"))


def test_a_damaged_model_is_fitted_again(split: Split, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(StoppedError):
        evaluate("ease", split, out=out, engine=Breaking(2), **SETTINGS)
    (path,) = (out / "unfinished").glob("*.safetensors")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    found = evaluate("ease", split, out=out, **SETTINGS)
    assert found.to_dict() == evaluate("ease", split, **SETTINGS).to_dict()


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "rename"])
def test_a_damaged_shard_is_made_anew(
    split: Split, scorers: dict[str, Any], tmp_path: Path, whole: dict[str, bytes], damage: str
) -> None:
    out = tmp_path / "run"
    with pytest.raises(StoppedError):
        evaluate(scorers, split, out=out, engine=Breaking(7), **SETTINGS)
    path = sorted((out / "unfinished").glob("0-*.parquet"))[2]
    data = bytearray(path.read_bytes())
    if damage == "flip":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    elif damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        path.rename(path.with_name("0-3-xyz.parquet"))
    rest = Breaking(4)  # three that were missing, and the damaged one
    evaluate(scorers, split, out=out, engine=rest, **SETTINGS)
    assert rest.after == 0
    assert content(out) == whole


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rng": 1}, r"`out`.*seed \(then: 0; now: 1\)"),
        ({"design": "sampled:21"}, r"`out`.*design \(then: sampled:90; now: sampled:21\)"),
        ({"design": "exact"}, r"`out`.*design \(then: sampled:90; now: exact\)"),
        ({"metrics": "auc"}, r"`out`.*metrics.*'recall@10'.*now: \['auc'\]"),
        ({"exclude": None}, r"`out`.*data (n_items|fingerprint)"),
        ({"keep_rows": False}, r"`out`.*keep_rows \(then: True; now: False\)"),
    ],
)
@pytest.mark.parametrize("finished", [False, True])
def test_another_run_is_refused(
    split: Split,
    scorers: dict[str, Any],
    tmp_path: Path,
    change: dict[str, Any],
    message: str,
    finished: bool,
) -> None:
    out = tmp_path / "run"
    if finished:
        evaluate(scorers, split, out=out, **SETTINGS)
    else:
        with pytest.raises(StoppedError):
            evaluate(scorers, split, out=out, engine=Breaking(3), **SETTINGS)
    before = content(out)
    with pytest.raises(InputError, match=message):
        evaluate(scorers, split, out=out, **{**SETTINGS, **change})
    after = content(out)
    after.pop("unfinished/lock", None)
    before.pop("unfinished/lock", None)
    assert after == before


def test_other_models_are_refused(split: Split, scorers: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / ("run" * 20)  # which no message cuts
    evaluate(scorers, split, out=out, **SETTINGS)
    differs = re.escape(f"the run in {out} differs in models (then: a, b; now: a).")
    with pytest.raises(InputError, match=f"`out`.*{differs}"):
        evaluate({"a": scorers["a"]}, split, out=out, **SETTINGS)
    with pytest.raises(InputError, match=r"`out`.*model a about.*model a fingerprint"):
        evaluate({"a": scorers["b"], "b": scorers["b"]}, split, out=out, **SETTINGS)


def test_folders_that_are_refused(split: Split, scorers: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match=r"`out`.*folder.*thesis\.tex"):
        evaluate(scorers, split, out=tmp_path / "mine", **SETTINGS)
    assert os.listdir(tmp_path / "mine") == ["thesis.tex"]
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"`out`.*file is a file"):
        evaluate(scorers, split, out=tmp_path / "file", **SETTINGS)
    with pytest.raises(InputError, match=r"`out` must be a writable folder"):
        evaluate(scorers, split, out=tmp_path / "file" / "below", **SETTINGS)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "unfinished").symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match=r"`out`.*links.*unfinished"):
        evaluate(scorers, split, out=tmp_path / "linked", **SETTINGS)


def test_bad_arguments_leave_no_folder(split: Split, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"`n_users`.*\b120\b.*\b9999\b"):
        evaluate("ease", split, out=tmp_path / "run", design="exact", n_users=9999, report=False)
    with pytest.raises(InputError, match=r"`design`.*'x'"):
        evaluate("ease", split, out=tmp_path / "other", design="x", report=False)
    with pytest.raises(InputError, match=r"`sample_size`.*\b90\b.*\b91\b"):
        evaluate("ease", split, out=tmp_path / "large", design="sampled:91", report=False)
    assert list(tmp_path.iterdir()) == []


def test_one_run_at_a_time(split: Split, scorers: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with RunFolder(tmp_path / "run") as folder:
        folder.begin({})
        with pytest.raises(InputError, match=r"`out`.*at a time"):
            evaluate(scorers, split, out=tmp_path / "run", **SETTINGS)


def test_damaged_ranks_are_not_read(split: Split, scorers: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "run"
    evaluate(scorers, split, out=out, **SETTINGS)
    path = out / "ranks" / "a.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    for read in (
        lambda: Evaluation.read(out),
        lambda: evaluate(scorers, split, out=out, **SETTINGS),
    ):
        with pytest.raises(InputError, match=r"a\.parquet.*damaged"):
            read()


def test_a_damaged_shard_is_told_by_the_name_of_its_model(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run") as folder:
        folder.begin({})
        with pytest.raises(WriteError, match=r"finished shard of svd is damaged"):
            next(folder.samples(0, 1, "svd"))


def test_who_is_kept_out_takes_nothing_away(
    split: Split, scorers: dict[str, Any], tmp_path: Path
) -> None:
    pytest.importorskip("fcntl")
    with RunFolder(tmp_path / "run") as folder:
        folder.begin({})
        folder.put("0-model.safetensors", b"the fruit of hours, and no shard yet")
        before = sorted(path.name for path in folder.work.iterdir())
        with pytest.raises(InputError, match=r"`out`.*another"):
            evaluate(scorers, split, out=tmp_path / "run", **SETTINGS)
        assert sorted(path.name for path in folder.work.iterdir()) == before


def test_a_refused_run_leaves_the_fitted_model(split: Split, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(StoppedError):
        evaluate("ease", split, out=out, engine=Breaking(0), **SETTINGS)
    (kept,) = (out / "unfinished").glob("*.safetensors")
    with pytest.raises(InputError, match=r"`out`.*seed"):
        evaluate("ease", split, out=out, rng=1, **SETTINGS)
    assert kept.exists()


def test_a_lock_on_a_folder_that_has_gone_is_none(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with (tmp_path / "lock").open("w") as file:
        assert locked(file)
        (tmp_path / "lock").unlink()
        assert not locked(file)


def test_a_run_that_ended_meanwhile_is_not_done_again(
    split: Split, scorers: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    with RunFolder(out) as late:
        assert late.finished({}) is None
        evaluate(scorers, split, out=out, **SETTINGS)
        with pytest.raises(InputError, match=r"`out`.*at a time"):
            late.begin({})


@pytest.mark.parametrize("model", ["ease:regularization=900", "popularity"])
def test_stopped_in_the_pilot_with_another_model(
    split: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    """The model that was fitted for the pilot is never taken for another one."""
    from fullrank.evaluation import schedule

    def stopped(*_: Any, **__: Any) -> None:
        raise StoppedError

    out, settings = tmp_path / "run", {**SETTINGS, "design": None, "budget": 5000}
    monkeypatch.setattr(schedule, "affordable", stopped)
    with pytest.raises(StoppedError):
        evaluate({"m": "ease"}, split, out=out, **settings)
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"`out`.*model m\b"):
        evaluate({"m": model}, split, out=out, **settings)
    monkeypatch.delattr("fullrank.models.EASE.fit")  # the same goes on with what was fitted
    found = evaluate({"m": "ease"}, split, out=out, **settings)
    monkeypatch.undo()
    assert found.to_dict() == evaluate({"m": "ease"}, split, **settings).to_dict()


def test_strays_of_nobody_knows_what_are_not_used(split: Split, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(StoppedError):
        evaluate({"m": "ease"}, split, out=out, engine=Breaking(2), **SETTINGS)
    (out / "unfinished" / "asked.json").unlink()
    found = evaluate({"m": "popularity"}, split, out=out, **SETTINGS)
    assert found.to_dict() == evaluate({"m": "popularity"}, split, **SETTINGS).to_dict()


def test_an_unfinished_run_is_not_written_over(
    split: Split, scorers: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    with pytest.raises(StoppedError):
        evaluate(scorers, split, out=out, engine=Breaking(3), **SETTINGS)
    other = evaluate(scorers, split, **SETTINGS)
    with pytest.raises(InputError, match=r"`out`.*unfinished run"):
        other.write(out, report=False)
    assert len(list((out / "unfinished").glob("*-*-*.parquet"))) == 3


def test_a_full_disk(
    split: Split,
    scorers: dict[str, Any],
    tmp_path: Path,
    whole: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flush, room = os.fsync, iter(range(9))

    def fsync(descriptor: int) -> None:
        if next(room, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(WriteError, match=r"disk is full"):
        evaluate(scorers, split, out=tmp_path / "run", **SETTINGS)
    monkeypatch.undo()
    assert not list((tmp_path / "run").rglob("*.tmp"))
    evaluate(scorers, split, out=tmp_path / "run", **SETTINGS)
    assert content(tmp_path / "run") == whole


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EIO, r".*could not be written: Input/output error"),
    ],
)
def test_a_model_that_cannot_be_kept(tmp_path: Path, number: int, why: str) -> None:
    def save(path: Path) -> None:
        with files.replacing(path):
            raise OSError(number, os.strerror(number))

    with RunFolder(tmp_path / "run") as folder:
        folder.begin({})
        with pytest.raises(WriteError, match=rf"{why}.*run\b"):
            folder.keep_model(0, save)
        assert [path.name for path in folder.work.iterdir()] == ["lock"]


def test_a_folder_among_the_strays(split: Split, scorers: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "run" / "unfinished" / "mine").mkdir(parents=True)
    with pytest.raises(InputError, match=r"`out` must be a writable folder"):
        evaluate(scorers, split, out=tmp_path / "run", **SETTINGS)
    assert (tmp_path / "run" / "unfinished" / "mine").is_dir()


@pytest.mark.parametrize("name", ["lock", "asked.json.tmp"])
def test_links_in_the_folder_are_not_followed(
    split: Split, scorers: dict[str, Any], tmp_path: Path, name: str
) -> None:
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "run" / "unfinished").mkdir(parents=True)
    (tmp_path / "run" / "unfinished" / name).symlink_to(tmp_path / "mine")
    if name == "lock":
        with pytest.raises(InputError, match=r"`out` must be a writable folder"):
            evaluate(scorers, split, out=tmp_path / "run", **SETTINGS)
    else:
        with RunFolder(tmp_path / "run") as folder:
            folder._open_work()
            folder.settle({}, None)
    assert (tmp_path / "mine").read_text() == "precious"


def test_stopped_while_publishing(
    split: Split,
    scorers: dict[str, Any],
    tmp_path: Path,
    whole: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """StoppedError before each of the last renames; the run after it ends alike."""
    rename = os.replace
    for allowed in range(14, 19):  # manifest and shards are 11, then come 4 files and 4 moves
        left = iter(range(allowed))

        def replace(source: Any, target: Any, left: Any = left) -> None:
            if next(left, None) is None:
                raise StoppedError
            rename(source, target)

        out = tmp_path / f"run-{allowed}"
        monkeypatch.setattr(os, "replace", replace)
        with pytest.raises(StoppedError):
            evaluate(scorers, split, out=out, **SETTINGS)
        monkeypatch.undo()
        evaluate(scorers, split, out=out, **SETTINGS)
        assert content(out) == whole


def test_a_report_without_its_extra(
    split: Split, scorers: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(self: Evaluation, path: Path) -> None:
        raise MissingExtraError('Reports need jinja2: pip install "fullrank[report]"')

    monkeypatch.setattr(Evaluation, "write_report", missing)
    with pytest.warns(UserWarning, match=r"need jinja2"):
        evaluate(scorers, split, out=tmp_path / "run", design="exact")
    assert Evaluation.read(tmp_path / "run").about["report"] is None


def test_a_report_that_fails_loses_no_numbers(
    split: Split, scorers: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Evaluation, path: Path) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Evaluation, "write_report", broken)
    with pytest.raises(ZeroDivisionError):
        evaluate(scorers, split, out=tmp_path / "run", design="exact")
    assert len(Evaluation.read(tmp_path / "run").samples) == 2


def test_odd_names_make_safe_files(split: Split, scorers: dict[str, Any], tmp_path: Path) -> None:
    names = ["../../etc/passwd", "ä/β", "A", "a", "x" * 300, "<script>alert(1)</script>", "a b"]
    models = dict.fromkeys(names, scorers["a"])
    evaluate(models, split, out=tmp_path / "run", **SETTINGS)
    assert len(os.listdir(tmp_path / "run" / "ranks")) == len(names)
    assert os.listdir(tmp_path) == ["run"]
    assert list(Evaluation.read(tmp_path / "run").samples) == names


def test_names_that_look_like_others() -> None:
    made = file_names(["../etc", "etc-53dac9b2", "etc-53dac9b2"[:3]])
    assert len({name.lower() for name in made.values()}) == 3


@pytest.mark.parametrize(
    "ranks", ["../secret.parquet", "/etc/x.parquet", "ranks/../../x.parquet", "ranks/a", 3]
)
def test_a_manifest_leads_nowhere_else(
    split: Split, scorers: dict[str, Any], tmp_path: Path, ranks: Any
) -> None:
    evaluate(scorers, split, out=tmp_path / "run", **SETTINGS)
    path = tmp_path / "run" / "run.json"
    head = json.loads(path.read_text("utf-8"))
    head["models"][0]["ranks"] = ranks
    path.write_text(json.dumps(head))
    with pytest.raises(InputError, match=r"`folder`.*run\.json"):
        Evaluation.read(tmp_path / "run")


def test_manifests_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"`folder`.*evaluate"):
        Evaluation.read(tmp_path)
    path = tmp_path / "run.json"
    for text in ("{", "[]", '{"kind": "Evaluation"}', "[" * 100_000):
        path.write_text(text)
        with pytest.raises(InputError, match=r"`folder`.*run\.json"):
            Evaluation.read(tmp_path)
    path.write_text('{"kind": "Other"}')
    with pytest.raises(InputError, match=r"`folder`.*Evaluation"):
        Evaluation.read(tmp_path)
    path.write_text('{"kind": "Evaluation", "format": 9}')
    with pytest.raises(InputError, match=r"`folder`.*\b2\b.*\b9\b"):
        Evaluation.read(tmp_path)
