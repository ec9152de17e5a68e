import re
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array

from fullrank.data import read_split
from fullrank.designs import Uniform
from fullrank.designs.given import Negatives, draw_negatives
from fullrank.errors import DataWarning, InputError
from fullrank.ranking import sample_ranks
from fullrank.scorers import CallableScorer, FactorScorer

SCORES = np.array([[5.0, 4, 3, 2, 1, 0], [0, 1, 2, 3, 4, 5], [3, 3, 1, 2, 0, 4]])
TARGETS = ([0, 1, 2], [2, 2, 2])
GIVEN = np.array([[0, 4, 5], [1, 3, 5], [0, 1, 4]])
SAID = {"replacement": False, "pool": "all"}  # what is known of them


def ranks(negatives, **settings):
    settings = {"design": "sampled", "ties": "best", "rng": 0, **settings}
    return sample_ranks(SCORES, TARGETS, negatives=negatives, **settings)


def test_array_follows_the_targets():
    sample = ranks(GIVEN)
    assert sample.rows.rank.tolist() == [2, 3, 3]
    assert sample.rows.sample_size.tolist() == [4, 4, 4]
    assert sample.n_items == 6
    assert (sample.design.replacement, sample.design.pool) == (False, "all")


def test_training_items_of_given_candidates_are_not_known_unless_excluded():
    seen = csr_array(np.array([[0, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]]))
    assert ranks(GIVEN).design.excluded is None
    assert ranks(GIVEN, exclude=seen).design.excluded is True
    drawn = sample_ranks(SCORES, TARGETS, design="sampled:3", rng=0)
    assert drawn.design.excluded is False


def test_short_rows_are_padded_anywhere():
    sample = ranks([[0, -1, 5], [-1, -1, 5], [0, 1, 4]])
    assert sample.rows.rank.tolist() == [2, 2, 3]
    assert sample.rows.sample_size.tolist() == [3, 2, 4]


def test_excluded_negatives_stand_below():
    exclude = csr_array(np.array([[1, 0, 0, 0, 0, 0], [0] * 6, [0] * 6]))
    assert ranks(GIVEN, exclude=exclude).rows.rank.tolist() == [1, 3, 3]


def test_several_targets_have_rows_of_their_own():
    sample = sample_ranks(
        SCORES, ([0, 0], [2, 4]), negatives=[[0, 1], [3, 5]], ties="best", rng=0, design="sampled"
    )
    assert sample.rows.rank.tolist() == [3, 2]
    assert sample.rows.offset.tolist() == [0, 1]
    shared = Negatives(user_rows=[0], items=[[0, 5]], **SAID)
    sample = sample_ranks(SCORES, ([0, 0], [2, 4]), negatives=shared, ties="best", rng=0)
    assert sample.rows.rank.tolist() == [2, 2]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\t\n"])
def test_ncf_file(tmp_path, end):
    path = tmp_path / "ml.test.negative"
    lines = [f"({u},{i})\t" + "\t".join(map(str, row))
             for u, i, row in zip(*TARGETS, GIVEN, strict=True)]  # fmt: skip
    path.write_text(end.join(lines) + end, encoding="utf-8", newline="")
    read = Negatives.read_ncf(path)
    assert read.user_rows.tolist() == [0, 1, 2]
    assert read.target_rows.tolist() == [2, 2, 2]
    np.testing.assert_array_equal(read.items, GIVEN)
    for negatives in (path, str(path), read):
        assert ranks(negatives).rows.rank.tolist() == [2, 3, 3]


def test_ncf_file_with_ids(tmp_path):
    path = tmp_path / "x.test.negative"
    path.write_text("(70,12)\t10\t14\t15\n", encoding="utf-8")
    read = Negatives.read_ncf(path, user_ids=[90, 70], item_ids=np.arange(15, 9, -1))
    assert read.user_rows.tolist() == [1]
    assert read.target_rows.tolist() == [3]
    assert read.items.tolist() == [[5, 1, 0]]
    with pytest.raises(InputError, match=r"`path`.*`item_ids`.*1 of 3 is not.*first: 10\b"):
        Negatives.read_ncf(path, user_ids=[90, 70], item_ids=np.arange(15, 10, -1))
    with pytest.raises(InputError, match=r"`path`.*`user_ids`.*1 of 1 is not.*first: 70\b"):
        Negatives.read_ncf(path, user_ids=[90, 71])


