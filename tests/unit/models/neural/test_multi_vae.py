import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from fullrank.data import Interactions
from fullrank.errors import InputError, NotFittedError
from fullrank.models import MultiDAE, MultiVAE, load
from fullrank.models.neural.learners.multinomial import MultinomialLearner, divergence
from fullrank.models.training.batches import Histories
from fullrank.ranking import rank

KINDS = [MultiDAE, MultiVAE]
SMALL = {"n_factors": 6, "epochs": 5, "batch_size": 64, "learning_rate": 0.01}


pytestmark = pytest.mark.usefixtures("torch")


def some_of(data: Interactions, chosen: list[int]) -> Interactions:
    """The histories of these users, as if they were new."""
    users, items = data.pairs()
    rows = [(new, item) for new, old in enumerate(chosen) for item in items[users == old]]
    return Interactions.from_arrays(
        *np.array(rows).T, user_ids=np.arange(len(chosen)), item_ids=data.item_ids
    )


def test_the_divergence_is_that_of_torch(torch: ModuleType) -> None:
    generator = torch.Generator().manual_seed(0)
    mean = torch.randn((5, 3), generator=generator, dtype=torch.float64)
    log_variance = torch.randn((5, 3), generator=generator, dtype=torch.float64)
    normal = torch.distributions.Normal(mean, (log_variance / 2).exp())
    known = torch.distributions.kl_divergence(normal, torch.distributions.Normal(0.0, 1.0))
    torch.testing.assert_close(divergence(mean, log_variance), known.sum(1))


def test_z_is_drawn_with_the_mean_and_the_variance_of_the_encoder(torch: ModuleType) -> None:
    """40,000 draws: 5 standard errors of a mean and of a deviation, with room for rounding."""
    top = torch.tensor([0.5, -2.0, math.log(9.0), math.log(0.25)]).expand(40_000, 4)
    z, cost = MultiVAE(n_factors=2)._latent(top, 0.3, torch.Generator().manual_seed(0))
    deviations = np.array([3.0, 0.5])
    off = np.abs(z.mean(0).numpy() - [0.5, -2.0]) / deviations
    assert (off < 5 / 200).all()
    np.testing.assert_allclose(z.std(0).numpy(), deviations, rtol=5 / math.sqrt(80_000))
    assert cost.item() == pytest.approx(0.3 * divergence(top[:1, :2], top[:1, 2:]).item())


def test_beta_rises_step_by_step_and_stays() -> None:
    model = MultiVAE(beta=0.5, annealing=4)
    found = [model._strength(step, 10) for step in (0, 10, 20, 40, 41, 1000)]
    np.testing.assert_allclose(found, [0, 0.125, 0.25, 0.5, 0.5, 0.5])
    assert MultiVAE(beta=0.5, annealing=0)._strength(0, 10) == 0.5
    assert MultiDAE()._strength(99, 10) == 0


def test_the_learner_uses_the_step_of_the_batch(torch: ModuleType, data: Interactions) -> None:
    """The loss grows by β·KL, and β by the batches of an epoch: 150 users less one in 3."""
    model = MultiVAE(**SMALL, hidden=(8,), dropout=0, beta=1.0, annealing=2)
    learner = MultinomialLearner(model, data, torch.device("cpu"))
    assert learner.steps_per_epoch == 3
    batch = next(iter(Histories(data, batch_size=64, device="cpu").epoch(torch.Generator(), 0)))
    losses = [
        float(learner.loss(batch._replace(step=step), torch.Generator().manual_seed(1)).detach())
        for step in (0, 3, 6, 60)
    ]
    inputs = batch.dense()
    top = learner.encoded(inputs / inputs.sum(1, keepdim=True).sqrt()).detach()
    cost = float(divergence(top[:, :6], top[:, 6:]).mean())
    assert cost > 0.01
    np.testing.assert_allclose(np.diff(losses), [cost / 2, cost / 2, 0], rtol=1e-3, atol=1e-6)


def test_the_loss_is_the_surprise_at_the_history(torch: ModuleType, data: Interactions) -> None:
    model = MultiDAE(**SMALL, hidden=(9,), dropout=0)
    learner = MultinomialLearner(model, data, torch.device("cpu"))
    batch = next(iter(Histories(data, batch_size=20, device="cpu").epoch(torch.Generator(), 0)))
    scores = np.asarray(learner.scorer().scores(batch.users.numpy()))
    seen = data.matrix(np.float64).toarray()[batch.users.numpy()]
    chances = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    expected = -(seen * np.log(chances)).sum(1).mean()
    assert float(learner.loss(batch, torch.Generator()).detach()) == pytest.approx(expected, 1e-5)


def test_what_goes_in_has_gaps_and_what_comes_out_is_the_whole_history(
    torch: ModuleType, data: Interactions
) -> None:
    model = MultiDAE(**SMALL, dropout=0.7)
    learner = MultinomialLearner(model, data, torch.device("cpu"))
    batch = next(iter(Histories(data, batch_size=20, device="cpu").epoch(torch.Generator(), 0)))
    table = batch.dense()
    kept = torch.rand(table.shape, generator=torch.Generator().manual_seed(1)) >= 0.7
    with torch.no_grad():
        inputs = table / table.sum(1, keepdim=True).sqrt() * kept / 0.3
        scores = learner.decoded(learner.encoded(inputs).tanh())
        expected = -(table * scores.log_softmax(1)).sum(1).mean()
        found = learner.loss(batch, torch.Generator().manual_seed(1))
    torch.testing.assert_close(found, expected)


