"""Each loss by its own equation, in plain numpy on rows that are worked out one by one."""

import math

import numpy as np
import pytest

from fullrank import losses

POSITIVE = np.array([0.9, -0.2, 0.4])
NEGATIVES = np.array([[0.3, 0.95, -0.5, 0.0], [0.1, -0.1, 0.2, 0.6], [-0.9, -0.8, 0.45, 0.41]])
EXTRA = np.array([[0.8, 0.7], [0.0, 0.65], [0.5, -0.1]])
SHARES = np.array([0.0, 0.1, 0.3])
PLAIN = {
    "softmax": (
        {"temperature": 0.5},
        lambda p, n: -math.log(math.exp(2 * p) / sum(math.exp(2 * s) for s in n)),
    ),
    "bpr": ({}, lambda p, n: sum(math.log(1 + math.exp(s - p)) for s in n)),
    "mse": ({"negative_weight": 3.0}, lambda p, n: (1 - p) ** 2 + 3 * sum(s * s for s in n) / 4),
    "ccl": (
        {"margin": 0.25, "negative_weight": 3.0},
        lambda p, n: 1 - p + 3 * sum(max(0, s - 0.25) for s in n) / 4,
    ),
    "info-nce": (
        {"temperature": 0.5},
        lambda p, n: (
            -math.log(math.exp(2 * p) / (math.exp(2 * p) + sum(math.exp(2 * s) for s in n)))
        ),
    ),
    "mine": ({}, lambda p, n: -(p - math.log(sum(math.exp(s) for s in n)))),
    "mine-plus": (
        {"temperature": 0.5, "negative_weight": 1.3},
        lambda p, n: -(2 * p - 1.3 * math.log(sum(math.exp(2 * s) for s in n))),
    ),
}
DEBIASED = {
    "debiased-mse": (
        {"negative_weight": 3.0},
        lambda p, n, k, t: (
            (1 - p) ** 2 + 3 * (sum(s * s for s in n) / 4 - t * sum(s * s for s in k) / 2)
        ),
    ),
    "debiased-ccl": (
        {"margin": 0.25, "negative_weight": 3.0},
        lambda p, n, k, t: (
            1
            - p
            + 3 * (sum(max(0, s - 0.25) for s in n) / 4 - t * sum(max(0, s - 0.25) for s in k) / 2)
        ),
    ),
    "debiased-info-nce": (
        {"temperature": 0.5, "negative_weight": 6.0},
        lambda p, n, k, t: (
            -math.log(
                math.exp(2 * p)
                / (
                    math.exp(2 * p)
                    + 6
                    * max(
                        (
                            sum(math.exp(2 * s) for s in n) / 4
                            - t * sum(math.exp(2 * s) for s in k) / 2
                        )
                        / (1 - t),
                        math.exp(-2),
                    )
                )
            )
        ),
    ),
}


@pytest.fixture
def torch(need):
    return need("torch")


@pytest.mark.parametrize("name", PLAIN)
def test_plain_losses(torch, name):
    settings, by_hand = PLAIN[name]
    rows = [torch.tensor(one) for one in (POSITIVE, NEGATIVES)]
    function = losses.LOSSES[name].function
    expected = [by_hand(p, n) for p, n in zip(POSITIVE, NEGATIVES, strict=True)]
    found = function(*rows, **settings, reduction="none")
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert function(*rows, **settings).item() == pytest.approx(np.mean(expected), rel=1e-12)


@pytest.mark.parametrize("name", DEBIASED)
def test_debiased_losses_with_a_share_for_each_row(torch, name):
    settings, by_hand = DEBIASED[name]
    rows = [torch.tensor(one) for one in (POSITIVE, NEGATIVES, EXTRA)]
    function = losses.LOSSES[name].function
    expected = [
        by_hand(p, n, k, t) for p, n, k, t in zip(POSITIVE, NEGATIVES, EXTRA, SHARES, strict=True)
    ]
    found = function(*rows, positive_share=torch.tensor(SHARES), **settings, reduction="none")
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    mean = function(*rows, positive_share=torch.tensor(SHARES), **settings)
    assert mean.item() == pytest.approx(np.mean(expected), rel=1e-12)


