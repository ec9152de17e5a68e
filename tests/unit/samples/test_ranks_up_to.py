"""Ranks up to K: what is known beyond it, in files, tables and sums."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank import rank
from fullrank.errors import InputError
from fullrank.samples import ExactRanks, Ranks, RankSample, Seeds, read_ranks

N_USERS, N_ITEMS = 40, 150
RANDOM = np.random.default_rng(0)
SCORES = np.round(RANDOM.normal(size=(N_USERS, N_ITEMS)), 1)  # with ties
USERS = np.repeat(np.arange(N_USERS), 1 + np.arange(N_USERS) % 3)  # one target to three
ITEMS = np.concatenate(
    [RANDOM.choice(N_ITEMS, n, replace=False) for n in np.bincount(USERS).tolist()]
)
KINDS = ("recall", "ndcg", "ap", "rr", "auc", "precision", "hit_rate", "capped_recall")


def ranked(**settings: Any) -> ExactRanks:
    return rank(SCORES, (USERS, ITEMS), rng=3, **settings)


def same(one: ExactRanks, two: ExactRanks) -> bool:
    return bool(one.to_arrow().equals(two.to_arrow(), check_metadata=True))


@pytest.mark.parametrize("ties", ["mean", "best", "worst", "random"])
@pytest.mark.parametrize("k", [1, 7, N_ITEMS, 10 * N_ITEMS])
def test_files_keep_everything(tmp_path: Path, ties: str, k: int) -> None:
    found, full = ranked(max_rank=k, ties=ties), ranked(ties=ties)
    for one in (found, found.without_rows(), found.up_to(1)):
        for name in ("ranks.parquet", "ranks.json"):
            one.write(tmp_path / name)
            again = ExactRanks.read(tmp_path / name)
            assert same(again, one)
            assert np.array_equal(again.ranks, one.ranks, equal_nan=True)
            assert np.array_equal(again.above, one.above)
    names = [f"{kind}@{cut}" for kind in KINDS for cut in {1, min(k, 5), k}]
    counted = found.without_rows()
    assert found.metrics(names) == full.metrics(names) == counted.metrics(names)
    assert full.up_to(k).metrics(names) == full.metrics(names)
    assert counted.share_scored == pytest.approx(found.share_scored)
    assert bool(found.beyond.any()) == (k < N_ITEMS)


def test_beyond_is_null_and_says_more_than() -> None:
    found = ranked(max_rank=5)
    columns = found.to_arrow().to_pydict()
    beyond = found.beyond.tolist()
    for name in ("rank", "above", "equal"):
        assert [one is None for one in columns[name]] == beyond
    assert columns["more_than"] == [5 if one else None for one in beyond]
    assert columns["n_scored"] == found.n_scored.tolist()


def test_the_frame_of_ranks_up_to_k_has_gaps(need: Any) -> None:
    need("pandas")
    found = ranked(max_rank=5)
    frame = found.to_frame()
    assert frame["rank"].isna().tolist() == found.beyond.tolist()
    assert frame["rank"].max() <= 5


def test_files_of_full_ranks_are_as_before() -> None:
    full = ranked(ties="random")
    table = full.to_arrow()
    assert table.column_names == [
        "user", "item", "rank", "above", "equal", "before", "candidates", "n_targets", "offset",
        "weight",
    ]  # fmt: skip
    assert sorted(json.loads(table.schema.metadata[b"fullrank"])) == [
        "format", "kind", "n_undecided", "pool", "precision", "seed", "ties",
    ]  # fmt: skip
    assert not any(field.nullable and table[field.name].null_count for field in table.schema)


def test_shards_add_and_slices_are_taken() -> None:
    found = ranked(max_rank=7, ties="worst")
    first = found.user < 17
    parts = found.take(first), found.take(~first)
    assert same(parts[0] + parts[1], found)
    assert parts[0].metrics("recall@7") == ranked(ties="worst").take(first).metrics("recall@7")
    # how much was scored is known of both or not at all
    mixed = parts[0] + ranked(ties="worst").up_to(7).take(~first)
    assert mixed.share_scored is None
    assert mixed.metrics("ndcg@7") == found.metrics("ndcg@7")
    with pytest.raises(InputError, match=r"`max_rank`.*\b7\b.*\b5\b"):
        parts[0] + found.up_to(5).take(~first)
    with pytest.raises(InputError, match=r"`max_rank`.*\b7\b.*\b9\b|`max_rank`.*\b7\b.*\b9"):
        found.up_to(9)


def test_weights_count_as_in_full_ranks() -> None:
    weight = 1.0 + (USERS % 4)
    found, full = (ranked(max_rank=k, weight=weight) for k in (6, None))
    assert found.metrics("recall@6, ap@6") == full.metrics("recall@6, ap@6")


def test_all_beyond_none_beyond_and_one_user() -> None:
    nan = float("nan")
    out = ExactRanks.from_ranks([nan, nan], n_items=9, max_rank=1)
    assert out.metrics("recall@1, ndcg@1") == {"recall@1": 0.0, "ndcg@1": 0.0}
    assert "> 1" in str(out)
    inside = ExactRanks.from_ranks([1, 2.5], n_items=9, max_rank=9)
    assert not inside.beyond.any()
    one = rank(SCORES[:1], ([0], [3]), max_rank=2)
    assert one.total_targets == 1
    assert str(ExactRanks.from_ranks([4, nan], n_items=90, max_rank=9)).splitlines()[1].split() == [
        "median", "rank", ">", "4",
    ]  # fmt: skip


def test_the_default_metrics_end_at_k() -> None:
    found = ranked(max_rank=3)
    assert list(found.metrics()) == ["recall@3", "ndcg@3"]
    assert list(ranked(max_rank=30).metrics()) == ["recall@10", "ndcg@10"]


@pytest.mark.parametrize(
    ("metric", "says"),
    [("recall@8", r"recall@8.*max_rank=8.*exact:8"), ("auc", "auc.*without.*max_rank"),
     ("ndcg", "ndcg.*without")],
)  # fmt: skip
def test_metrics_beyond_are_refused(metric: str, says: str) -> None:
    with pytest.raises(InputError, match=rf"`metrics`.*at most 7.*{says}"):
        ranked(max_rank=7).metrics(metric)


def test_what_needs_all_ranks_is_refused() -> None:
    found = ranked(max_rank=7)
    with pytest.raises(InputError, match=r"`ranks`.*without a limit.*\b7\b"):
        found.sample()
    with pytest.raises(InputError, match=r"`ranks`.*without a limit.*\b7\b"):
        found.whole_sample()


def test_the_curve_ends_at_k() -> None:
    pytest.importorskip("matplotlib")
    import matplotlib as mpl

    mpl.use("Agg")
    found = ExactRanks.from_ranks([1, 3, 3, float("nan")], n_items=90, max_rank=5)
    (line,) = found.plot().get_lines()
    assert line.get_xdata().tolist() == [1, 3, 3]
    assert line.get_ydata().tolist() == [0.25, 0.5, 0.75]


# ---- files that were changed ----


@pytest.mark.parametrize(
    ("column", "values", "says"),
    [
        ("more_than", [None, None, None], r"`rank`.*missing"),
        ("more_than", [None, 9, None], r"`more_than`.*\b9\b"),
        ("more_than", ["x", None, None], r"`more_than`"),
        ("above", [0, None, None], r"`above`.*missing"),
        ("above", [0, 5, 2], r"`above`.*missing"),
        ("above", [11, None, 2], r"`rank`.*at most 10.*\b12"),
        ("above", ["q", None, 2], r"`above`.*numbers"),
        ("n_scored", [0, 1, 2], r"`n_scored`.*at least 1"),
        ("n_scored", [1, 1000, 2], r"`n_scored`.*`candidates`"),
    ],
)
def test_a_changed_file_is_refused(
    tmp_path: Path, column: str, values: list[Any], says: str
) -> None:
    content = ExactRanks.from_ranks([1, float("nan"), 3], n_items=100, max_rank=10).to_dict()
    content["columns"][column] = values
    path = tmp_path / "ranks.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError, match=says):
        ExactRanks.read(path)


@pytest.mark.parametrize("k", [0, "ten", True, 3, None])
def test_a_changed_limit_is_refused(tmp_path: Path, k: Any) -> None:
    content = ExactRanks.from_ranks([1, float("nan"), 3], n_items=100, max_rank=10).to_dict()
    path = tmp_path / "ranks.json"
    path.write_text(json.dumps(content | {"max_rank": k}), encoding="utf-8")
    with pytest.raises(InputError, match=r"`max_rank`|`more_than`|`above`"):
        ExactRanks.read(path)


# ---- files of others ----

FILE = "user,rank,more_than\na,1,\nb,,50\nc,3.5,\n"


def csv(path: Path, text: str, **settings: Any) -> Ranks:
    (path / "r.csv").write_text(text, encoding="utf-8")
    return read_ranks(path / "r.csv", **{"n_items": 1000, **settings})


def test_a_column_more_than_is_read(tmp_path: Path) -> None:
    found = csv(tmp_path, FILE)["r"]
    assert isinstance(found, ExactRanks)
    assert found.max_rank == 50
    assert found.user.tolist() == ["a", "b", "c"]
    assert np.array_equal(found.ranks, [1.0, np.nan, 3.5], equal_nan=True)
    assert found.pool == "all"
    assert csv(tmp_path, FILE, sample_size=1000, design="exact:50")["r"].max_rank == 50
    assert csv(tmp_path, FILE, excluded=True, rows=False)["r"].pool == "unseen"


def test_the_design_can_say_it(tmp_path: Path) -> None:
    for text in ("user,rank\na,1\nb,\n", "user,rank\na,1\nb,77\n"):
        found = csv(tmp_path, text, design="exact:50")["r"]
        assert found.beyond.tolist() == [False, True]


def test_several_models_and_seeds(tmp_path: Path) -> None:
    rows = ["a,1,,m,1", "b,,50,m,1", "a,2,,m,2", "b,,50,m,2", "a,3,,n,1", "b,,20,n,1"]
    found = csv(tmp_path, "user,rank,more_than,model,seed\n" + "\n".join(rows))
    assert isinstance(found["m"], Seeds)
    assert "exact ranks up to 50" in str(found["m"])
    assert found["n"].max_rank == 20


def test_a_frame_is_read(need: Any) -> None:
    pd = need("pandas")
    frame = pd.DataFrame({"rank": [1, None, 3], "more_than": [None, 50, None]})
    (found,) = read_ranks(frame, n_items=100).values()
    assert found.beyond.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("text", "settings", "says"),
    [
        (FILE, {"n_items": None}, r"`n_items` must be given"),
        (FILE, {"n_items": 40}, r"`n_items`.*above 50"),
        (FILE, {"sample_size": 100}, r"`sample_size`.*number of items.*100"),
        (FILE, {"design": "sampled:100"}, r"`design`.*exact.*sampled:100"),
        (FILE, {"design": "exact:20"}, r"`design` must be exact:50.*more_than.*exact:20"),
        ("user,rank,more_than\na,,25\nb,,50\n", {}, r"`more_than`.*25 and 50"),
        ("user,rank,more_than\na,1,\nb,60,50\n", {}, r"`more_than`.*missing.*line 3"),
        ("user,rank,more_than\na,1,\nb,,\n", {}, r"`more_than`.*missing.*line 3"),
        ("user,rank,more_than\na,1.3,\nb,,50\n", {}, r"`rank`.*halves.*1\.3"),
        ("user,rank,more_than\na,x,\nb,,50\n", {}, r"`rank`.*numbers.*'x'"),
        ("user,p,q,more_than\na,1,2,\nb,3,3,\n", {"columns": {"rank": ["p", "q"]}}, "`more_than`"),
        ("user,rank\na,1\nb,>50\n", {"sample_size": 1000}, r"`rank`.*>50.*50 in a `more_t"),
        ("user,rank\na,1\nb,\n", {"sample_size": 1000}, r"`rank`.*missing.*a `more_than` column"),
        ("user,rank\na,1\nb,\n", {"sample_size": 1000, "rows": None}, r"`rank`.*more_than"),
    ],
)  # fmt: skip
def test_bad_files_are_refused(
    tmp_path: Path, text: str, settings: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        csv(tmp_path, text, **settings)


def test_a_file_of_ours_agrees_or_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ranks.parquet"
    ranked(max_rank=10).write(path)
    assert read_ranks(path, design="exact:10")["ranks"].max_rank == 10
    with pytest.raises(InputError, match=r"`design`.*exact ranks up to 10"):
        read_ranks(path, design="exact:20")
    with pytest.raises(InputError, match=r"`path`.*a sample.*exact ranks"):
        RankSample.read(path)