def test_inputs_are_dropped_and_keep_their_mean(torch: ModuleType) -> None:
    from fullrank.models.neural.learners.autoencoder import corrupted

    ones = torch.ones(400, 50)
    found = corrupted(torch, ones, 0.8, torch.Generator().manual_seed(0))
    assert found.unique().tolist() == pytest.approx([0.0, 5.0])
    assert float((found == 0).float().mean()) == pytest.approx(0.8, abs=0.01)  # 3.5 deviations
    assert corrupted(torch, ones, 0.0, None) is ones


@pytest.mark.parametrize("hidden", [(), (8,), (10, 7)])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_network(
    kind: type[MultiDAE], hidden: tuple[int, ...], torch: ModuleType, data: Interactions
) -> None:
    """Numpy's way from a history to scores is torch's, without dropout and with z at its mean."""
    model = kind(**SMALL, hidden=hidden)
    learner = MultinomialLearner(model, data, torch.device("cpu"))
    for name, tensor in learner.tensors.items():
        if "bias" in name:
            torch.nn.init.normal_(tensor, generator=torch.Generator().manual_seed(len(name)))
    table = torch.from_numpy(data.matrix().toarray())
    with torch.no_grad():
        top = learner.encoded(table / table.sum(1, keepdim=True).clamp(min=1).sqrt())
        scores = learner.decoded(top[:, :6] if kind is MultiVAE else top.tanh()).numpy()
    found = learner.scorer().scores(np.arange(150))
    np.testing.assert_allclose(found, scores, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_five_epochs_lower_the_loss_and_raise_the_metric(
    kind: type[MultiDAE], data: Interactions
) -> None:
    split = data.split(rng=0)
    model = kind(**SMALL, hidden=(16,), metric="ndcg@20").fit(split.train, valid=split.test)
    assert model.history_.loss[-1] < model.history_.loss[0] - 1
    assert model.history_.best_metric > 1.2 * model.history_.metric[0]
    ranks = rank(model, split.test, exclude=split.train).metrics("ndcg@20")["ndcg@20"]
    assert ranks == pytest.approx(model.history_.best_metric, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_new_users_are_scored_by_their_items(kind: type[MultiDAE], data: Interactions) -> None:
    model = kind(**SMALL, hidden=(8,)).fit(data)
    chosen = [30, 3, 3, 149]
    found = model.scorer(some_of(data, chosen)).scores(np.arange(4))
    np.testing.assert_array_equal(found, model.scorer().scores(chosen))
    assert model.fold_in().shape == (150, 8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_scores(kind: type[MultiDAE], data: Interactions) -> None:
    first, second, other = (
        kind(**SMALL, hidden=(8,), seed=seed).fit(data).scorer().scores([0, 1])
        for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 0.01


@pytest.mark.parametrize("hidden", [(), (8,)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_gives_the_same_scores(
    kind: type[MultiDAE], hidden: tuple[int, ...], data: Interactions, tmp_path: Path
) -> None:
    model = kind(**SMALL, hidden=hidden).fit(data)
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert repr(again) == repr(model)
    np.testing.assert_array_equal(
        again.scorer().scores(np.arange(150)), model.scorer().scores(np.arange(150))
    )
    np.testing.assert_array_equal(again.history_.loss, model.history_.loss)


def test_layers_that_do_not_fit_the_settings_are_refused(data: Interactions) -> None:
    model = MultiVAE(**SMALL, hidden=(8,)).fit(data)
    model.hidden = (8, 5)
    with pytest.raises(InputError, match=r"`encoder_`.*\b117\b.*\b108\b"):
        model.scorer()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_factors": 0}, r"`n_factors`.*\b0\b"),
        ({"hidden": 600.5}, r"`hidden`.*\(64, 32\).*\b600\.5\b"),
        ({"hidden": "600"}, r"`hidden`.*widths.*'600'"),
        ({"hidden": (64, 0)}, r"`hidden\[1\]`.*\b0\b"),
        ({"dropout": 1.0}, r"`dropout`.*not 1\b"),
        ({"dropout": -0.1}, r"`dropout`.*-0\.1\b"),
        ({"beta": -1}, r"`beta`.*-1\b"),
        ({"annealing": -1}, r"`annealing`.*-1\b"),
    ],
)
def test_settings_are_checked(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MultiVAE(**settings)


def test_it_must_be_fitted_and_over_the_same_items(data: Interactions) -> None:
    with pytest.raises(NotFittedError, match=r"MultiVAE.*not fitted.*`fit"):
        MultiVAE().scorer()
    model = MultiDAE(**SMALL | {"epochs": 1}).fit(data)
    with pytest.raises(InputError, match=r"`history`.*\b60\b.*\b1\b"):
        model.scorer(Interactions.from_arrays([0], [0]))
