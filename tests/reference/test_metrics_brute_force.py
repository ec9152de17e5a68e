"""Every metric against its definition on a whole ranked list (Rendle 2019, eqs. 2-8)."""

import math

import numpy as np
import pytest

from fullrank import metrics


def brute_force(name: str, listing: list[bool], k: int) -> float:
    """The metric of one ranked list; listing[i] says whether place i + 1 holds a target."""
    n_items, n_targets = len(listing), sum(listing)
    top = listing[:k]
    hits = sum(top)
    if name == "recall":
        return hits / n_targets
    if name == "capped_recall":
        return hits / min(k, n_targets)
    if name == "hit_rate":
        return float(hits > 0)
    if name == "precision":
        return hits / k
    if name == "ndcg":
        gain = sum(1 / math.log2(i + 2) for i, hit in enumerate(top) if hit)
        return gain / sum(1 / math.log2(i + 2) for i in range(min(k, n_targets)))
    if name == "ap":
        precisions = [sum(top[: i + 1]) / (i + 1) for i, hit in enumerate(top) if hit]
        return sum(precisions) / min(k, n_targets)
    if name == "rr":
        return next((1 / (i + 1) for i, hit in enumerate(top) if hit), 0.0)
    assert name == "auc"
    pairs = [sum(not other for other in listing[i + 1 :]) for i, hit in enumerate(top) if hit]
    if n_items == n_targets:
        return hits / n_targets  # no pair can be wrong
    return sum(pairs) / (n_targets * (n_items - n_targets))


@pytest.mark.parametrize("name", metrics.names())
@pytest.mark.parametrize("k", [1, 3, 10, 12, 40, None])
def test_per_target_forms_equal_the_definition_on_whole_lists(name: str, k: int | None) -> None:
    rng = np.random.default_rng(5)
    n_items, n_users = 12, 300
    ranks, users, expected = [], [], []
    for user in range(n_users):
        n_targets = int(rng.integers(1, n_items + 1))
        places = np.sort(rng.choice(n_items, n_targets, replace=False))
        listing = np.isin(np.arange(n_items), places).tolist()
        expected.append(brute_force(name, listing, n_items if k is None else k))
        ranks.extend((rng.permutation(places) + 1).tolist())
        users.extend([user] * n_targets)
    text = name if k is None else f"{name}@{k}"
    values = metrics.user_values(ranks, text, n_items=n_items, user=users)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-14)
    mean = metrics.evaluate(ranks, text, n_items=n_items, user=users)
    assert mean == {text: pytest.approx(np.mean(expected), abs=1e-14)}


@pytest.mark.parametrize("name", metrics.names())
def test_one_target_is_a_weight_of_its_rank(name: str) -> None:
    n_items = 9
    for k in (1, 4, 9, 20):
        expected = [
            brute_force(name, [place == rank for place in range(1, n_items + 1)], k)
            for rank in range(1, n_items + 1)
        ]
        weights = metrics.parse(f"{name}@{k}").weights(np.arange(1, n_items + 1), n_items)
        np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-15)
