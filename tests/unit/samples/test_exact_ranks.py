"""Exact ranks: three counts for each target, and everything that follows from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fullrank import rank
from fullrank.errors import InputError
from fullrank.samples import ExactRanks, RankSample

SCORES = np.array([[3.0, 1.0, 1.0, 1.0, 0.0], [1.0, 2.0, 2.0, 0.0, 2.0]])
RANKS = rank(SCORES, ([0, 1, 1], [2, 0, 4]))


def test_every_tie_policy_follows_from_the_counts() -> None:
    for ties in ("mean", "best", "worst"):
        direct = rank(SCORES, ([0, 1, 1], [2, 0, 4]), ties=ties)
        assert RANKS.with_ties(ties).ranks.tolist() == direct.ranks.tolist()
    with pytest.raises(InputError, match=r"`ties`.*random"):
        RANKS.with_ties("random")


@pytest.mark.parametrize("suffix", [".parquet", ".json"])
@pytest.mark.parametrize("ids", [["a", "b", "b"], [7, 2**60 + 1, 2**60 + 1]])
def test_round_trip(tmp_path: Path, suffix: str, ids: list) -> None:
    one = ExactRanks.from_ranks(
        [1, 2.5, 4], n_items=9, user=ids, item=["x", "y", "z"], time=[5, 6, 7], weight=[1, 2, 2],
        n_targets=[1, 2, 2], offset=[0, 0, 1], pool="unseen",
    )  # fmt: skip
    path = tmp_path / f"ranks{suffix}"
    one.write(path)
    again = ExactRanks.read(path)
    assert again.to_arrow().equals(one.to_arrow(), check_metadata=True)
    assert again.user.tolist() == ids


def test_users_must_be_whole() -> None:
    with pytest.raises(InputError, match=r"`user`.*\b2 rows, but n_targets is 1"):
        RANKS + RANKS
    with pytest.raises(InputError, match=r"`user`.*\b1 row, but n_targets is 2"):
        RANKS.take(np.array([True, True, False]))
    with pytest.raises(InputError, match=r"`user`.*\b2 rows, but n_targets is 1"):
        ExactRanks.from_ranks([1, 2], n_items=9, user=["a", "a"])


@pytest.mark.parametrize(
    ("mask", "says"),
    [
        ([True] * 2, r"`mask`.*3 in all.*\(2,\)"),
        (True, r"`mask`.*3 in all"),
        ([0, 1, 1], r"`mask`.*int64"),
        ([False] * 3, r"`mask`.*at least one"),
    ],
)
def test_what_is_no_mask_of_the_targets(mask, says) -> None:
    with pytest.raises(InputError, match=says):
        RANKS.take(mask)


def test_a_list_is_a_mask() -> None:
    assert RANKS.take([True] * 3) is RANKS
    assert RANKS.take([False, True, True]).ranks.tolist() == RANKS.ranks[1:].tolist()


def test_ids_of_two_kinds_do_not_meet() -> None:
    with pytest.raises(InputError, match=r"`user`.*whole number or text"):
        ExactRanks.from_ranks([1, 2], n_items=9, user=[1, "1"])
    with pytest.raises(InputError, match=r"`user`.*2\^63"):
        ExactRanks.from_ranks([1], n_items=9, user=np.array([2**63 + 1], np.uint64))
    text = ExactRanks.from_ranks([1], n_items=9, user=["1"])
    with pytest.raises(InputError, match="all numbers or all text"):
        text + ExactRanks.from_ranks([1], n_items=9, user=[2])


def test_counts_and_order_change_no_bit() -> None:
    random = np.random.default_rng(0)
    ranks = random.integers(1, 400, 5000)
    one = ExactRanks.from_ranks(ranks, n_items=400, user=np.arange(5000))
    order = random.permutation(5000)
    shuffled = ExactRanks.from_ranks(ranks[order], n_items=400, user=order)
    names = ("ndcg", "auc", "rr@10", "ap")
    assert one.metrics(names) == shuffled.metrics(names) == one.without_rows().metrics(names)
    sample = RankSample.from_ranks(ranks, sample_size=400, n_items=400, user=np.arange(5000))
    assert ExactRanks.of_sample(sample).metrics(names) == one.metrics(names)


def test_weights_that_are_all_zero_have_no_mean() -> None:
    with pytest.raises(InputError, match=r"`weight`.*positive"):
        ExactRanks.from_ranks([1, 2], n_items=9, weight=[0, 0]).metrics("rr")


def test_a_nan_is_told_by_the_ids() -> None:
    from fullrank import FactorScorer, Interactions

    factors = np.ones((2, 1)), np.array([[1.0], [np.nan]])
    scorer = FactorScorer(*factors, user_ids=["ann", "bob"], item_ids=["tea", "cake"])
    with pytest.raises(InputError, match=r"user bob and item cake"):
        rank(scorer, Interactions.from_arrays(["bob"], ["tea"]))


def test_a_nan_in_an_evaluation_is_told_by_the_ids() -> None:
    from fullrank import FactorScorer, Interactions, evaluate

    factors = np.ones((2, 1)), np.array([[1.0], [np.nan]])
    scorer = FactorScorer(*factors, user_ids=["ann", "bob"], item_ids=["tea", "cake"])
    with pytest.raises(InputError, match=r"user bob and item cake"):
        evaluate({"m": scorer}, Interactions.from_arrays(["bob"], ["tea"]))