def test_every_loss_is_compared_with_its_equation():
    assert {*PLAIN, *DEBIASED, "sampled-softmax"} == set(losses.LOSSES)


def test_sampled_softmax_divides_by_the_chance_of_a_draw(torch):
    chances = np.array([[0.5, 0.1, 0.2, 0.2], [0.1, 0.1, 0.1, 0.7], [0.25] * 4])
    found = losses.sampled_softmax(
        torch.tensor(POSITIVE),
        torch.tensor(NEGATIVES),
        log_probability=torch.tensor(np.log(chances)),
        temperature=0.5,
        reduction="none",
    )
    total = (np.exp(2 * NEGATIVES) / chances).mean(axis=1)
    expected = -np.log(np.exp(2 * POSITIVE) / (np.exp(2 * POSITIVE) + total))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_sampled_softmax_of_many_draws_is_the_softmax(torch):
    random = np.random.default_rng(0)
    scores = random.normal(size=200)
    chances = random.dirichlet(np.full(200, 5.0))
    drawn = random.choice(200, 400_000, p=chances)
    found = losses.sampled_softmax(
        torch.tensor(scores[:1]),
        torch.tensor(scores[drawn])[None],
        log_probability=torch.tensor(np.log(chances[drawn])),
    )
    # the positive is counted once more than in the softmax, where it is one of the items
    whole = torch.tensor(np.append(scores, scores[0]))[None]
    exact = losses.softmax(torch.tensor(scores[:1]), whole)
    assert found.item() == pytest.approx(exact.item(), abs=0.01)
    flat = losses.info_nce(torch.tensor(scores[:1]), torch.tensor(scores[drawn])[None])
    assert abs(flat.item() - exact.item()) > 1  # so that the test can tell them apart


def test_the_corrected_mean_does_not_fall_below_its_lowest(torch):
    positive = torch.tensor([0.5], requires_grad=True)
    negatives = torch.tensor([[-0.5, -0.9]], requires_grad=True)
    extra = torch.tensor([[0.9]], requires_grad=True)
    loss = losses.debiased_info_nce(positive, negatives, extra, positive_share=0.4)
    loss.backward()
    assert loss.item() == pytest.approx(math.log(1 + 2 * math.exp(-1.5)), rel=1e-6)
    assert positive.grad.item() < 0
    assert not negatives.grad.any()
    assert not extra.grad.any()


def test_without_a_lowest_score_nothing_may_be_left(torch):
    loss = losses.debiased_info_nce(
        torch.tensor([0.5]),
        torch.tensor([[-0.5]]),
        torch.tensor([[0.9]]),
        positive_share=0.4,
        lowest_score=-math.inf,
    )
    assert loss.item() == 0.0


def test_share_of_positives(torch):
    known = torch.tensor([10, 40, 900])
    found = losses.positive_share(known, 1000, growth=0.5, unseen=5)
    np.testing.assert_allclose(found, [0.02, 0.065, 0.5], rtol=1e-6)


@pytest.mark.parametrize("name", losses.LOSSES)
def test_the_registry_says_what_a_loss_takes(torch, name):
    loss = losses.LOSSES[name]
    given = {}
    if loss.extra_positives:
        given["positive_share"] = 0.1
    if loss.log_probability:
        given["log_probability"] = torch.zeros(4)
    extra = [torch.tensor(EXTRA)] if loss.extra_positives else []
    found = loss.function(
        torch.tensor(POSITIVE), torch.tensor(NEGATIVES), *extra, **loss.settings, **given
    )
    assert found.shape == ()
    assert math.isfinite(found.item())
    assert loss.similarity in ("dot", "cosine")
    assert "reduction" not in loss.settings


def test_settings_of_a_loss_have_its_defaults():
    assert losses.LOSSES["mine-plus"].settings == {"temperature": 0.15, "negative_weight": 1.2}
    assert losses.LOSSES["bpr"].settings == {}
