"""What a sampled metric stands for."""

import json

import numpy as np
import pytest

from fullrank.designs import Uniform
from fullrank.errors import InputError
from fullrank.inference import explain
from fullrank.samples import RankSample, simulate


def test_linear_and_bound_by_hand() -> None:
    said = explain(metrics="hr@10", design="sampled:100,replacement=true", n_items=10_000)
    places = said.stands_for["hit_rate@10"]
    assert places["linear"] == pytest.approx(9 / 99 * 9_999 + 1)  # equation 9
    assert places["bound"] == np.floor(9.5 * 9_999 / 99 + 0.5)  # equation 13
    assert said.resolution == 100
    assert said.needed["hit_rate@10"] == 1_000


def test_bound_is_where_a_target_is_as_likely_in_as_out() -> None:
    """What the page says of it, for several sizes."""
    from fullrank.designs import expected_metric

    for n, k in ((100, 10), (100, 40), (1000, 50)):
        said = explain(metrics=f"hr@{k}", design=Uniform(n, replacement=True), n_items=50_000)
        place = int(said.stands_for[f"hit_rate@{k}"]["bound"])
        chance = expected_metric(
            [place], f"hr@{k}", n_items=50_000, design=Uniform(n, replacement=True)
        )[0]
        assert abs(chance - 0.5) < 0.05


def test_metrics_without_a_cut_off_of_their_own() -> None:
    said = explain(
        metrics=["ndcg@10", "hr@200", "auc"], design="sampled:100,replacement=true", n_items=1_000
    )
    assert dict(said.stands_for) == {}
    assert list(said.expected) == ["ndcg@10", "hr@200", "auc"]
    assert np.allclose(said.expected["auc"], said.exact["auc"])  # AUC is left alone
    assert said.true_rank.tolist() == [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]


def test_fitted_to_ranks() -> None:
    sample = simulate([1, 4, 20, 50, 120, 400] * 200, n_items=2000, design="sampled:100", rng=0)
    said = explain(sample, ["recall@10"])
    fitted = [name for name in said.stands_for["recall@10"] if "fitted" in name]
    assert len(fitted) == 1
    assert said.sampled is not None
    assert said.sampled["recall@10"] == sample.naive("recall@10")
    assert "recall@10 among 100 candidates (here 0." in str(said)


def test_text_and_json() -> None:
    said = explain(
        metrics=["hr@10", "ndcg@10"], design="sampled:100,replacement=true", n_items=26_744
    )
    text = str(said)
    assert text.startswith(
        "A target ranked among 100 candidates, including itself, drawn from 26,744"
    )
    assert "hr@2,432  linear" in text
    assert "A sample of 100 hardly distinguishes ranks 1 to about 267" in text
    assert "To resolve hr@10 and ndcg@10, use about 2,675 candidates per user" in text
    content = json.loads(json.dumps(said.to_dict(), allow_nan=False))
    assert content["format"] == 1
    assert content["metrics"][1]["stands_for"] is None
    assert len(said.to_arrow()) == 2 * said.true_rank.size


def test_samples_of_two_and_of_all() -> None:
    assert "a linear function of AUC, or constant." in str(
        explain(design="sampled:2,replacement=true", n_items=100)
    )
    every = explain(metrics="hr@10", design="sampled:100", n_items=100)
    assert "Rank 1 among 100 candidates is rank 1" in str(every)
    assert np.allclose(every.expected["hit_rate@10"], every.exact["hit_rate@10"])
    for drawn, covered in (("sampled:80", "1.2"), ("sampled:100,replacement=true", "1.0")):
        most = str(explain(metrics="hr@10", design=drawn, n_items=100))
        assert f"candidates covers about {covered} ranks of the catalogue." in most


def test_errors() -> None:
    with pytest.raises(InputError, match=r"`design`.*sampled:100.*no ranks"):
        explain(n_items=100)
    with pytest.raises(InputError, match=r"`n_items`.*\b1\b"):
        explain(design="sampled:10,replacement=true", n_items=1)
    sample = RankSample.from_ranks(
        [1, 2], sample_size=10, n_items=50, design="sampled:replacement=true"
    )
    with pytest.raises(InputError, match=r"`n_items`.*has its own"):
        explain(sample, n_items=50)
    adaptive = RankSample.from_ranks(
        [2, 1], sample_size=[10, 20], n_items=50, design="adaptive:replacement=true,levels=10/20"
    )
    with pytest.raises(InputError, match=r"^`ranks`.*same number.*these have 10 to 20"):
        explain(adaptive)


def test_all_items_are_drawn_without_replacement_and_more_are_an_error() -> None:
    whole = explain(metrics="hr@3", design="sampled:50", n_items=50)
    assert not whole.design.replacement
    np.testing.assert_allclose(whole.expected["hit_rate@3"], whole.exact["hit_rate@3"])
    assert explain(design="sampled:50,replacement=true", n_items=50).design.replacement
    with pytest.raises(InputError, match=r"`n_items`.*\b100\b.*\b200\b"):
        explain(design="sampled:200", n_items=100)
