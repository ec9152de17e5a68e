from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from fullrank.data import Interactions, Split
from fullrank.errors import InputError, NotFittedError
from fullrank.models import NeuMF, load
from fullrank.models.neural.learners import layers
from fullrank.models.neural.learners.pair_scorer import PairScorer
from fullrank.models.neural.neumf import PARTS, NeuMFLearner
from fullrank.models.training.batches import PairBatch
from fullrank.ranking import rank, sample_ranks
from fullrank.scorers import FactorScorer, TorchScorer

SMALL = {"n_factors": 5, "hidden": (6, 4), "epochs": 5, "batch_size": 64, "learning_rate": 0.02}


pytestmark = pytest.mark.usefixtures("torch")


def learner_of(torch: ModuleType, data: Interactions, **settings: object) -> NeuMFLearner:
    """With every tensor far from 0, so that all of them show in the scores."""
    learner = NeuMFLearner(NeuMF(**SMALL | settings), data, torch.device("cpu"))
    generator = torch.Generator().manual_seed(5)
    for tensor in learner.tensors.values():
        torch.nn.init.normal_(tensor, std=0.7, generator=generator)
    return learner


def random_scorer(n_items: int, hidden: tuple[int, ...], n_factors: int) -> PairScorer:
    random = np.random.default_rng(0)
    shapes = [(7, n_factors), (n_items, n_factors), (7, hidden[0]), (n_items, hidden[0])]
    widths = [*hidden, 1]
    pairs = [(random.normal(size=(a, b)), random.normal(size=b)) for a, b in pairwise(widths)]
    arrays = [random.normal(size=shape).astype(np.float32) for shape in shapes]
    return PairScorer(*arrays, layers.pack(pairs), widths)


@pytest.mark.parametrize("hidden", [(3,), (5, 2), (9, 6, 4)])
@pytest.mark.parametrize("n_factors", [0, 3, 8])
def test_the_kernel_is_the_network(hidden: tuple[int, ...], n_factors: int) -> None:
    scorer = random_scorer(300, hidden, n_factors)  # more items than stand side by side
    (own, inputs), (factors, parts) = scorer._users, scorer._items
    x = np.maximum(inputs[:, None].astype(np.float64) + parts.T, 0)
    *below, (weights, bias) = layers.unpack("tower_", scorer._tower, scorer.widths)
    for w, b in below:
        x = np.maximum(x @ w + b, 0)
    expected = (x @ weights + bias)[..., 0] + own.astype(np.float64) @ factors
    np.testing.assert_allclose(scorer.scores(np.arange(7)), expected, rtol=1e-4, atol=1e-4)


def test_a_score_does_not_depend_on_what_stands_beside_it() -> None:
    scorer = random_scorer(300, (9, 6, 4), 3)
    whole = scorer.scores(np.arange(7))
    items = np.random.default_rng(1).integers(0, 300, (7, 20))
    np.testing.assert_array_equal(
        scorer.scores([4, 2], [299, 0, 17]), whole[[4, 2]][:, [299, 0, 17]]
    )
    np.testing.assert_array_equal(
        scorer.scores(np.arange(7), items), np.take_along_axis(whole, items, axis=1)
    )
    assert scorer.scores([1, 2], np.empty((2, 0), int)).shape == (2, 0)
    assert scorer.scores([]).shape == (0, 300)
    with pytest.raises(InputError, match=r"`user_rows`.*0\.\.6.*user_rows\[0\] = 7\b"):
        scorer.scores([7])


def test_it_ranks_and_samples_like_its_scores() -> None:
    scorer = random_scorer(60, (5, 2), 3)
    targets = (np.arange(7), np.arange(7) * 8)
    scores = scorer.scores(np.arange(7))
    wanted = scores[np.arange(7), targets[1]]
    ranks = rank(scorer, targets)
    np.testing.assert_array_equal(ranks.ranks, 1 + (scores > wanted[:, None]).sum(1))
    np.testing.assert_array_equal(rank(scorer, targets, batch_size=2, n_jobs=2).ranks, ranks.ranks)
    everything = sample_ranks(scorer, targets, design="sampled:60", rng=0)
    np.testing.assert_array_equal(
        np.repeat(everything.rank, everything.count), np.sort(ranks.ranks)
    )


