"""What the losses refuse, in one sentence each."""

import re
import subprocess
import sys

import pytest

from fullrank import losses
from fullrank.errors import InputError

IN_ONE = {
    "softmax": {"temperature": 0.0},
    "info_nce": {"temperature": -1.0},
    "mine_plus": {"temperature": 0.0},
}


@pytest.fixture
def torch(need):
    return need("torch")


def refused(says):
    return pytest.raises(InputError, match=says)


def test_scores_must_be_tensors(torch):
    with refused(r"`positive`.*\blist\b"):
        losses.bpr([1.0], torch.zeros(1, 1))
    with refused(r"`negatives`.*\bfloat\b"):
        losses.bpr(torch.zeros(1), 0.5)


def test_scores_must_be_real(torch):
    with refused(r"`negatives`.*\btorch\.int64\b"):
        losses.mse(torch.zeros(2), torch.zeros(2, 3, dtype=torch.int64))


@pytest.mark.parametrize("shape", [(3, 4), (2,), (2, 0), (2, 2, 4), ()])
def test_negatives_must_have_the_rows_of_the_positives(torch, shape):
    message = rf"`negatives`.*`positive`.*\(2, n ≥ 1\).*{re.escape(str(shape))}"
    with refused(message):
        losses.mine(torch.zeros(2), torch.zeros(shape))


def test_the_argument_at_fault_is_named(torch):
    with refused(r"`extra_positives`.*`positive`.*\(2, n ≥ 1\).*\(3, 1\)"):
        losses.debiased_mse(
            torch.zeros(2), torch.zeros(2, 1), torch.zeros(3, 1), positive_share=0.1
        )
    with refused(r"`catalogue`.*`positive`.*\(2, n ≥ 1\).*\(1, 9\)"):
        losses.softmax(torch.zeros(2), torch.zeros(1, 9))


@pytest.mark.parametrize("name", IN_ONE)
def test_temperature_must_be_above_zero(torch, name):
    number = IN_ONE[name]["temperature"]
    with refused(rf"`temperature`.*{number:g}"):
        getattr(losses, name)(torch.zeros(1), torch.zeros(1, 2), **IN_ONE[name])


def test_temperature_must_be_a_number(torch):
    with refused(r"`temperature`.*'warm'"):
        losses.info_nce(torch.zeros(1), torch.zeros(1, 2), temperature="warm")
    with refused(r"`temperature`.*\bnan\b"):
        losses.mine_plus(torch.zeros(1), torch.zeros(1, 2), temperature=float("nan"))


def test_weights_of_negatives(torch):
    with refused(r"`negative_weight`.*-1\b"):
        losses.ccl(torch.zeros(1), torch.zeros(1, 2), negative_weight=-1)
    with refused(r"`negative_weight`.*not 0\b"):
        losses.info_nce(torch.zeros(1), torch.zeros(1, 2), negative_weight=0)


def test_margin_is_a_cosine(torch):
    with refused(r"`margin`.*\b1\.5\b"):
        losses.ccl(torch.zeros(1), torch.zeros(1, 2), margin=1.5)


@pytest.mark.parametrize("number", [-0.1, 1.0])
def test_a_share_is_below_one(torch, number):
    with refused(rf"`positive_share`.*{number:g}"):
        losses.debiased_ccl(
            torch.zeros(1), torch.zeros(1, 2), torch.zeros(1, 2), positive_share=number
        )


def test_shares_are_one_for_each_row(torch):
    with refused(r"`positive_share`.*`positive`.*\(3,\).*\(2,\)"):
        losses.debiased_info_nce(
            torch.zeros(3), torch.zeros(3, 2), torch.zeros(3, 2), positive_share=torch.zeros(2)
        )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_known": [1]}, r"`n_known`.*\blist\b"),
        ({"n_items": 0}, r"`n_items`.*\b0\b"),
        ({"growth": -1}, r"`growth`.*-1\b"),
        ({"unseen": "many"}, r"`unseen`.*'many'"),
    ],
)
def test_what_a_share_is_made_of(torch, given, message):
    with refused(message):
        losses.positive_share(**{"n_known": torch.ones(2), "n_items": 5} | given)


def test_lowest_score_is_a_number_or_minus_infinity(torch):
    with refused(r"`lowest_score`.*\binf\b"):
        losses.debiased_info_nce(
            torch.zeros(1),
            torch.zeros(1, 2),
            torch.zeros(1, 2),
            positive_share=0.1,
            lowest_score=float("inf"),
        )


def test_log_probability_goes_with_the_negatives(torch):
    with refused(r"`log_probability`.*`negatives`.*\(2, 3\).*\(4,\)"):
        losses.sampled_softmax(torch.zeros(2), torch.zeros(2, 3), log_probability=torch.zeros(4))
    with refused(r"`log_probability`.*\bfloat\b"):
        losses.sampled_softmax(torch.zeros(2), torch.zeros(2, 3), log_probability=-1.0)


@pytest.mark.parametrize("name", losses.LOSSES)
def test_reduction_is_chosen_from_those_there_are(torch, name):
    loss = losses.LOSSES[name]
    scores = [torch.zeros(1), torch.zeros(1, 2)] + [torch.zeros(1, 2)] * loss.extra_positives
    given = {"positive_share": 0.1} if loss.extra_positives else {}
    if loss.log_probability:
        given["log_probability"] = torch.zeros(2)
    with refused(r"`reduction`.*'mean', 'none'.*'sum'"):
        loss.function(*scores, reduction="sum", **given)


def test_the_package_comes_without_torch():
    code = "import sys, fullrank.losses; print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
