"""`fullrank compare`: files and run folders."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.inference import compare
from fullrank.samples import RankSample, simulate

pytest.importorskip("pyarrow")

BASE = np.random.default_rng(1).integers(1, 40, 500) ** 2
SAMPLES = {
    name: simulate(
        np.clip(BASE + shift, 1, 2000),
        n_items=2000,
        design="sampled:200,excluded=true",
        rng=seed,
    )
    for seed, (name, shift) in enumerate({"ease": 0, "ials": 150}.items())
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    (folder / "ranks").mkdir(parents=True)
    models: list[Any] = []
    for name, sample in SAMPLES.items():
        sample.write(folder / "ranks" / f"{name}.parquet")
        models.append({"name": name, "ranks": f"ranks/{name}.parquet"})
    content: dict[str, Any] = {
        "format": 2,
        "kind": "Evaluation",
        "models": models,
        "metrics": ["recall@50"],
    }
    content["confidence_level"] = 0.95
    (folder / "run.json").write_text(json.dumps(content))
    return folder


def table(path: Path, sample: RankSample) -> Path:
    assert sample.rows is not None
    path.write_text("rank\n" + "\n".join(map(str, sample.rows.rank)) + "\n")
    return path


SIZES = ("--sample-size", "200", "--n-items", "2000", "--training-items", "excluded")


def test_run_folder(fullrank: Any, run: Path) -> None:
    content = json.loads(fullrank("compare", run, "-m", "recall@50", "--json", "--seed", 3).out)
    expected = compare(SAMPLES, "recall@50", rng=3).to_dict()
    (note,) = expected["notes"]
    said = note.replace("`user=`", "`--column user=NAME`")
    assert said != note
    assert content == {**expected, "notes": [said], "assumed": []}


def test_files(fullrank: Any, tmp_path: Path) -> None:
    files = [table(tmp_path / f"{name}.csv", one) for name, one in SAMPLES.items()]
    done = fullrank("compare", *files, *SIZES, "-m", "recall@50")
    assert done.code == 0
    assert "ease − ials  recall@50  +" in done.out
    assert "P(best) > 0.99" in done.out
    assert done.out.endswith(
        "Sampling without replacement is assumed. If an item could be drawn twice, give `--design "
        "sampled:replacement=true`.\n"
    )


def test_options(fullrank: Any, run: Path) -> None:
    words = ("-m", "recall@50", "--test", "z", "--correction", "none", "--unpaired", "--json")
    content = json.loads(fullrank("compare", run, *words, "--baseline", "ials").out)
    assert (content["test"], content["correction"], content["paired"]) == ("z", None, False)
    assert content["baseline"] == "ials"


@pytest.mark.parametrize("content", [None, "{", '{"format": 1, "kind": "Evaluation"}'])
def test_bad_runs(fullrank: Any, tmp_path: Path, content: str | None) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    if content is not None:
        (folder / "run.json").write_text(content)
    done = fullrank("compare", folder)
    assert done.code == 2
    assert re.search(r"`FILES`.*\brun\b", done.err)
    assert done.err.count("\n") == 1


def test_models_of_one_name(fullrank: Any, run: Path) -> None:
    done = fullrank("compare", run, run)
    assert done.code == 2
    assert re.search(r"`FILES`.*'ease \(run\)'.*twice", done.err)


def test_one_model_is_not_enough(fullrank: Any, tmp_path: Path) -> None:
    done = fullrank("compare", table(tmp_path / "a.csv", SAMPLES["ease"]), *SIZES)
    assert done.code == 2
    assert re.search(r"`FILES`.*'a'", done.err)


def runs(tmp_path: Path, run: Path, *names: str) -> list[Path]:
    """The same run under several folders of one folder."""
    import shutil

    (tmp_path / "runs").mkdir(exist_ok=True)
    return [Path(shutil.copytree(run, tmp_path / "runs" / name)) for name in names]


def models_of(done: Any) -> list[str]:
    assert done.code == 0, done.err
    return [one["model"] for one in json.loads(done.out)["models"]]


def test_a_model_of_the_same_name_in_two_runs(fullrank: Any, tmp_path: Path, run: Path) -> None:
    last, now = runs(tmp_path, run, "60", "61")
    words = ("-m", "recall@50", "--json")
    assert models_of(fullrank("compare", last, now, *words)) == [
        "ease (60)", "ials (60)", "ease (61)", "ials (61)",
    ]  # fmt: skip
    assert models_of(fullrank("compare", f"last={last}", f"now={now}", *words)) == [
        "last/ease", "last/ials", "now/ease", "now/ials",
    ]  # fmt: skip
    again = fullrank("compare", last, last, *words)
    assert again.code == 2
    assert re.search(r"`FILES`.*'ease \(60\)'.*twice.*NAME=", again.err)


def test_files_are_named(fullrank: Any, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("old", "new")]
    files = []
    for folder, sample in zip(folders, SAMPLES.values(), strict=True):
        folder.mkdir()
        files.append(table(folder / "prod.csv", sample))
    words = (*SIZES, "-m", "recall@50", "--json")
    assert models_of(fullrank("compare", *files, *words)) == ["prod (old)", "prod (new)"]
    named = fullrank("compare", f"a={files[0]}", f"b={files[1]}", *words)
    assert models_of(named) == ["a", "b"]
    twice = fullrank("compare", f"a={files[0]}", f"a={files[1]}", *words)
    assert models_of(twice) == ["a (old)", "a (new)"]


def test_a_path_that_exists_is_a_path(fullrank: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    table(tmp_path / "a=b.csv", SAMPLES["ease"])
    done = fullrank("estimate", "a=b.csv", *SIZES, "--json")
    assert json.loads(done.out)["model"] == "a=b"
    missing = fullrank("estimate", "a=c.csv", *SIZES)
    assert missing.code == 2
    assert "c.csv" in missing.err


@pytest.mark.parametrize(
    ("command", "key"), [("estimate", "model"), ("bounds", "model"), ("explain", "model")]
)
def test_every_command_takes_a_name(fullrank: Any, tmp_path: Path, command: str, key: str) -> None:
    path = table(tmp_path / "ranks.csv", SAMPLES["ease"])
    words = ["--ranks"] if command == "explain" else []
    done = fullrank(command, *words, f"mine={path}", *SIZES, "-m", "recall@50", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)[key] == "mine"


def test_a_plan_and_a_report_take_names(
    fullrank: Any, tmp_path: Path, run: Path, need: Any
) -> None:
    path = table(tmp_path / "ranks.csv", SAMPLES["ease"])
    how = (*SIZES, "-m", "recall@50", "--margin", "20%", "--try", "exact")
    named = fullrank("plan", "--pilot", f"mine={path}", *how)
    assert named.code == 0, named.err
    assert named.out == fullrank("plan", "--pilot", path, *how).out
    need("jinja2")
    last, now = runs(tmp_path, run, "60", "61")
    page = tmp_path / "page.html"
    done = fullrank("report", f"last={last}", f"now={now}", "--out", page, "--json")
    assert [one["model"] for one in json.loads(done.out)["models"]][:1] == ["last/ease"]


def test_notes_name_options(fullrank: Any, tmp_path: Path) -> None:
    """What a note advises can be typed: not an argument of Python's."""
    files = [table(tmp_path / f"{name}.csv", one) for name, one in SAMPLES.items()]
    words = ("compare", *files, *SIZES, "-m", "recall@50", "--method", "naive")
    assert "Use `--method auto` to compare full-catalogue metrics." in fullrank(*words).out
    notes = json.loads(fullrank(*words, "--json").out)["notes"]
    assert any("`--method auto`" in note for note in notes)
    for path in files:  # with users, to be paired
        ranks = path.read_text().splitlines()[1:]
        path.write_text("user,rank\n" + "".join(f"{u},{r}\n" for u, r in enumerate(ranks)))
    many = (word for k in range(90, 112) for word in ("-m", f"recall@{k}"))
    words = (*files, *SIZES, *many, "--method", "naive", "--test", "randomization")
    done = fullrank("compare", *words)
    assert "Compare fewer metrics or models, or use `--test t`." in done.out


def test_a_column_of_items_that_was_not_read_is_named(fullrank: Any, tmp_path: Path) -> None:
    """An unknown column of text beside users: models are paired by user alone, which is said."""
    rng = np.random.default_rng(0)
    for name in "ab":
        rank = rng.integers(1, 101, 60)
        lines = [f"u{u},i{u % 7},{u // 50},{r}" for u, r in enumerate(rank)]
        (tmp_path / f"{name}.csv").write_text("user,sku,fold,rank\n" + "\n".join(lines) + "\n")
    one, two = tmp_path / "a.csv", tmp_path / "b.csv"
    words = ("compare", one, two, *SIZES, "-m", "recall@50")
    says = (
        f"Models were paired by user only; column 'sku' of {one}, {two} was not used (to pair by "
        "item too, add `--column item=sku`)."
    )
    assert fullrank(*words).out.splitlines().count(says) == 1
    assert says in json.loads(fullrank(*words, "--json").out)["assumed"]
    for more in (("--column", "item=sku"), ("--leave-out", "sku"), ("--unpaired",)):
        assert "paired by user only" not in fullrank(*words, *more).out
