"""What is said of training items, and whose shape is borrowed: the numbers are those of Python."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank import anchored, compare, estimate, jointly
from fullrank.designs import Uniform
from fullrank.samples import ExactRanks, RankSample, simulate
from fullrank.samples.read_ranks import read_ranks

pytest.importorskip("pyarrow")

N, SIZE = 5_000, 100
SIZES = ("--sample-size", SIZE, "--n-items", N, "--design", "sampled")
TRUE = {
    "a": np.random.default_rng(0).integers(1, 71, 600) ** 2,
    "b": np.random.default_rng(1).integers(1, 69, 600) ** 2,
}
METRICS = ("recall@10", "ndcg@10")
ASKED = ("-m", "recall@10", "-m", "ndcg@10")
NOTE = (
    "It is not known whether training items were excluded. State this with "
    "`--training-items excluded` or `--training-items kept`."
)
KEPT = "helps only"
SAID = {"excluded": True, "kept": False}
Values = dict[str, dict[str, float]]


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    """Two models in one file that says nothing of training items."""
    path, lines = tmp_path / "ranks.csv", ["model,user,rank"]
    for place, (name, true) in enumerate(TRUE.items()):
        rows = simulate(true, n_items=N, design=Uniform(SIZE), rng=place).rows
        assert rows is not None
        lines += [f"{name},{u},{r}" for u, r in enumerate(rows.rank)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def exact(tmp_path: Path) -> Path:
    ExactRanks.from_ranks(TRUE["a"][::2], n_items=N).write(tmp_path / "cheap.parquet")
    return tmp_path / "cheap.parquet"


def samples_of(path: Path, excluded: bool | None) -> dict[str, RankSample]:
    settings = {"sample_size": SIZE, "n_items": N, "design": "sampled", "excluded": excluded}
    return dict(read_ranks(path, rows=True, **settings).samples)


def values(samples: dict[str, RankSample]) -> Values:
    return {name: dict(estimate(one, metrics=METRICS).values) for name, one in samples.items()}


def printed(fullrank: Any, command: str, *words: object, folder: Path) -> Values:
    """Model to metric to value, as a command prints them."""
    out = ("--out", folder / "page.html") if command == "report" else ()
    done = fullrank(command, *words, *SIZES, *ASKED, *out, "--json")
    assert done.code == 0, done.err
    return {
        entry["model"]: {one["metric"]: one["estimate"] for one in entry["metrics"]}
        for entry in json.loads(done.out)["models"]
    }


COMMANDS = ("estimate", "compare", "report")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("said", SAID)
def test_what_is_said_is_what_python_is_told(
    fullrank: Any, ranks: Path, command: str, said: str, tmp_path: Path, need: Any
) -> None:
    need("jinja2")
    found = printed(fullrank, command, ranks, "--training-items", said, folder=tmp_path)
    assert found == values(samples_of(ranks, SAID[said]))
    assert found != values(samples_of(ranks, None))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_shapes_are_those_of_python(
    fullrank: Any, ranks: Path, exact: Path, command: str, tmp_path: Path, need: Any
) -> None:
    need("jinja2")
    samples = samples_of(ranks, True)
    cheap = ExactRanks.read(exact)
    said = (ranks, "--training-items", "excluded")
    plain = values(samples)
    for words, expected in (
        (("--anchor", exact), anchored(samples, cheap)),
        (("--anchor", exact, "--anchor", exact), anchored(samples, [cheap, cheap])),
        (("--joint",), jointly(samples)),
    ):
        found = printed(fullrank, command, *said, *words, folder=tmp_path)
        assert found == values(expected)
        assert found != plain


def test_python_compares_anchored_samples_by_the_same_values(ranks: Path) -> None:
    samples = jointly(samples_of(ranks, True))
    found = compare(samples, METRICS, rng=0)
    for at, name in enumerate(found.models):
        own = dict(zip(found.metrics, found.estimate[at].tolist(), strict=True))
        assert own == values(samples)[name]


def test_a_run_folder_is_an_anchor(fullrank: Any, ranks: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert fullrank("evaluate", "simulated", "--model", "popularity", "--out", run).code == 0
    said = ("estimate", ranks, *SIZES, *ASKED, "--training-items", "excluded", "--json")
    plain, done = fullrank(*said), fullrank(*said, "--anchor", run)
    assert done.code == 0, done.err
    assert (
        json.loads(done.out)["models"][0]["metrics"]
        != (json.loads(plain.out)["models"][0]["metrics"])
    )
    reason = json.loads(done.out)["models"][0]["reason"]
    assert "informed by the ranks of other models on the same data" in reason


def test_exact_models_beside_samples_stay_exact(
    fullrank: Any, ranks: Path, exact: Path, tmp_path: Path
) -> None:
    for name, one in samples_of(ranks, True).items():
        one.write(tmp_path / f"{name}.parquet")
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet", exact]
    done = fullrank("compare", *files, *ASKED, "--joint", "--unpaired", "--json")
    assert done.code == 0, done.err
    methods = {one["model"]: one["method"] for one in json.loads(done.out)["models"]}
    assert methods == {"a": "smoothed", "b": "smoothed", "cheap": "exact"}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["--anchor", "--joint"])
def test_training_items_that_were_kept_are_refused(
    fullrank: Any, ranks: Path, exact: Path, command: str, option: str
) -> None:
    words = (option, exact) if option == "--anchor" else (option,)
    done = fullrank(command, ranks, *SIZES, "--training-items", "kept", *words)
    assert done.code == 2
    assert done.err.startswith(f"`{option}` must")
    assert KEPT in done.err
    assert done.err.count("\n") == 1


def test_other_refusals(fullrank: Any, ranks: Path, exact: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.csv"
    one.write_text("rank\n1\n7\n90\n")
    excluded = ("--training-items", "excluded")
    wrong: list[tuple[tuple[Any, ...], str]] = [
        ((ranks, *SIZES, *excluded, "--joint", "--anchor", exact), "`--joint` must not be given"),
        ((one, *SIZES, *excluded, "--joint"), "must be used with at least two sampled models"),
        ((ranks, *SIZES, *excluded, "--anchor", ranks), "`--anchor` must hold exact ranks"),
        ((ranks, *SIZES, *excluded, "--anchor", tmp_path / "no.parquet"), "no.parquet"),
        (
            (ranks, *SIZES, *excluded, "--joint", "--method", "MLE"),
            "`--joint` needs `--method` auto or smoothed, not MLE.",
        ),
        ((exact, "--anchor", exact), "`--anchor` must be omitted for exact ranks"),
        ((ranks, *SIZES, "--training-items", "some"), "`--training-items` must be"),
    ]
    for words, says in wrong:
        done = fullrank("estimate", *words)
        assert done.code == 2, words
        assert says in done.err
        assert done.err.count("\n") == 1


def test_the_note_is_there_once_where_it_matters(
    fullrank: Any, ranks: Path, tmp_path: Path, need: Any
) -> None:
    need("jinja2")
    page = tmp_path / "page.html"
    pilot = tmp_path / "pilot.csv"
    pilot.write_text("rank\n" + "1\n5\n30\n99\n" * 50)
    for words in (
        ("estimate", ranks, *SIZES),
        ("estimate", ranks, *SIZES, "--method", "smoothed"),
        ("compare", ranks, *SIZES),
        ("report", ranks, *SIZES, "--out", page),
        ("plan", "--pilot", pilot, *SIZES, "--try", "exact"),
    ):
        done = fullrank(*words)
        assert done.code == 0, done.err
        assert done.out.splitlines().count(NOTE) == 1, words
        assert done.out.count("raining items were excluded") == 1
        content = json.loads(fullrank(*words, "--json").out)
        told = content["measured"]["assumed"] if words[0] == "report" else content["assumed"]
        assert NOTE in told
        assert json.dumps(content).count("raining items were excluded") == 1
    assert page.read_text("utf-8").count("raining items were excluded") == 1


def test_the_note_is_not_there_where_it_does_not_matter(
    fullrank: Any, ranks: Path, exact: Path, tmp_path: Path
) -> None:
    adaptive, own = tmp_path / "adaptive.parquet", tmp_path / "own.csv"
    simulate(TRUE["a"], n_items=N, design="adaptive:levels=25/50/100", rng=0).write(adaptive)
    own.write_text("rank,n_items\n" + "1,4000\n5,4100\n" * 50)
    whole = tmp_path / "whole.csv"
    whole.write_text("rank\n1\n5\n9\n7\n")
    for words in (
        ("estimate", ranks, *SIZES, "--training-items", "kept"),
        ("estimate", ranks, *SIZES, "--training-items", "excluded"),
        ("estimate", ranks, *SIZES, "--method", "MLE"),
        ("compare", ranks, *SIZES, "--method", "naive"),
        ("bounds", ranks, *SIZES, "-m", "recall@100"),
        ("explain", "--ranks", ranks, *SIZES),
        ("estimate", exact),
        ("estimate", adaptive),
        ("estimate", own, "--sample-size", SIZE),
        ("estimate", whole, "--sample-size", 10, "--n-items", 10),
    ):
        done = fullrank(*words)
        assert done.code == 0, done.err
        assert "training items were excluded" not in done.out, words


def test_python_has_the_note_with_its_argument(ranks: Path) -> None:
    samples = samples_of(ranks, None)
    note = (
        "It is not known whether training items were excluded. State this with `excluded=true` or "
        "`excluded=false` in the design."
    )
    one, both = estimate(samples["a"]), estimate(samples)
    contrast = compare(samples, rng=0)
    assert one.diagnosis.assumed == both.assumed == contrast.assumed == (note,)
    for shown in (one, both, contrast):
        assert str(shown).splitlines().count(note) == 1
        assert shown.to_dict()["assumed"] == [note]
    known = samples_of(ranks, True)
    for told in (estimate(known["a"]), estimate(known), compare(known, rng=0)):
        assert "is not known" not in str(told)
        assert told.to_dict()["assumed"] == []


def test_a_file_of_ours_carries_what_was_said(fullrank: Any, ranks: Path, tmp_path: Path) -> None:
    path = tmp_path / "own.parquet"
    samples_of(ranks, True)["a"].write(path)
    assert fullrank("estimate", path, "--training-items", "excluded").code == 0
    done = fullrank("estimate", path, "--training-items", "kept")
    assert done.code == 2
    assert "`--training-items` must agree with the file or be omitted" in done.err
    unsaid = samples_of(ranks, None)["a"]
    unsaid.write(path)
    done = fullrank("estimate", path, *ASKED, "--training-items", "kept", "--json")
    assert done.code == 0, done.err
    found = {one["metric"]: one["estimate"] for one in json.loads(done.out)["metrics"]}
    assert found == values({"a": samples_of(ranks, False)["a"]})["a"]


def test_an_anchor_travels_with_the_file(fullrank: Any, ranks: Path, exact: Path) -> None:
    one = anchored(samples_of(ranks, True)["a"], ExactRanks.read(exact))
    path = ranks.with_name("anchored.parquet")
    for sample in (one, one.without_rows()):
        sample.write(path)
        content = json.loads(fullrank("estimate", path, *ASKED, "--json").out)
        found = {entry["metric"]: entry["estimate"] for entry in content["metrics"]}
        assert found == values({"a": one})["a"]


def test_the_plan_that_is_offered_says_it_again(fullrank: Any, ranks: Path) -> None:
    one = ranks.with_name("one.csv")
    one.write_text("rank\n" + "1\n5\n30\n99\n" * 50)
    done = fullrank("estimate", one, *SIZES, "--training-items", "kept")
    offered = done.out.splitlines()[-1].partition("fullrank plan ")[2].split()
    assert offered[-2:] == ["--training-items", "kept"] or "--training-items" in offered
    done = fullrank("plan", *offered, "--try", "exact", "--try", "sampled:100")
    assert done.code == 0, done.err
    assert "is not known" not in done.out