@pytest.mark.parametrize("metric", ["ndcg@5", "ndcg"])
def test_validation_scores_no_more_than_the_metric_needs(
    metric: str, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bits as from all ranks."""
    found = []

    def spied(scorer: Any, targets: Any, **arguments: Any) -> Any:
        ranks = rank(scorer, targets, **arguments)
        everything = rank(scorer, targets, exclude=arguments["exclude"])
        found.append((ranks.metrics(metric)[metric], everything.metrics(metric)[metric]))
        if metric == "ndcg@5":
            assert ranks.n_scored.sum() < 0.9 * ranks.candidates.sum()
        else:
            assert ranks.max_rank is None
        return ranks

    monkeypatch.setattr("fullrank.ranking.rank", spied)
    model = NeuMF(**SMALL, metric=metric).fit(split.train, valid=split.test)
    assert [one for one, _ in found] == [other for _, other in found]
    assert [one for one, _ in found] == list(model.history_.metric)


@pytest.mark.parametrize("parts", PARTS)
def test_scores_are_those_of_the_learner(parts: str, torch: ModuleType, data: Interactions) -> None:
    learner = learner_of(torch, data, parts=parts)
    users = np.arange(150)
    every = torch.arange(60).expand(150, 60)
    with torch.no_grad():
        expected = learner.scores(torch.from_numpy(users), every).numpy()
    assert expected.std() > 0.1
    np.testing.assert_allclose(learner.scorer().scores(users), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("parts", ["fused", "mlp"])
def test_on_a_gpu_the_network_is_a_module(
    parts: str, torch: ModuleType, data: Interactions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which gives the scores of the kernel, but for rounding; the CPU stands in for the GPU."""
    learner = learner_of(torch, data, parts=parts)
    expected = learner.scorer().scores([3, 149])
    names = NeuMF.scorer.__globals__
    monkeypatch.setitem(names, "torch_device", lambda _: torch.device("cpu"))
    learner.model.device = "cuda"
    asked = learner.scorer()
    assert isinstance(asked, TorchScorer)
    assert (asked.n_users, asked.n_items) == (150, 60)
    np.testing.assert_allclose(asked.scores([3, 149]), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("half", "silent"), [("gmf", "tower.1.weights"), ("mlp", "gains")])
def test_with_one_half_silent_the_fused_model_is_the_other(
    half: str, silent: str, torch: ModuleType, data: Interactions
) -> None:
    fused, alone = learner_of(torch, data), learner_of(torch, data, parts=half)
    known = dict(fused.tensors)
    if half == "gmf":  # which has no layer but the bias of the output
        known["tower.0.weights"], known["tower.0.bias"] = torch.empty(0, 1), known["tower.1.bias"]
    with torch.no_grad():
        fused.tensors[silent].zero_()
        for name, tensor in alone.tensors.items():
            tensor.copy_(known[name])
    users = np.arange(150)
    found = alone.scorer().scores(users)
    assert found.std() > 0.1
    np.testing.assert_allclose(fused.scorer().scores(users), found, rtol=1e-5, atol=1e-5)


def test_the_loss_by_hand(torch: ModuleType, data: Interactions) -> None:
    """Positives, and negatives but for those that the user has."""
    learner = learner_of(torch, data)
    users, items = (torch.from_numpy(part.astype(np.int64)) for part in data.pairs())
    chosen = torch.tensor([3, 50, 400])
    own = users[chosen]
    negatives = torch.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    negatives[1, 1] = items[users == own[1]][0]
    lacked = data.matrix().toarray()[own.numpy()[:, None], negatives.numpy()] == 0
    assert not lacked[1, 1]
    batch = PairBatch(own, items[chosen], negatives, None, 0)
    scores = np.asarray(learner.scorer().scores(np.arange(150)), np.float64)[own.numpy()]
    high = np.take_along_axis(scores, items[chosen].numpy()[:, None], 1)
    low = np.take_along_axis(scores, negatives.numpy(), 1)
    expected = np.logaddexp(0, -high).sum() + np.logaddexp(0, low)[lacked].sum()
    loss = float(learner.loss(batch, torch.Generator()).detach())
    assert loss == pytest.approx(expected / (3 + lacked.sum()), rel=1e-5)


@pytest.mark.parametrize("parts", PARTS)
def test_five_epochs_lower_the_loss_and_raise_the_metric(parts: str, data: Interactions) -> None:
    split = data.split(rng=0)
    first = NeuMF(**SMALL | {"epochs": 0}, parts=parts).fit(split.train)
    model = NeuMF(**SMALL, parts=parts, metric="ndcg@20").fit(split.train, valid=split.test)
    before, after = (
        rank(one, split.test, exclude=split.train).metrics("ndcg@20")["ndcg@20"]
        for one in (first, model)
    )
    assert model.history_.loss[-1] < 0.95 * model.history_.loss[0]
    assert after > 1.3 * before
    assert after == pytest.approx(model.history_.best_metric, rel=1e-12)


@pytest.mark.parametrize("parts", PARTS)
def test_the_parts_have_scorers_of_their_own(parts: str, data: Interactions) -> None:
    model = NeuMF(**SMALL | {"epochs": 1}, parts=parts).fit(data)
    assert isinstance(model.scorer(), FactorScorer if parts == "gmf" else PairScorer)
    assert model.user_factors_.shape == (150, 0 if parts == "mlp" else 5)
    assert model.item_inputs_.shape == (60, 0 if parts == "gmf" else 6)


def test_known_users_are_found_by_their_ids(data: Interactions) -> None:
    model = NeuMF(**SMALL | {"epochs": 1}).fit(data)
    some = Interactions.from_arrays([5, 70], [3, 3], user_ids=[70, 5], item_ids=np.arange(60))
    np.testing.assert_array_equal(model.scorer(some).scores([0, 1]), model.scorer().scores([70, 5]))
    stranger = Interactions.from_arrays([999], [3], user_ids=[999], item_ids=np.arange(60))
    with pytest.raises(InputError, match=r"^NeuMF .*users.*1 of 1 was not .*\b999\b"):
        model.scorer(stranger)


def test_the_same_seed_gives_the_same_scores(data: Interactions) -> None:
    first, second, other = (
        NeuMF(**SMALL, seed=seed).fit(data).scorer().scores([0, 1]) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 0.01


@pytest.mark.parametrize("parts", PARTS)
def test_a_file_gives_the_same_scores(parts: str, data: Interactions, tmp_path: Path) -> None:
    model = NeuMF(**SMALL, parts=parts).fit(data)
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert repr(again) == repr(model)
    np.testing.assert_array_equal(
        again.scorer().scores(np.arange(150)), model.scorer().scores(np.arange(150))
    )


def test_a_tower_that_does_not_fit_the_settings_is_refused(data: Interactions) -> None:
    model = NeuMF(**SMALL | {"epochs": 1}).fit(data)
    model.tower_ = model.tower_[:-1]
    with pytest.raises(InputError, match=r"`tower_`.*\b33\b.*\b32\b"):
        model.scorer()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"parts": "both"}, r"`parts`.*'fused', 'gmf', 'mlp'.*'both'"),
        ({"n_factors": 0}, r"`n_factors`.*\b0\b"),
        ({"hidden": ()}, r"`hidden`.*empty"),
        ({"hidden": (8, -1)}, r"`hidden\[1\]`.*-1\b"),
        ({"n_negatives": 0}, r"`n_negatives`.*\b0\b"),
    ],
)
def test_settings_are_checked(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        NeuMF(**settings)


def test_it_must_be_fitted() -> None:
    with pytest.raises(NotFittedError, match=r"NeuMF.*not fitted.*`fit"):
        NeuMF().scorer()


def test_as_many_items_are_drawn_as_asked_for(torch: ModuleType, data: Interactions) -> None:
    source = NeuMF(**SMALL, n_negatives=3)._source(data, torch.device("cpu"))
    assert next(source.epoch(torch.Generator(), 0)).negatives.shape == (64, 3)


def test_a_batch_of_everything_takes_no_more_than_there_is(
    torch: ModuleType, data: Interactions
) -> None:
    learner = NeuMFLearner(NeuMF(batch_size=10**12), data, torch.device("cpu"))
    assert learner.tensors["gains"].shape == (8, 1)


def test_gradients_do_not_depend_on_which_thread_adds_first(
    torch: ModuleType, data: Interactions
) -> None:
    """Tens of thousands of rows of a few items: torch's own indexing adds them in any order."""
    learner = learner_of(torch, data, hidden=(32,), batch_size=5000, n_negatives=30)
    source = learner.model._source(data, torch.device("cpu"))
    (batch,) = source.epoch(torch.Generator().manual_seed(0), 0)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        found = [
            torch.autograd.grad(learner.loss(batch, None), learner.tensors["item_embedding"])[0]
            for _ in range(4)
        ]
    finally:
        torch.set_num_threads(threads)
    assert found[0].abs().max() > 1e-4
    assert all(torch.equal(found[0], one) for one in found)