@pytest.mark.parametrize("line", ["0,2\tx\t3", "(0;2)\t1", "(0,2,3)\t1", "hello"])
def test_bad_ncf_line(tmp_path, line):
    path = tmp_path / "bad.test.negative"
    path.write_text(f"(0,2)\t1\n{line}\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=rf"line 2\b.*bad\.test\.negative.*{re.escape(repr(line))}"
    ):
        Negatives.read_ncf(path)


def test_empty_ncf_file(tmp_path):
    path = tmp_path / "empty.test.negative"
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"`path`.*one line.*is empty"):
        Negatives.read_ncf(path)


@pytest.mark.parametrize("pool", ["all", "unseen"])
@pytest.mark.parametrize("replacement", [True, False])
def test_a_saved_draw_gives_the_same_ranks(tmp_path, replacement, pool):
    random = np.random.default_rng(0)
    scorer = FactorScorer(random.integers(-1, 2, (30, 3)), random.integers(-1, 2, (50, 3)))
    targets = (
        np.repeat(np.arange(30), 2),
        random.permuted(np.tile(np.arange(50), (30, 1)), axis=1)[:, :2].ravel(),
    )
    exclude = csr_array(random.random((30, 50)) < 0.3)
    design = Uniform(40, replacement=replacement, pool=pool)
    settings = {"exclude": exclude, "design": design}
    drawn = draw_negatives(targets, 50, rng=6, **settings)
    path = tmp_path / "draw.parquet"
    drawn.write(path)
    read = Negatives.read(path)
    np.testing.assert_array_equal(read.items, drawn.items)
    np.testing.assert_array_equal(read.user_rows, drawn.user_rows)
    assert (read.replacement, read.pool, read.seed, read.target_rows) == (
        replacement,
        pool,
        6,
        None,
    )
    expected = sample_ranks(scorer, targets, rng=6, **settings)
    for negatives in (drawn, read, path):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sample = sample_ranks(scorer, targets, negatives=negatives, exclude=exclude)
            told = sample_ranks(scorer, targets, negatives=negatives, **settings)
        np.testing.assert_array_equal(sample.rows.rank, expected.rows.rank)
        np.testing.assert_array_equal(sample.rows.sample_size, expected.rows.sample_size)
        np.testing.assert_array_equal(sample.rows.offset, expected.rows.offset)
        assert sample.design.with_(sample_size=40) == expected.design
        assert told.design == expected.design
    assert (expected.rows.sample_size < 40).any() == (pool == "unseen" and not replacement)


def test_saved_targets_come_back(tmp_path):
    Negatives(user_rows=[4], target_rows=[2], items=[[1, 0]]).write(tmp_path / "x.parquet")
    read = Negatives.read(tmp_path / "x.parquet")
    assert read.target_rows.tolist() == [2]
    assert (read.replacement, read.pool, read.seed) == (None, None, None)


def test_foreign_parquet_with_lists_and_with_rows(tmp_path):
    lists = pa.table({"user": [0, 1, 2], "target": [2, 2, 2], "negative": GIVEN.tolist()})
    pq.write_table(lists, tmp_path / "lists.parquet")
    long = pa.table({"user": np.repeat([2, 0, 1], 3), "negative": GIVEN[[2, 0, 1]].ravel()})
    pq.write_table(long, tmp_path / "long.parquet")
    for name in ("lists", "long"):
        assert ranks(tmp_path / f"{name}.parquet").rows.rank.tolist() == [2, 3, 3]


