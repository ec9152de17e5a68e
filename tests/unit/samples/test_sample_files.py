import json
from pathlib import Path

import numpy as np
import pytest

from fullrank.errors import InputError
from fullrank.samples import RankDistribution, RankSample, read_ranks, sample_files

pa = pytest.importorskip("pyarrow")

SAMPLES = {
    "rows": RankSample.from_ranks(
        [1, 5, 3],
        sample_size=10,
        n_items=50,
        design="sampled:replacement=true,ties=best",
        user=["ä", "b", "c"],
        weight=[1.0, 0.5, 2.0],
    ),
    "own catalogues": RankSample.from_ranks([1, 5, 3], sample_size=10, n_items=[50, 60, 70]),
    "adaptive": RankSample.from_ranks(
        [1, 5, 3], sample_size=[20, 10, 20], n_items=50, design="adaptive:levels=10/20"
    ),
    "several targets": RankSample.from_ranks(
        [1, 5, 3], sample_size=10, n_items=50, user=[7, 7, 8], n_targets=[2, 2, 1], offset=[0, 1, 0]
    ),
}
SAMPLES["excluded"] = RankSample.from_ranks(
    [1, 5, 3], sample_size=10, n_items=50, design="sampled:excluded=true"
)
SAMPLES["kept"] = RankSample.from_ranks(
    [1, 5, 3], sample_size=10, n_items=50, design="sampled:excluded=false"
)
ANCHOR = RankDistribution.from_ranks([1, 2, 2, 7, 30, 49], n_items=50)
SAMPLES["anchored"] = SAMPLES["excluded"].anchored(ANCHOR)
SAMPLES |= {f"{name}, counts": one.without_rows() for name, one in SAMPLES.items()}


def same(first: RankSample, second: RankSample) -> bool:
    return json.loads(sample_files.to_json(first)) == json.loads(sample_files.to_json(second))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("suffix", [".parquet", ".json"])
def test_round_trip(name: str, suffix: str, tmp_path: Path) -> None:
    one = SAMPLES[name]
    path = tmp_path / f"sample{suffix}"
    one.write(path)
    back = RankSample.read(path)
    assert same(back, one)
    assert back.design == one.design
    assert np.array_equal(back.pool, one.pool)
    assert list(tmp_path.iterdir()) == [path]  # nothing half-written is left
    assert same(sample_files.from_arrow(one.to_arrow()), one)


def test_format_version_is_in_every_file(tmp_path: Path) -> None:
    SAMPLES["rows"].write(tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text())["format"] == 3
    metadata = SAMPLES["rows"].to_arrow().schema.metadata
    assert json.loads(metadata[b"fullrank"])["format"] == 3


