"""This week against last week: run folders are paired by user and item, as by hand in pandas."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from fullrank import FactorScorer, Interactions, evaluate
from fullrank.data import Split
from fullrank.evaluation import Evaluation

Run = Callable[..., Any]
N_USERS, N_ITEMS = 300, 150


def a_week(keep: np.ndarray, seed: int, order: np.random.Generator) -> tuple[Split, FactorScorer]:
    """The purchases of some customers, in any order, and this week's factors of the model."""
    rng = np.random.default_rng(7)
    users = np.array([f"customer {at:05d}" for at in rng.permutation(90_000)[:N_USERS]])
    items = np.array([f"sku-{at}" for at in rng.permutation(90_000)[:N_ITEMS]])
    bought = np.argsort(rng.random((N_USERS, N_ITEMS)), axis=1)[:, :11]
    factors = rng.normal(size=(N_USERS, 8)), rng.normal(size=(N_ITEMS, 8))
    moved = np.random.default_rng(seed).normal(0.0, 0.3, (N_ITEMS, 8))
    rows = order.permutation(np.flatnonzero(keep))
    pairs = [(user, item) for user in rows for item in order.permutation(bought[user])]
    who, what = (np.array(column) for column in zip(*pairs, strict=True))
    held_out = what == bought[who, 0]
    known = {"user_ids": users[rows], "item_ids": items}
    parts = [
        Interactions.from_arrays(
            users[who[at]], items[what[at]], timestamp=1000 + np.arange(at.sum()), **known
        )
        for at in (~held_out, held_out)
    ]
    shuffled = order.permutation(N_ITEMS)
    scorer = FactorScorer(
        factors[0][rows].astype(np.float32),
        (factors[1] + moved)[shuffled].astype(np.float32),
        user_ids=users[rows],
        item_ids=items[shuffled],
    )
    return Split(train=parts[0], test=parts[1]), scorer


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs of one model: in the second a tenth of the users are gone, the rest shuffled."""
    folder = tmp_path_factory.mktemp("runs")
    rng = np.random.default_rng(0)
    keep = np.ones(N_USERS, bool)
    fewer = keep.copy()
    fewer[rng.permutation(N_USERS)[: N_USERS // 10]] = False
    for name, who, seed in (("60", keep, 1), ("61", fewer, 2)):
        split, scorer = a_week(who, seed, rng)
        evaluate({"prod": scorer}, split, out=folder / name, report=False, metrics="ndcg@10")
    return folder / "60", folder / "61"


def by_hand(last: Path, now: Path, metric: str) -> dict[str, Any]:
    """The paired t test of the users in both files, joined by id."""
    import pandas as pd

    from fullrank.metrics import parse

    frames = [pd.read_parquet(folder / "ranks" / "prod.parquet") for folder in (last, now)]
    both = frames[0].merge(frames[1], on=["user", "item"], suffixes=("_last", "_now"))
    gains = [
        parse(metric).gains(both[f"rank_{when}"], both[f"candidates_{when}"])
        for when in ("last", "now")
    ]
    difference = gains[0] - gains[1]
    n = difference.size
    error = difference.std(ddof=1) / np.sqrt(n)
    reach = stats.t.ppf(0.975, n - 1) * error
    return {
        "estimate": difference.mean(),
        "low": difference.mean() - reach,
        "high": difference.mean() + reach,
        "p_value": float(stats.ttest_rel(*gains).pvalue),
        "n": n,
    }


@pytest.mark.parametrize("metric", ["ndcg@10", "recall@20", "auc", "rr"])
def test_runs_are_paired_as_by_hand(
    need: Any, fullrank: Run, weeks: tuple[Path, Path], metric: str
) -> None:
    need("pandas")
    done = fullrank("compare", *(f"{n}={p}" for n, p in zip(("last", "now"), weeks, strict=True)),
                    "-m", metric, "--json")  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads(done.out)
    expected = by_hand(*weeks, metric)
    (one,) = found["differences"]
    assert (one["first"], one["second"]) == ("last", "now")
    for name in ("estimate", "low", "high", "p_value"):
        assert one[name] == pytest.approx(expected[name], abs=1e-12, rel=1e-12), name
    assert [model["n_users"] for model in found["models"]] == [expected["n"]] * 2 == [270, 270]
    assert found["notes"][0] == (
        "270 user–item pairs are in every result; the others are left out (last has 30 more)."
    )


def test_ranks_name_users_items_and_times(weeks: tuple[Path, Path]) -> None:
    for folder in weeks:
        ranks = Evaluation.read(folder).samples["prod"]
        assert all(user.startswith("customer ") for user in ranks.user.tolist())
        assert all(item.startswith("sku-") for item in ranks.item.tolist())
        assert ranks.time.min() >= 1000


def test_models_of_one_name_are_told_apart_by_their_runs(
    fullrank: Run, weeks: tuple[Path, Path]
) -> None:
    done = fullrank("compare", *weeks, "-m", "ndcg@10")
    assert done.code == 0, done.err
    assert "prod (60)" in done.out
    assert "prod (61)" in done.out


def test_refused_where_rows_cannot_be_named(
    fullrank: Run, weeks: tuple[Path, Path], tmp_path: Path
) -> None:
    ranks = Evaluation.read(weeks[0]).samples["prod"]
    bare = tmp_path / "bare.parquet"
    ranks.without_rows().write(bare)
    done = fullrank("compare", f"a={bare}", f"b={weeks[1]}")
    assert done.code == 2
    assert "only counts" in done.err
    numbered = tmp_path / "numbered.csv"
    numbered.write_text("user,item,rank\n" + "".join(f"{u},{u},{1 + u % 9}\n" for u in range(60)))
    done = fullrank("compare", f"a={numbered}", f"b={weeks[1]}", "--sample-size", 10,
                    "--n-items", 150)  # fmt: skip
    assert done.code == 2
    assert "all numbers or all text" in done.err
    unnamed = tmp_path / "unnamed.csv"
    unnamed.write_text("rank\n" + "".join(f"{1 + u % 9}\n" for u in range(60)))
    sizes = "--sample-size", 10, "--n-items", 150
    done = fullrank("compare", f"a={unnamed}", f"b={unnamed}", *sizes, "--paired")
    assert done.code == 2
    assert "without ids" in done.err


def test_a_user_with_another_target_is_left_out(fullrank: Run) -> None:
    from fullrank import compare
    from fullrank.samples import ExactRanks

    users, items = np.arange(100), np.arange(100) % 7
    other = np.where(users < 5, items + 50, items)
    ranks = 1 + np.random.default_rng(0).integers(0, 30, (2, 100))
    found = compare(
        {
            "a": ExactRanks.from_ranks(ranks[0], n_items=60, user=users, item=items),
            "b": ExactRanks.from_ranks(ranks[1], n_items=60, user=users, item=other),
        },
        "ndcg@10",
    )
    assert found.n_users == (95, 95)
    assert "95 user–item pairs are in every result" in found.notes[0]
