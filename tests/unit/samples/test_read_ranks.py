"""Tables of ranks: what is counted, what needs the rows, and what is inferred."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.designs import Adaptive, Uniform, infer_design
from fullrank.errors import InputError
from fullrank.samples import Ranks, RankSample, read_ranks, tally
from fullrank.samples.read_ranks import read_own
from fullrank.tables import columnar

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

SIZES: dict[str, Any] = {"sample_size": 10, "n_items": 50}
COUNTS: dict[str, Any] = {**SIZES, "rows": None}


def only(found: Ranks) -> Any:
    (sample,) = found.values()
    return sample


def write(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def csv(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columnar, "_ROWS", 7)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_those_of_the_rows(tmp_path: Path, wide: bool, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    n = 300
    size = rng.choice([20, 40_000] if wide else [20, 40], n)
    columns = {
        "rank": rng.integers(1, size + 1),
        "sample_size": size,
        "n_items": np.full(n, 50_000),
        "model": rng.choice(["b", "a", "ä"], n),
        "user": np.arange(n),
    }
    columns |= {"weight": np.full(n, 2.5)} if weighted else {}
    path = write(tmp_path / "r.parquet", **columns)
    counted = read_ranks(path, design="sampled", rows=None)
    kept = read_ranks(path, design="sampled", rows=True)
    assert list(counted) == list(kept) == ["a", "b", "ä"]
    for model, sample in counted.items():
        assert sample.rows is None
        assert kept[model].rows is not None
        for name in ("rank", "sample_size", "pool", "count", "weight"):
            assert np.array_equal(getattr(sample, name), getattr(kept[model], name))


def test_a_user_may_occur_in_every_model(tmp_path: Path) -> None:
    path = write(tmp_path / "r.parquet", rank=[1, 2], user=["u", "u"], model=["a", "b"])
    assert all(one.rows is None for one in read_ranks(path, **COUNTS).values())


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("users", [[*range(9), 3], [*map(str, range(9)), "3"]])
@pytest.mark.parametrize("rows", [True, None])
def test_a_user_that_occurs_again_is_told(tmp_path: Path, users: list[Any], rows: Any) -> None:
    path = write(tmp_path / "r.parquet", rank=[1] * 10, user=users)
    says = r"`user`.*n_targets.*user 3 has 2 rows.*row 4 of.*'seed'.*`leave_out='user'`"
    with pytest.raises(InputError, match=says):
        read_ranks(path, rows=rows, **SIZES)
    for left_out in ("user", ["user"]):
        assert only(read_ranks(path, leave_out=left_out, **SIZES)).n_targets == 10


def test_the_column_to_leave_out_is_named_as_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "r.parquet", rank=[1, 2, 3], uid=[7, 7, 8])
    with pytest.raises(InputError, match=r"user, add `leave_out='uid'`\.$"):
        read_ranks(path, **SIZES)
    says = r"user, give `leave_out='uid'` and do not name it in `columns`\.$"
    with pytest.raises(InputError, match=says):
        read_ranks(path, columns={"user": "uid"}, **SIZES)


def test_all_columns_to_leave_out_are_named(tmp_path: Path) -> None:
    several = {"uid": [7, 7, 8], "n_targets": [3, 3, 1], "offset": [0, 0, 0]}
    path = write(tmp_path / "r.parquet", rank=[1, 2, 3], **several)
    says = r"user 7.*has 2 rows.*is 3\. .*name 'uid', 'n_targets' and 'offset' in `leave_out`"
    with pytest.raises(InputError, match=rf"{says}\.$"):
        read_ranks(path, **SIZES)
    with pytest.raises(InputError, match=rf"{says} and not in `columns`\.$"):
        read_ranks(path, columns={"user": "uid"}, **SIZES)
    assert only(read_ranks(path, leave_out=several, **SIZES)).n_targets == 3


def test_columns_of_ranks_are_named_as_a_list(tmp_path: Path) -> None:
    path = csv(tmp_path / "wide.csv", "user,pop,svd,age\na,1,2,70\nb,3,4,80\n")
    says = r"one column per model, give `columns=\{'rank': \['pop', 'svd'\]\}`"
    with pytest.raises(InputError, match=says):
        read_ranks(path, **SIZES)
    assert list(read_ranks(path, columns={"rank": ["pop", "svd"]}, **SIZES)) == ["pop", "svd"]


def test_equal_keys_of_different_users_cost_time_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tally, "user_keys", lambda column: np.zeros(len(column), np.uint64))
    path = write(tmp_path / "r.parquet", rank=[1, 2], user=["a", "b"])
    sample = only(read_ranks(path, **COUNTS))
    assert sample.rows is not None
    assert sample.count.tolist() == [1, 1]


def test_keys_tell_texts_apart() -> None:
    texts = ["", "a", "b", "ab", "ba", "aa", "a" * 300, "a" * 299 + "b", "ä", "u1", "u10"]
    texts += [f"user{i}" for i in range(50_000)]
    keys = tally.user_keys(pa.chunked_array([texts[:20_000], texts[20_000:]]))
    assert np.unique(keys).size == len(texts)
    assert np.array_equal(keys[5:], tally.user_keys(pa.chunked_array([pa.array(texts)[5:]])))


def test_where_counts_would_not_do_the_rows_are_kept(tmp_path: Path) -> None:
    several = write(
        tmp_path / "s.parquet",
        weight=[1.0, 1.0, 2.0],
        rank=[1, 2, 3],
        user=[1, 1, 2],
        n_targets=[2, 2, 1],
        offset=[0, 1, 0],
    )
    assert only(read_ranks(several, **COUNTS)).several
    with pytest.raises(InputError, match=r"`rows`.*multi-target"):
        read_ranks(several, rows=False, **SIZES)
    weights = write(tmp_path / "w.parquet", rank=[1, 1], weight=[1.0, 2.0])
    assert only(read_ranks(weights, **COUNTS)).rows is not None
    own = write(tmp_path / "o.parquet", rank=[1, 2], n_items=[50, 60])
    assert only(read_ranks(own, sample_size=10, rows=None)).rows is not None


def test_a_file_of_ours_is_counted_too(tmp_path: Path) -> None:
    ours = RankSample.from_ranks(
        [2, 1, 2], sample_size=[10, 20, 20], n_items=50, design="adaptive:levels=10/20,ties=best"
    )
    ours.write(tmp_path / "a.parquet")
    back = read_own(tmp_path / "a.parquet", rows=None)
    assert back is not None
    assert back.rows is None
    assert back.design == ours.design
    assert np.array_equal(back.rank, ours.rank)
    assert np.array_equal(back.count, ours.count)
    weighed = RankSample.from_ranks(
        [2, 1], **SIZES, design="sampled:replacement=true", weight=[1.0, 3.0]
    )
    weighed.write(tmp_path / "b.parquet")
    again = read_own(tmp_path / "b.parquet", rows=None)
    assert again is not None
    assert again.rows is not None


@pytest.mark.parametrize(
    ("rank", "size", "pool", "levels"),
    [
        ([2, 9, 1, 3], [10, 10, 20, 20], 90, (10, 20)),
        ([2, 1, 1, 3], [10, 10, 20, 20], 90, None),  # rank 1 below the largest
        ([2, 9, 3, 3], [10, 10, 20, 20], 90, (10, 20)),  # no rank 1 at all
        ([2, 1, 1, 3], [10, 10, 10, 10], 90, None),  # one size
        ([2, 1, 1], [10, 15, 20], [90, 15, 90], (10, 20)),  # all items of a user were drawn
    ],
)
def test_levels_are_inferred(rank: Any, size: Any, pool: Any, levels: Any) -> None:
    pools = np.broadcast_to(np.asarray(pool), len(rank))
    found, notes = infer_design(np.array(rank), np.array(size), pools)
    assert found == (Uniform() if levels is None else Adaptive(levels=levels))
    says = "An adaptive design with levels 10, 20"
    assert any(says in note for note in notes) == (levels is not None)


def test_what_is_said_of_the_design_counts(tmp_path: Path) -> None:
    path = write(tmp_path / "r.parquet", rank=[2, 1], sample_size=[10, 20])
    adaptive = read_ranks(path, n_items=50)
    assert only(adaptive).design == Adaptive(levels=(10, 20))
    assert not only(read_ranks(path, n_items=50, design="sampled")).design.adaptive
    finer = only(read_ranks(path, n_items=50, design="adaptive:levels=10/15/20"))
    assert finer.design == Adaptive(levels=(10, 15, 20))
    with pytest.raises(InputError, match=r"`design`.*'adaptive', 'exact', 'sampled'.*'other'"):
        read_ranks(path, n_items=50, design="other")
    with pytest.raises(InputError, match=r"`design`.*levels.*\b10\b"):
        read_ranks(csv(tmp_path / "r.csv", "rank\n2\n"), design="adaptive", **SIZES)


def test_replacement_is_assumed_and_told(tmp_path: Path) -> None:
    path = csv(tmp_path / "r.csv", "rank\n2\n")
    found = read_ranks(path, **SIZES)
    assert not only(found).design.replacement
    assert found.notes == (
        "Sampling without replacement is assumed. If an item could be drawn twice, give "
        '`design="sampled:replacement=true"`.',
    )
    said = read_ranks(path, design="sampled", **SIZES)
    assert (only(said).design.replacement, said.notes) == (False, ())
    exact = read_ranks(path, sample_size=50, n_items=50)
    assert only(exact).exhausted
    assert "without replacement" in exact.notes[0]
    says = r"`n_items`.*\b10\b.*\b50\b"
    with pytest.raises(InputError, match=says):
        read_ranks(path, sample_size=50, n_items=10)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv", "rank,user\n1,a\n3,b\n"),
        ("r.csv", "rank;user\n1;a\n3;b\n"),
        ("r.tsv", "rank\tuser\n1\ta\n3\tb\n"),
        ("r.inter", "rank:float\tuser:token\n1\ta\n3\tb\n"),
    ],
)
def test_kinds_of_text(tmp_path: Path, name: str, text: str) -> None:
    sample = only(read_ranks(csv(tmp_path / name, text), rows=True, **SIZES))
    assert sample.rank.tolist() == [1, 3]
    assert sample.rows is not None
    assert sample.rows.user is not None
    assert sample.rows.user.tolist() == ["a", "b"]


def test_packed_text(tmp_path: Path) -> None:
    path = tmp_path / "r.csv.gz"
    path.write_bytes(gzip.compress(b"rank\n1\n3\n"))
    assert only(read_ranks(path, **SIZES)).rank.tolist() == [1, 3]


def test_columns_by_other_names(tmp_path: Path) -> None:
    path = csv(tmp_path / "r.csv", "place,n,who\n1,10,a\n3,10,b\n")
    found = read_ranks(path, columns={"rank": "place", "sample_size": "n"}, n_items=50)
    assert only(found).sample_size.tolist() == [10, 10]
    alike = csv(tmp_path / "alike.csv", "Rank,Sample Size,User-ID\n1,10,a\n3,10,b\n")
    assert only(read_ranks(alike, n_items=50)).rows.user.tolist() == ["a", "b"]
    says = r"`rank`.*'place', 'n', 'who'.*`columns=\{'rank': 'place'\}`"
    with pytest.raises(InputError, match=says):
        read_ranks(path, **SIZES)
    with pytest.raises(InputError, match=r"`rank`.*'place', 'n', 'who'\), not 'Place'.*'place'\?"):
        read_ranks(path, columns={"rank": "Place"}, **SIZES)
    with pytest.raises(InputError, match=r"`leave_out`.*'x'"):
        read_ranks(path, leave_out=["x"], **SIZES)
    with pytest.raises(InputError, match=r"`columns`.*'user'.*'colour'"):
        read_ranks(path, columns={"colour": "n"}, **SIZES)
    with pytest.raises(InputError, match=r"'3'.*first line"):
        read_ranks(csv(tmp_path / "bare.csv", "3\n1\n"), **SIZES)
    with pytest.raises(InputError, match=r"`leave_out`.*ranks"):
        read_ranks(csv(path, "rank\n1\n"), leave_out=["rank"], **SIZES)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (
            {"rank": [1] * 9 + [0, 5, 0]},
            r"`rank`.*2 of 12.*row 10 of .* has 0\b",
        ),
        (
            {"rank": [1] * 9 + [11]},
            r"`rank`.*1 of 10.*row 10 of .* has 11\b",
        ),
        ({"rank": [1.0] * 9 + [1.5]}, r"`rank`.*row 10 of .* has 1\.5\b"),
        (
            {"rank": [1] * 9 + [None]},
            r"`rank`.*1 of \d+.*row 10",
        ),
        ({"rank": [1, 2], "user": ["a", None]}, r"`user`.*missing.*\b1\b"),
        ({"rank": [1, 2], "model": ["a", None]}, r"`model`.*missing.*\b1\b"),
        ({"rank": [1, 2], "weight": ["a", "b"]}, r"`weight`.*\btext\b"),
        ({"rank": [1, 2], "weight": [-1.0, -1.0]}, r"`weight`.*2 of 2.*row 1 of .*-1\.0"),
    ],
)
@pytest.mark.parametrize("rows", [True, None])
def test_bad_columns(tmp_path: Path, columns: dict[str, Any], says: str, rows: Any) -> None:
    with pytest.raises(InputError, match=says):
        read_ranks(write(tmp_path / "r.parquet", **columns), rows=rows, **SIZES)


def test_a_column_of_users_is_no_column_of_models(tmp_path: Path) -> None:
    path = write(tmp_path / "r.parquet", rank=[1] * 10_001, user=list(range(10_001)))
    for rows in (True, None):
        with pytest.raises(InputError, match=r"`model`.*10,000"):
            read_ranks(path, columns={"model": "user"}, rows=rows, **SIZES)


def test_files_that_are_not_what_they_seem(tmp_path: Path) -> None:
    late = csv(tmp_path / "late.csv", "rank\n" + "1\n" * 9_000_000 + "first\n")
    with pytest.raises(InputError, match=r"`path`.*CSV.*late\.csv"):
        read_ranks(late, **COUNTS)
    twice = csv(tmp_path / "twice.csv", "rank,rank\n1,2\n")
    with pytest.raises(InputError, match=r"`path`.*'rank'"):
        read_ranks(twice, **SIZES)
    cut = write(tmp_path / "cut.parquet", rank=np.arange(10_000))
    cut.write_bytes(cut.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"`path`.*Parquet file;.*cut\.parquet"):
        read_ranks(cut, **SIZES)


def test_a_design_without_rank_1_is_told_as_it_is() -> None:
    rank, size = np.array([2, 3]), np.array([25, 50])
    design, told = infer_design(rank, size, np.full(2, 900))
    assert str(design) == "adaptive:25,limit=50"
    assert told[1:] == (
        "An adaptive design with levels 25, 50 is assumed, because rank 1 occurs at none of the "
        "sample sizes.",
    )


def test_offsets_of_users_with_one_target_are_looked_at(tmp_path: Path) -> None:
    path = write(tmp_path / "r.parquet", rank=[1, 2], user=[0, 1], offset=[0, 3])
    with pytest.raises(InputError, match=r"`offset`.*`n_targets`.*1 of 2.*offset\[1\] = 3"):
        read_ranks(path, **SIZES)


def test_reading_a_file_crosses_six_files_of_the_package(tmp_path: Path) -> None:
    import fullrank
    from tools.crossed import crossed

    path = csv(tmp_path / "r.csv", "user,rank,sample_size\na,1,10\nb,3,10\n")
    RankSample.read(path, n_items=50)
    found = crossed(
        lambda: RankSample.read(path, n_items=50), Path(fullrank.__file__).resolve().parent
    )
    assert len(found.files) <= 6, sorted(found.files)


def test_ranks_without_a_sample_size_may_be_exact(tmp_path: Path) -> None:
    path = csv(tmp_path / "r.csv", "user,rank\na,1\nb,30\n")
    with pytest.raises(InputError, match=r"`sample_size`.*all items, give `design=\"exact\"`\.$"):
        read_ranks(path, n_items=50)
    (found,) = read_ranks(path, n_items=50, design="exact").values()
    assert found.ranks.tolist() == [1, 30]
    with pytest.raises(InputError, match=r"`n_items`.*'rank'\.$"):
        read_ranks(path, sample_size=50)