def test_parquet_errors(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"user": [1], "item": [2]}), path)
    with pytest.raises(InputError, match=r"'user' and 'negative'.*user, item"):
        Negatives.read(path)
    Negatives(user_rows=[0], items=[[1]], replacement=True, pool="all").write(path)
    with pytest.raises(InputError, match=r"`replacement`.*True.*\bFalse\b"):
        Negatives.read(path, replacement=False)
    table = pq.read_table(path)
    newer = table.replace_schema_metadata({b"fullrank.negatives": b'{"format": 2}'})
    pq.write_table(newer, path)
    with pytest.raises(InputError, match=r"format 1\b.*format 2\b"):
        Negatives.read(path)
    with pytest.raises(InputError, match=r"`path`.*none\.parquet.*exist"):
        Negatives.read(tmp_path / "none.parquet")


def known(items, **how):
    """Negatives of which only one thing is known."""
    return Negatives(user_rows=TARGETS[0], target_rows=TARGETS[1], items=items, **how)


def test_repeats_are_inferred_as_replacement():
    with pytest.warns(DataWarning, match="repeated in 1 of 3 rows"):
        sample = ranks(known([[0, 0, 5], [1, 3, 5], [0, 1, 4]], pool="all"), design=None)
    assert sample.design.replacement
    assert sample.rows.rank.tolist() == [3, 3, 3]


def test_no_repeats_are_inferred_as_without():
    # 3 rows of 3 items: 3·3 pairs, each equal with probability 1/6
    with pytest.warns(DataWarning, match=r"1\.5 repeats") as caught:
        sample = ranks(known(GIVEN, pool="all"), design=None)
    assert not sample.design.replacement
    assert "pool" not in str(caught[0].message).split(". State this")[0]


def test_pool_is_inferred_from_what_is_excluded():
    given = known(GIVEN, replacement=False)
    clear = csr_array(np.array([[0, 1, 0, 0, 0, 0], [1] + [0] * 5, [0] * 6]))
    with pytest.warns(DataWarning, match=r"'unseen'.*about 1\b"):
        sample = ranks(given, design=None, exclude=clear)
    assert sample.design.pool == "unseen"
    assert sample.rows.n_items.tolist() == [5, 5, 6]
    hit = csr_array(np.array([[1, 1, 0, 0, 0, 0], [0] * 6, [0] * 6]))
    with pytest.warns(DataWarning, match=r"excluded items \(1\).*'all'"):
        assert ranks(given, design=None, exclude=hit).design.pool == "all"
    with pytest.warns(DataWarning, match="no items are excluded.*'all'"):
        assert ranks(given, design=None).design.pool == "all"


def test_contradictions():
    with pytest.raises(InputError, match=r"repeat.*1 of 3.*user row 1\b"):
        ranks([[0, 4, 5], [1, 1, 5], [0, 1, 4]])
    hit = csr_array(np.array([[0] * 6, [0, 1, 0, 0, 0, 0], [0] * 6]))
    with pytest.raises(InputError, match=r"excluded.*'unseen'.*1 of 9"):
        ranks(GIVEN, design="sampled:pool=unseen", exclude=hit)
    with pytest.raises(InputError, match=r'`exclude`.*pool="unseen"'):
        ranks(GIVEN, design="sampled:pool=unseen")
    with pytest.raises(InputError, match=r"`design`.*pool='all'.*'unseen'"):
        ranks(known(GIVEN, pool="all"), design="sampled:pool=unseen")
    for design in ("adaptive:2,limit=4", "exact"):
        with pytest.raises(InputError, match=rf"`design`.*fixed size.*{design}"):
            ranks(GIVEN, design=design)


@pytest.mark.parametrize(("items", "message"), [
    ([[0, 4, 6], [1, 3, 5], [0, 1, 4]], (r"`negatives`.*0\.\.5.*1 of 9.*\b6\b.*row 0")),
    ([[0, 4, 5]], (r"`negatives`.*\b3\b.*\(1, 3\)")),
    ([[0, 4, -2], [1, 3, 5], [0, 1, 4]], r"`items`.*got -2\b"),
    (np.zeros((3, 2)), (r"`items`.*\bfloat64 of shape \(3, 2\)")),
])  # fmt: skip
def test_bad_items(items, message):
    with pytest.raises(InputError, match=message):
        ranks(items)


