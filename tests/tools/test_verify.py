"""Results of long checks: what is kept of them, and when they are stale."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools import verify

TINY = verify.Check("tiny", ("-c", "print('3 passed, 1 skipped in 0.1s')"), ("metrics",))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "fullrank"
    (folder / "metrics" / "deeper").mkdir(parents=True)
    (folder / "metrics" / "a.py").write_text("a = 1\n")
    (folder / "metrics" / "deeper" / "b.html").write_text("<p>")
    (folder / "cli").mkdir()
    return folder


def test_a_result_is_kept_and_goes_stale_with_its_code(source: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    places = {"source": source, "results": results}
    assert verify.state(TINY, **places) == "missing"
    verify.run(TINY, **places)
    kept = json.loads((results / "tiny.json").read_text("utf-8"))
    assert kept["command"] == "python -c 'print('\"'\"'3 passed, 1 skipped in 0.1s'\"'\"')'"
    assert (kept["outcome"], kept["counts"]) == ("passed", {"passed": 3, "skipped": 1})
    assert {"seconds", "python", "numpy", "numba", "code"} <= set(kept)
    assert verify.state(TINY, **places) == "fresh"
    (source / "cli" / "c.py").write_text("not measured")
    assert verify.state(TINY, **places) == "fresh"
    (source / "metrics" / "deeper" / "b.html").write_text("<b>")
    assert verify.state(TINY, **places) == "stale"


def test_a_failure_is_kept_as_one(source: Path, tmp_path: Path) -> None:
    failing = verify.Check("failing", ("-c", "raise SystemExit(3)"), ("metrics",))
    assert verify.run(failing, source=source, results=tmp_path)["exit"] == 3
    assert verify.state(failing, source=source, results=tmp_path) == "failed"


def test_the_hash_is_of_names_and_contents(source: Path) -> None:
    before = verify.code_hash(["metrics"], source=source)
    (source / "metrics" / "__pycache__").mkdir()
    (source / "metrics" / "__pycache__" / "a.pyc").write_bytes(b"x")
    assert verify.code_hash(["metrics"], source=source) == before
    (source / "metrics" / "a.py").rename(source / "metrics" / "c.py")
    after = verify.code_hash(["metrics"], source=source)
    assert after != before
    (source / "_lib").mkdir()
    (source / "_lib" / "text.py").write_text("")  # which metrics may import
    assert verify.code_hash(["metrics"], source=source) != after
    with pytest.raises(FileNotFoundError, match="designs, samples"):
        verify.code_hash(["designs", "metrics", "samples"], source=source)


def test_the_files_of_a_check_count(source: Path) -> None:
    alone = verify.code_hash(["metrics"], source=source)
    assert verify.code_hash(["metrics"], ["tools/verify.py"], source) != alone
    for check in verify.CHECKS:
        assert check.own
        assert all((verify.ROOT / name).exists() for name in check.own)


def test_a_damaged_result_is_told(source: Path, tmp_path: Path) -> None:
    for text in ("{", "[]", "{}"):
        (tmp_path / "tiny.json").write_text(text)
        assert verify.state(TINY, source=source, results=tmp_path) == "damaged"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("x\n== 4 failed, 10 passed in 3.20s ==\n", {"failed": 4, "passed": 10}),
        ('row\n{"inputs": 7, "seconds": 1.5, "targets": {}}\n', {"inputs": 7}),
        ('{\n  "runs": 2,\n  "litter": []\n}\n', {"runs": 2}),
        ("nothing\n", {}),
    ],
)
def test_counts(output: str, expected: dict[str, int]) -> None:
    assert verify.counts(output) == expected


def test_staleness_is_told_and_fails_only_when_strict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = ["--stale", "--results", str(tmp_path)]
    assert verify.main(nothing) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [
        ["missing", check.name] for check in verify.CHECKS
    ]
    assert verify.main([*nothing, "--strict", "faults"]) == 1


def test_every_check_runs_what_is_there(root: Path) -> None:
    for check in verify.CHECKS:
        assert any((root / part).exists() for part in check.command)
