"""EASE on two real data sets of the papers, ranked by brute force.

The figures were measured independently on the same files: EASE with λ = 1500 fitted on the given
training part, one held-out item per user, all items ranked. AAAI 2021 (Jin et al., Table 2) prints
Recall@10 34.77, NDCG@10 16.16 and AP@10 10.63 per mille for ml-1m with its own λ.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fullrank.data import Split, read_split
from fullrank.models import EASE

Counts = tuple[np.ndarray, np.ndarray]


def count_by_brute_force(split: Split, weights: np.ndarray) -> tuple[Counts, Counts]:
    """Items above and items equal to each target: of all items, and of those not seen."""
    users, targets = split.test.pairs()
    history = split.train.matrix(np.float64)
    weights = weights.astype(np.float64)
    counts = np.empty((4, users.size), int)
    for start in range(0, users.size, 1000):
        rows = slice(start, start + 1000)
        block = np.arange(users[rows].size)
        past = history[users[rows]]
        scores = past @ weights
        target_scores = scores[block, targets[rows]][:, None]
        unseen = past.toarray() == 0
        for place, candidates in ((0, True), (2, unseen)):
            counts[place, rows] = np.sum((scores > target_scores) & candidates, axis=1)
            counts[place + 1, rows] = np.sum((scores == target_scores) & candidates, axis=1) - 1
    return (counts[0], counts[1]), (counts[2], counts[3])


def metrics_at_10(ranks: np.ndarray) -> np.ndarray:
    """Recall, NDCG and AP at 10 per mille, for one target each."""
    hit = ranks <= 10
    return 1000 * np.array([hit, hit / np.log2(ranks + 1), hit / ranks]).mean(axis=1)


def counts_of(path: Path, n_items: int) -> tuple[Counts, Counts]:
    split = read_split(path, item_ids=np.arange(n_items))
    assert split.train.n_items == n_items
    return count_by_brute_force(split, EASE(regularization=1500).fit(split.train).weights_)


@pytest.mark.verify
@pytest.mark.slow
def test_ml_1m(data_file: Callable[[str], Path]) -> None:
    (above, equal), (above_unseen, equal_unseen) = counts_of(data_file("ml-1m.parquet"), 3_706)
    kept, excluded = (
        metrics_at_10(1 + above + equal / 2),
        metrics_at_10(1 + above_unseen + equal_unseen / 2),
    )
    np.testing.assert_array_equal(kept.round(2), [35.26, 16.48, 10.92])
    np.testing.assert_array_equal(excluded.round(1), [106.3, 53.5, 37.7])


@pytest.mark.verify
@pytest.mark.slow
def test_pinterest(data_file: Callable[[str], Path]) -> None:
    """80 of the 9,916 items occur nowhere in the file and are ranked all the same.

    One user's target and another item differ by less than float32 weights can tell, for place
    10. In the figures it is a hit; in exact arithmetic, or at the mean rank of the two, it is not,
    which makes Recall@10 48.96 and leaves the printed digits of the others.
    """
    (above, _), (above_unseen, _) = counts_of(data_file("pinterest-20-part.parquet"), 9_916)
    kept, excluded = metrics_at_10(1 + above), metrics_at_10(1 + above_unseen)
    assert kept[0].round(2) in (48.99, 48.96)
    np.testing.assert_array_equal(kept[1:].round(2), [24.29, 16.93])
    np.testing.assert_array_equal(excluded.round(2), [71.86, 35.63, 24.81])