def test_targets_among_the_negatives_are_left_out():
    message = (
        r"must not contain targets of the same user; these were left out: 1 of 9 \(first: item "
        r"row 2 of user row 1\)."
    )
    with pytest.warns(DataWarning, match=message):
        sample = ranks([[0, 4, 5], [2, 1, 5], [0, 1, 4]])
    assert sample.rows.rank.tolist() == [2, 2, 3]
    assert sample.rows.sample_size.tolist() == [4, 3, 4]


def test_rows_must_fit_the_targets():
    with pytest.raises(InputError, match=r"1 of 3.*item row 2.*user row 1"):  # fmt: skip
        ranks(Negatives(user_rows=[0, 2], items=GIVEN[:2]))
    with pytest.raises(InputError, match=r"`negatives`.*one row.*negatives\[2\], of user row 1\b"):
        ranks(Negatives(user_rows=[0, 1, 1, 2], items=GIVEN[[0, 1, 1, 2]]))


def test_sample_size_must_agree():
    assert ranks(GIVEN, design="sampled:4").rows.rank.tolist() == [2, 3, 3]
    with pytest.raises(InputError, match=r"`negatives`.*\b9\b.*3 of 3.*negatives\[0\] holds 3\b"):
        ranks(GIVEN, design="sampled:10,replacement=true")
    with pytest.raises(InputError, match=r"`negatives`.*\b2\b.*3 of 3.*negatives\[0\] holds 3\b"):
        ranks(GIVEN, design="sampled:3")


def test_items_outside_the_catalogue():
    with pytest.raises(InputError, match=r"`negatives`.*`items`.*1 of 9.*\b3\b.*user row 1\b"):
        ranks(GIVEN, items=[0, 1, 2, 4, 5])


def test_negatives_are_read_only():
    items = GIVEN.copy()
    negatives = Negatives(user_rows=[0, 1, 2], items=items)
    items[:] = 0
    np.testing.assert_array_equal(negatives.items, GIVEN)
    with pytest.raises(ValueError, match="read-only"):
        negatives.items[0, 0] = 1


def test_the_negatives_of_ncf(data_file):
    """99 different items that are not in the user's training part; 156 of them are the target."""
    split = read_split(data_file("ml-1m.parquet"))
    popularity = split.train.item_counts().astype(np.float64)
    with (
        pytest.warns(DataWarning, match="156 of 597960"),
        pytest.warns(DataWarning, match="no row repeats.*'unseen'"),
    ):
        sample = sample_ranks(
            CallableScorer(lambda users: np.tile(popularity, (users.size, 1)), n_items=3_706),
            split.test, exclude=split.train, negatives=data_file("ml-1m.test.negative"), rng=0,
        )  # fmt: skip
    assert sample.n_targets == 6_040
    assert (100 - sample.rows.sample_size).sum() == 156
    assert sample.naive("recall@10") == pytest.approx(0.45, abs=0.02)


@pytest.mark.parametrize(("columns", "message"), [
    ({"user": [0, 1], "negative": [[1, None], [2]]}, r"`negative`.*missing"),
    ({"user": [0, None], "negative": [[1], [2]]}, r"`user`.*missing"),
    ({"user": [0, 1], "negative": [["x"], ["y"]]},
     r"`negative`.*\bstring\b"),
    ({"user": pa.array([], pa.int64()), "negative": pa.array([], pa.list_(pa.int64()))},
     r"`path`.*one row"),
])  # fmt: skip
def test_bad_parquet(columns, message, tmp_path):
    path = tmp_path / "negatives.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(InputError, match=message):
        ranks(path)


def test_files_that_are_something_else(tmp_path):
    for name in ("bad.parquet", "bad.test.negative"):
        (tmp_path / name).write_bytes(b"\xff\xfe\n")
    with pytest.raises(InputError, match=r"Parquet.*bad\.parquet"):
        ranks(tmp_path / "bad.parquet")
    with pytest.raises(InputError, match=r"`path`.*\(user,item\)"):
        ranks(tmp_path / "bad.test.negative")
    with pytest.raises(InputError, match=r"`negatives`.*equal length"):
        ranks([[1], [2, 3], [4]])
