"""Tensors and series wherever arrays of ranks are taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fullrank as fr
from fullrank import inference
from fullrank.errors import InputError

RANKS = [1, 3, 5, 2, 9] * 20
HOW = {"n_items": 200, "design": "sampled:20"}
VERBS: dict[str, Callable[[Any], Any]] = {
    "estimate": lambda ranks: fr.estimate(ranks, "MRR@10", **HOW),
    "estimate of several": lambda ranks: fr.estimate({"a": ranks, "b": ranks}, "MRR@10", **HOW),
    "bounds": lambda ranks: fr.bounds(ranks, "recall@10", **HOW),
    "bounds of several": lambda ranks: fr.bounds({"a": ranks, "b": ranks}, "recall@10", **HOW),
    "explain": lambda ranks: inference.explain(ranks, "recall@10", **HOW),
    "compare": lambda ranks: fr.compare({"a": ranks, "b": RANKS[::-1]}, "MRR@10", rng=0, **HOW),
    "RankSample": lambda ranks: fr.RankSample.from_ranks(ranks, **HOW),
    "ExactRanks": lambda ranks: fr.samples.ExactRanks.from_ranks(ranks, n_items=200),
    "RankDistribution": lambda ranks: fr.samples.RankDistribution.from_ranks(ranks, n_items=200),
    "simulate": lambda ranks: fr.samples.simulate(ranks, rng=0, **HOW),
}


def _as(kind: str, need: Callable[[str], Any]) -> Any:
    if kind == "pandas":
        return need("pandas").Series(RANKS)
    if kind == "polars":
        return need("polars").Series(RANKS)
    torch = need("torch")
    if kind == "tensor of whole numbers":
        return torch.tensor(RANKS)
    dtype = torch.bfloat16 if kind == "bfloat16" else torch.float32
    return torch.tensor(RANKS, dtype=dtype, requires_grad=kind == "with a gradient")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "kind", ["pandas", "polars", "tensor of whole numbers", "with a gradient", "bfloat16"]
)
def test_they_give_what_lists_give(verb: str, kind: str, need: Callable[[str], Any]) -> None:
    given = VERBS[verb](_as(kind, need))
    assert given.to_dict() == VERBS[verb](RANKS).to_dict()


@pytest.mark.gpu
def test_tensors_on_a_gpu(need: Callable[[str], Any]) -> None:
    torch = need("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    for verb in VERBS.values():
        ranks = torch.tensor(RANKS, device="cuda")
        assert verb(ranks).to_dict() == verb(RANKS).to_dict()


@pytest.mark.filterwarnings("ignore:Sparse (CSR|CSC|invariant):UserWarning")
@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_sparse_tensors_are_sparse_matrices(layout: str, need: Callable[[str], Any]) -> None:
    """What is excluded, targets, histories and item-item matrices; zeros that are stored count."""
    torch = need("torch")
    sparse = need("scipy.sparse")
    random = np.random.default_rng(0)
    matrix = (random.random((20, 50)) < 0.2) * random.normal(size=(20, 50))
    weights = (random.random((50, 50)) < 0.3) * random.normal(size=(50, 50))

    def tensor(array: Any) -> Any:
        return getattr(torch.from_numpy(array), f"to_sparse_{layout}")()

    plain = fr.ItemItemScorer(sparse.csr_array(matrix), sparse.csr_array(weights))
    ours = fr.ItemItemScorer(tensor(matrix), tensor(weights))
    assert ours.is_sparse
    np.testing.assert_array_equal(ours.scores([0, 7]), plain.scores([0, 7]))

    targets = (np.arange(20), random.integers(0, 50, 20))
    how: dict[str, Any] = {"design": "sampled:11", "rng": 0}
    with_it = fr.sample_ranks(plain, targets, exclude=sparse.csr_array(matrix), **how)
    with_ours = fr.sample_ranks(plain, targets, exclude=tensor(matrix), **how)
    without = fr.sample_ranks(plain, targets, **how)
    np.testing.assert_array_equal(with_ours.rows.rank, with_it.rows.rank)  # type: ignore[union-attr]
    assert (with_ours.rows.rank != without.rows.rank).any()  # type: ignore[union-attr]
    with pytest.raises(InputError, match=r"`exclude`.*items.*\b50, not 49\b"):
        fr.sample_ranks(plain, targets, exclude=tensor(matrix[:, :49].copy()), **how)

    one = np.zeros((20, 50))
    one[targets] = 1.0
    found = fr.rank(plain, tensor(one)).ranks
    np.testing.assert_array_equal(found, fr.rank(plain, sparse.csr_array(one)).ranks)


@pytest.mark.filterwarnings("ignore:Sparse (CSR|CSC|invariant):UserWarning")
def test_a_stored_zero_of_a_tensor_is_excluded(need: Callable[[str], Any]) -> None:
    torch = need("torch")
    scores = [[3.0, 2.0, 1.0]]
    stored = torch.sparse_coo_tensor([[0], [0]], [0.0], (1, 3))
    assert fr.rank(scores, ([0], [1]), exclude=stored).ranks.tolist() == [1.0]
    assert fr.rank(scores, ([0], [1])).ranks.tolist() == [2.0]


def test_several_samples_are_a_mapping() -> None:
    one = fr.RankSample.from_ranks(RANKS, **HOW)
    with pytest.raises(InputError, match=r"`ranks`.*names of models.*list"):
        fr.estimate([one, one])


def test_a_table_is_read_by_estimate(need: Callable[[str], Any]) -> None:
    frame = need("pandas").DataFrame({"rank": RANKS})
    found = fr.estimate(frame, "recall@10", **HOW)
    assert found.values == fr.estimate(RANKS, "recall@10", **HOW).values
    inferred = fr.estimate(frame, "recall@10", n_items=200, sample_size=20)
    assumed = "Sampling without replacement is assumed. "
    assert any(one.startswith(assumed) for one in inferred.diagnosis.assumed)
    assert assumed in str(inferred)


def test_tables_in_a_mapping_hold_one_model_each(need: Callable[[str], Any]) -> None:
    frame = need("pandas").DataFrame({"rank": RANKS * 2, "model": ["x"] * 100 + ["y"] * 100})
    one = fr.estimate({"a": frame[frame.model == "x"], "b": RANKS}, "recall@10", **HOW)
    assert one["a"].values == one["b"].values
    assert list(fr.estimate(frame, "recall@10", **HOW)) == ["x", "y"]
    with pytest.raises(InputError, match=r"`ranks`.*\ba\b.*table of 2: x, y"):
        fr.estimate({"a": frame}, "recall@10", **HOW)


@pytest.mark.parametrize("verb", [fr.bounds, inference.explain])
def test_a_table_is_pointed_to_its_reader(
    verb: Callable[..., Any], need: Callable[[str], Any]
) -> None:
    frame = need("pandas").DataFrame({"rank": RANKS})
    with pytest.raises(InputError, match=r"`ranks`.*RankSample\.from_frame"):
        verb(frame, "recall@10", **HOW)
    with pytest.raises(InputError, match=r"`ranks\['a'\]`.*RankSample\.from_frame"):
        fr.compare({"a": frame, "b": RANKS}, "recall@10", **HOW)


def test_exact_ranks_by_their_design() -> None:
    found = fr.estimate(RANKS, "recall@3", n_items=200, design="exact")
    assert (found.method, found["recall@3"]) == ("exact", 0.6)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"n_items": 200}, r"`design`.*sampled:100"),
        ({"design": "sampled:20"}, r"`n_items`.*3706"),
        ({**HOW, "metric": "recall@10"}, r"`metric`.*`metrics`"),
    ],
)
def test_what_is_missing_is_named(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        fr.estimate(RANKS, **given)


def test_slips_of_the_pen_in_compare() -> None:
    with pytest.raises(InputError, match=r"`metric`.*`metrics`"):
        fr.compare({"a": RANKS, "b": RANKS}, metric="recall@10", **HOW)


def test_arrays_can_be_paired_row_by_row() -> None:
    found = fr.compare({"a": RANKS, "b": RANKS[::-1]}, "recall@3", paired=True, rng=0, **HOW)
    assert found.paired
