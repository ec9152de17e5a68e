"""Scored candidates from other systems: TREC, NCF, RecBole and plain tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.errors import InputError
from fullrank.samples.read_candidates import read_candidates

pytest.importorskip("pyarrow")

RUN = """\
q1 Q0 d1 1 0.9 me
q1 Q0 d2 2 0.8 me
q1 Q0 d3 3 0.1 me
q2\tQ0  d1 1 -1e-3 me
 q2 Q0 d9 2 -2 me
q2 Q0 d4 3 -3 me

q3 Q0 d1 1 1 me
"""
QRELS = "q1 0 d2 1\nq1 0 d7 0\nq2 0 d9 2\nq4 0 d1 1\n"


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def rows(found: Any) -> dict[str, list[Any]]:
    sample = next(iter(found.values()))
    assert sample.rows is not None
    names = ("user", "rank", "offset", "sample_size", "n_targets")
    return {name: getattr(sample.rows, name).tolist() for name in names}


def test_trec(tmp_path: Path) -> None:
    run, qrels = put(tmp_path / "run.trec", RUN), put(tmp_path / "qrels.txt", QRELS)
    found = read_candidates(run, truth=qrels, n_items=100)
    assert rows(found) == {
        "user": ["q1", "q2"],
        "rank": [2, 2],
        "offset": [0, 0],
        "sample_size": [3, 3],
        "n_targets": [1, 1],
    }
    assert found.notes == (
        "1 of 3 users has no target and was left out.",
        "1 user with targets has no candidates and was left out.",
        "Sampling without replacement is assumed. If an item could be drawn twice, give "
        '`design="sampled:replacement=true"`.',
    )
    assert read_candidates(run, truth=qrels, n_items=100, design="sampled").notes == found.notes[:2]


def test_several_targets_keep_their_offsets(tmp_path: Path) -> None:
    run = put(tmp_path / "run", "".join(f"q Q0 d{i} {i} {9 - i} x\n" for i in range(1, 7)))
    qrels = put(tmp_path / "qrels", "q 0 d5 1\nq 0 d1 1\nq 0 d3 1\n")
    found = read_candidates(run, truth=qrels, n_items=50)
    # d1 is first; d3 has d2 above it; d5 has d2 and d4
    assert rows(found) == {
        "user": ["q"] * 3,
        "rank": [1, 2, 3],
        "offset": [0, 1, 2],
        "sample_size": [4] * 3,
        "n_targets": [3] * 3,
    }


@pytest.mark.parametrize(("ties", "rank"), [("best", 2), ("worst", 4)])
def test_ties(tmp_path: Path, ties: str, rank: int) -> None:
    text = "user,score,label\nu,9,0\nu,5,0\nu,5,1\nu,5,0\nu,1,0\n"
    path = put(tmp_path / "c.csv", text)
    assert rows(read_candidates(path, n_items=50, ties=ties))["rank"] == [rank]
    drawn = [read_candidates(path, n_items=50, rng=seed) for seed in range(40)]
    assert {rows(one)["rank"][0] for one in drawn} == {2, 3, 4}
    assert "1 of 1 target shares its score" in drawn[0].notes[0]


def test_ranks_are_those_counted_one_by_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    user, item = np.divmod(np.arange(600), 12)
    order = rng.permutation(600)
    score = rng.normal(size=600)
    label = rng.random(600) < 0.15
    label[::12] = True  # every user has a target
    lines = [f"{user[i]},{item[i]},{float(score[i])!r},{int(label[i])}" for i in order]
    path = put(tmp_path / "c.csv", "user_id,item_id,score,label\n" + "\n".join(lines) + "\n")
    found = rows(read_candidates(path, n_items=100))
    got = sorted(zip(found["user"], found["rank"], found["offset"], strict=True))
    expected = []
    for i in np.flatnonzero(label):
        above = (user == user[i]) & (score > score[i])
        expected.append((str(user[i]), 1 + int((above & ~label).sum()), int((above & label).sum())))
    assert got == sorted(expected)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ml.test.negative", "(u1,a)\tb\tc\n(u2,b)\ta\tc\n"),
        ("ml.test.rating", "u1\ta\t5\t978\nu2\tb\t4\t979\n"),
        ("t.inter", "user_id:token\titem_id:token\nu1\ta\nu2\tb\n"),
        ("t.csv", "user,item\nu1,a\nu2,b\n"),
        ("qrels", "u1 0 a 1\nu2 0 b 1\n"),
    ],
)
def test_targets_from_many_formats(tmp_path: Path, name: str, text: str) -> None:
    scores = put(
        tmp_path / "s.inter",
        "user_id:token\titem_id:token\tscore:float\n"
        "u1\ta\t0.2\nu1\tb\t0.9\nu1\tc\t0.1\nu2\ta\t0.3\nu2\tb\t0.4\nu2\tc\t0.1\n",
    )
    found = read_candidates(scores, truth=put(tmp_path / name, text), n_items=30)
    assert rows(found)["rank"] == [2, 1]


def test_a_target_that_is_listed_again_counts_once(tmp_path: Path) -> None:
    run, qrels = put(tmp_path / "run", RUN + "q1 Q0 d2 9 0.8 me\n"), put(tmp_path / "qrels", QRELS)
    found = read_candidates(run, truth=qrels, n_items=100)
    assert rows(found)["rank"] == [2, 2]
    assert rows(found)["sample_size"] == [3, 3]
    assert "1 candidate repeats a target of its user and was left out." in found.notes


@pytest.mark.slow
def test_ncf_negatives_of_ml_1m(tmp_path: Path, data_file: Any) -> None:
    """156 of the published negatives are the target itself."""
    negatives = data_file("ml-1m.test.negative")
    lines = ["user,item,score"]
    for number, line in enumerate(negatives.read_text().splitlines()):
        head, *drawn = line.split("\t")
        user, target = head.strip("()").split(",")
        lines += [
            f"{user},{item},{(int(item) * 7919 + number) % 997}"
            for item in (target, *drawn)
            if item
        ]
    scores = put(tmp_path / "scores.csv", "\n".join(lines) + "\n")
    found = read_candidates(scores, truth=negatives, n_items=3706, design="sampled", rng=0)
    assert found.notes[1].endswith("ties are broken at random.")
    assert found.notes[0] == "156 candidates repeat a target of their user and were left out."
    assert next(iter(found.values())).n_targets == 6040


def test_ids_that_look_like_numbers_stay_text(tmp_path: Path) -> None:
    scores = put(tmp_path / "s.csv", "user,item,score\n01,7,0.2\n01,8,0.9\n1,7,0.3\n1,8,0.1\n")
    found = rows(
        read_candidates(scores, truth=put(tmp_path / "t.csv", "user,item\n01,7\n1,7\n"), n_items=9)
    )
    assert found["user"] == ["01", "1"]
    assert found["rank"] == [2, 1]


def test_a_list_cut_below_its_targets(tmp_path: Path) -> None:
    run, qrels = put(tmp_path / "run", RUN), put(tmp_path / "qrels", QRELS)
    assert rows(read_candidates(run, truth=qrels, n_items=99, sample_size=50))["sample_size"] == [
        50,
        50,
    ]
    with pytest.raises(InputError, match=r"`sample_size`.*\b3\b.*\b2\b"):
        read_candidates(run, truth=qrels, n_items=99, sample_size=2)


@pytest.mark.parametrize(
    ("run", "qrels", "says"),
    [
        (
            RUN,
            QRELS + "q1 0 d8 1\n",
            r"`path`.*1 of 3.*run\b.*d8.*q1",
        ),
        (RUN, "q1 0 d1 0\n", r"`path`.*target.*qrels.*run\b"),
        (RUN.replace("0.9", "nan"), QRELS, r"`score`.*1 of 7.*score\[0\] = nan\b"),
        (RUN.replace("0.9", "high"), QRELS, r"`score`.*line.*run\b"),
        ("q1 Q0 d1\n", QRELS, r"`path`.*'query Q0 document rank score tag'"),
        ("", QRELS, r"`path`.*'query Q0 document rank score tag'"),
        (RUN, "q1 d2 1\n", r"`truth`.*'query 0 document relevance'"),
    ],
)
def test_bad_runs(tmp_path: Path, run: str, qrels: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_candidates(
            put(tmp_path / "run", run), truth=put(tmp_path / "qrels", qrels), n_items=99
        )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("user,score\nu,1\n", r"`truth`.*label"),
        ("user,label\nu,1\n", r"`score`.*'score'"),
        ("user,score,label\n", r"`path`.*row.*has no rows"),
        ("user,score,label\nu,1,0\n", r"`path`.*target.*label"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_candidates(put(tmp_path / "c.csv", text), n_items=99)


def test_bad_arguments(tmp_path: Path) -> None:
    run, qrels = put(tmp_path / "run", RUN), put(tmp_path / "qrels", QRELS)
    with pytest.raises(InputError, match=r"`ties`.*'random', 'best', 'worst'.*'mean'"):
        read_candidates(run, truth=qrels, n_items=99, ties="mean")
    with pytest.raises(InputError, match=r"`truth`.*\(user,item\)"):
        read_candidates(run, truth=put(tmp_path / "x.test.negative", "1\t2\n"), n_items=99)
    scores = put(tmp_path / "s.csv", "user,score\nu,1\n")
    with pytest.raises(InputError, match=r"`item`.*'item'"):
        read_candidates(scores, truth=qrels, n_items=99)


def test_columns_of_the_targets_must_be_renamed(tmp_path: Path) -> None:
    scores = put(tmp_path / "scores.csv", "who,item,score\nu,a,1\n")
    truth = put(tmp_path / "truth.csv", "who,item\nu,a\n")
    columns = {"user": "who"}  # of the scores alone
    says = r"The `user` column.*truth\.csv.*: if it has another name, rename it to 'user'\.$"
    with pytest.raises(InputError, match=says):
        read_candidates(scores, truth=truth, columns=columns, n_items=99)
    put(truth, "user,item\nu,a\n")
    assert rows(read_candidates(scores, truth=truth, columns=columns, n_items=99))["rank"] == [1]


def test_several_models_in_a_table(tmp_path: Path) -> None:
    lines = ["model,user,item,score,label"]
    scores = {"a": (0.9, 0.1, 0.2), "b": (0.1, 0.9, 0.2)}  # the first item is the target
    lines += [
        f"{model},u{user},{item},{score},{int(item == 0)}"
        for model, row in scores.items()
        for user in range(3)
        for item, score in enumerate(row)
    ]
    table = put(tmp_path / "scored.csv", "\n".join(lines) + "\n")
    found = read_candidates(table, n_items=50)
    assert {m: one.rows.rank.tolist() for m, one in found.samples.items() if one.rows} == {
        "a": [1, 1, 1],
        "b": [3, 3, 3],
    }
    assert all((one.sample_size == 3).all() for one in found.samples.values())


def test_several_tags_are_several_models(tmp_path: Path) -> None:
    other = RUN.replace(" me\n", " other\n").replace("d3 3 0.1", "d3 3 0.85")
    run, qrels = put(tmp_path / "runs.trec", RUN + other), put(tmp_path / "qrels.txt", QRELS)
    found = read_candidates(run, truth=qrels, n_items=100)
    assert {m: one.rows.rank.tolist() for m, one in found.samples.items() if one.rows} == {
        "me": [2, 2],
        "other": [3, 2],
    }
    assert found.notes[0] == "me: 1 of 3 users has no target and was left out."


@pytest.mark.parametrize(
    ("name", "text", "inferred"),
    [
        ("ml.test.negative", "(u1,a)\tb\tc\n(u2,b)\ta\tc\n", True),
        ("ml.test.rating", "u1 a 5 0\nu2 b 5 0\n", None),
        ("qrels", "u1 0 a 1\nu2 0 b 1\n", None),
    ],
)
def test_negatives_of_ncf_exclude_training_items(
    name: str, text: str, inferred: bool | None, tmp_path: Path
) -> None:
    lines = [f"{u},{i},{s}" for u in ("u1", "u2") for i, s in (("a", 3), ("b", 2), ("c", 1))]
    scores = put(tmp_path / "scores.csv", "user,item,score\n" + "\n".join(lines) + "\n")
    truth = put(tmp_path / name, text)
    found = read_candidates(scores, truth=truth, n_items=50)
    assert next(iter(found.values())).design.excluded is inferred
    assert any(note.startswith("Training items are assumed") for note in found.notes) == bool(
        inferred
    )
    for said in (True, False):
        found = read_candidates(scores, truth=truth, n_items=50, excluded=said)
        assert next(iter(found.values())).design.excluded is said
        assert not any("raining items" in note for note in found.notes)