def write_csv(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_ranks_from_another_pipeline(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "r.csv", "user,rank,extra\nu1,1,x\nu2,4,y\nu3,1,z\n")
    one = RankSample.read(path, sample_size=10, n_items=50, design="sampled:replacement=true")
    assert one.rank.tolist() == [1, 4]
    assert one.count.tolist() == [2, 1]
    assert one.rows is not None
    assert one.rows.user.tolist() == ["u1", "u2", "u3"]  # type: ignore[union-attr]
    again = RankSample.read(
        path, sample_size=10, n_items=50, design="sampled:replacement=true", rows=False
    )
    assert again.rows is None
    assert again.count.tolist() == [2, 1]


def test_sizes_from_columns_and_several_models(tmp_path: Path) -> None:
    table = pa.table(
        {
            "rank": [1, 2, 3, 4],
            "sample_size": [10, 10, 20, 20],
            "n_items": [50, 50, 50, 50],
            "weight": [1.0, 2.0, 1.0, 1.0],
            "model": ["a", "a", "b", "b"],
        }
    )
    path = tmp_path / "r.parquet"
    import pyarrow.parquet as pq

    pq.write_table(table, path)
    both = read_ranks(path, design="sampled")
    assert list(both) == ["a", "b"]
    assert both["a"].weight.tolist() == [1.0, 2.0]
    assert same(RankSample.read(path, model="b", design="sampled"), both["b"])
    counts = read_ranks(path, design="sampled", rows=False)
    assert counts["b"].sample_size.tolist() == [20, 20]
    with pytest.raises(InputError, match=r"`model`.*\b2\b.*'a', 'b'"):
        RankSample.read(path, design="sampled")
    with pytest.raises(InputError, match=r"`model`.*'a', 'b'.*'c'"):
        RankSample.read(path, model="c", design="sampled")


def test_long_files_are_read_piece_by_piece(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rank = rng.integers(1, 101, 2_500_000)
    import pyarrow.parquet as pq

    path = tmp_path / "long.parquet"
    pq.write_table(pa.table({"rank": rank, "user": np.arange(rank.size)}), path)
    one = RankSample.read(
        path, sample_size=100, n_items=10**6, design="sampled:replacement=true", rows=False
    )
    assert one.count.tolist() == np.bincount(rank)[1:].tolist()


SIZES = {"sample_size": 10, "n_items": 50, "design": "sampled:replacement=true"}


@pytest.mark.parametrize(
    ("text", "settings", "says"),
    [
        ("place\n1\n", SIZES, r"`rank`.*'rank'.*'place'"),
        ("rank\n", SIZES, r"`path`.*one rank"),
        ("", SIZES, r"`path`.*bad\.csv.*empty"),
        (
            "rank\n1\n",
            {"n_items": 50, "design": "sampled:replacement=true"},
            r"`sample_size`.*given",
        ),
        ("rank,n_items\n1,50\n", SIZES, r"`n_items`.*omitted.*has a column for it"),
        ("rank\nfirst\n", SIZES, r"`rank`.*line 2 of .*'first'"),
        (
            "rank,x\n1,2\n,3\n",
            SIZES,
            r"`rank`.*1 of 2.*line 3",
        ),
        (
            "rank\n0\n",
            SIZES,
            r"`rank`.*1 of 1.*line 2 of .* has 0\b",
        ),
    ],
)
def test_bad_csv(tmp_path: Path, text: str, settings: dict[str, object], says: str) -> None:
    path = write_csv(tmp_path / "bad.csv", text)
    with pytest.raises(InputError, match=says):
        RankSample.read(path, **settings)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", r"`path`.*JSON.*bad\.json.*\.jsonl"),
        ("[]", r"`path`.*RankSample.*else"),
        ('{"kind": "RankSample", "format": 99}', r"`path`.*\b3\b.*\b99\b"),
        ('{"kind": "RankSample", "format": 3}', r"`path`.*RankSample.*head"),
        (
            '{"kind": "RankSample", "format": 3, "content": "rows", "columns": {}, '
            '"design": {"name": "sampled"}}',
            r"`path`.*complete RankSample.*'rank'",
        ),
    ],
)
def test_bad_json(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        RankSample.read(path)


def test_bad_paths(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"`path`.*none\.csv.*exist"):
        RankSample.read(tmp_path / "none.csv", **SIZES)
    with pytest.raises(InputError, match=r"`path`.*\.parquet.*'\.xls'"):
        RankSample.read(write_csv(tmp_path / "ranks.xls", "no"))
    (tmp_path / "not.parquet").write_text("no")
    with pytest.raises(InputError, match=r"`path`.*Parquet file;.*not\.parquet"):
        RankSample.read(tmp_path / "not.parquet")
    with pytest.raises(InputError, match=r"`path`.*writable"):
        SAMPLES["rows"].write(tmp_path / "no folder" / "a.json")
    SAMPLES["rows"].write(tmp_path / "a.json")
    with pytest.raises(InputError, match=r"`n_items`.*agree with the file"):
        RankSample.read(tmp_path / "a.json", n_items=3)


def test_json_that_is_no_text_or_was_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(InputError, match=r"`path`.*JSON.*a\.json"):
        RankSample.read(path)
    content = json.loads(sample_files.to_json(SAMPLES["rows, counts"]))
    path.write_text(json.dumps({**content, "n_items": 3}), encoding="utf-8")
    with pytest.raises(InputError, match=r"`n_items`.*\b3\b"):
        RankSample.read(path)


@pytest.mark.parametrize("rows", [True, False, None])
@pytest.mark.parametrize("suffix", [".parquet", ".json"])
@pytest.mark.parametrize("name", ["excluded", "kept", "anchored", "anchored, counts"])
def test_the_protocol_and_the_anchor_are_read_as_they_were_written(
    name: str, suffix: str, rows: bool | None, tmp_path: Path
) -> None:
    one = SAMPLES[name]
    one.write(tmp_path / f"one{suffix}")
    again = RankSample.read(tmp_path / f"one{suffix}", rows=rows)
    assert again.design == one.design
    assert (again.anchor is None) == (one.anchor is None)
    if again.anchor is not None:
        assert np.array_equal(again.anchor.mass, ANCHOR.mass)
        assert np.array_equal(again.anchor.grid.edges, ANCHOR.grid.edges)


@pytest.mark.parametrize("excluded", [True, False, None])
@pytest.mark.parametrize("rows", [True, False])
def test_a_file_from_elsewhere_is_told_whether_training_items_were_excluded(
    excluded: bool | None, rows: bool, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "r.csv", "rank\n1\n4\n1\n")
    one = RankSample.read(path, **SIZES, excluded=excluded, rows=rows)
    assert one.design.excluded is excluded
    found = read_ranks(path, **SIZES, excluded=excluded, rows=rows)
    assert next(iter(found.values())).design.excluded is excluded


def test_catalogues_of_the_users_own_exclude(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "r.csv", "rank,n_items\n1,50\n4,60\n")
    found = read_ranks(path, sample_size=10, design="sampled:replacement=true")
    assert found["r"].design.excluded is True


def test_a_file_of_ours_is_told_only_what_it_does_not_say(tmp_path: Path) -> None:
    for name in ("rows", "excluded", "kept"):
        SAMPLES[name].write(tmp_path / f"{name}.parquet")
    one = RankSample.read(tmp_path / "rows.parquet", excluded=False)
    assert one.design.excluded is False
    assert one.rows is not None
    for name, excluded in (("excluded", True), ("kept", False)):
        path = tmp_path / f"{name}.parquet"
        assert RankSample.read(path, excluded=excluded).design.excluded is excluded
        with pytest.raises(
            InputError, match=r"`excluded` must agree with the file or be omitted: .* ranked among"
        ):
            RankSample.read(path, excluded=not excluded)
    with pytest.raises(InputError, match="`excluded` must be True or False"):
        RankSample.read(tmp_path / "rows.parquet", excluded="yes")
