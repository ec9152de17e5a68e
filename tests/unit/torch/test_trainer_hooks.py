"""The hooks of the Hugging Face Trainer on small cases worked by hand."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fullrank.errors import InputError, NotFittedError


@pytest.fixture
def torch(need: Callable[[str], ModuleType]) -> Any:
    return need("torch")


@pytest.fixture
def hooks(torch: Any) -> Any:
    from fullrank.torch import trainer_hooks

    return trainer_hooks


def evaluated(predictions: Any, labels: Any) -> Any:
    return SimpleNamespace(predictions=predictions, label_ids=labels)


def test_the_logits_are_those_with_an_axis_more_than_the_labels(torch: Any, hooks: Any) -> None:
    logits, labels = torch.tensor([[0.1, 0.9, 0.5], [0.2, 0.2, 0.0]]), torch.tensor([2, 0])
    found = [[1, 0, 3], [0, 1, 3]]
    assert hooks.preprocess_logits(logits, labels).tolist() == found
    cache = [torch.zeros(2)]
    assert hooks.preprocess_logits((cache, logits), (labels, labels)).tolist() == found
    assert hooks.preprocess_logits(logits.bfloat16(), labels).tolist() == found


def test_positions_without_a_label_count_nothing(torch: Any, hooks: Any) -> None:
    logits = torch.tensor([[[0.1, 0.9, 0.5], [0.2, 0.2, 0.0]]])
    found = hooks.preprocess_logits(logits, torch.tensor([[2, -100]]))
    assert found.tolist() == [[[1, 0, 3], [0, 0, 0]]]


def test_shifted_counts_stay_beside_their_labels(torch: Any, hooks: Any) -> None:
    logits = torch.tensor([[[0.1, 0.9, 0.5], [9.0, 9.0, 9.0]]])
    found = hooks.preprocess_logits(logits, torch.tensor([[0, 2]]), shift=True)
    assert found.tolist() == [[[0, 0, 0], [1, 0, 3]]]


@pytest.mark.parametrize(
    ("logits", "labels", "says"),
    [
        ((2, 3), (2, 2), r"`logits`.*3 axes.*\(2, 3\)"),
        (None, (2,), r"`logits`.*NoneType"),
        ((2, 3), None, r"`labels`.*None.*label_names"),
    ],
)
def test_shapes_that_do_not_fit(
    torch: Any, hooks: Any, logits: Any, labels: Any, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        hooks.preprocess_logits(
            None if logits is None else torch.zeros(logits),
            None if labels is None else torch.zeros(labels, dtype=torch.int64),
        )


def test_several_targets_of_one_row_of_logits_are_refused(torch: Any, hooks: Any) -> None:
    with pytest.raises(InputError, match=r"`logits`.*3 axes"):
        hooks.preprocess_logits(torch.zeros(2, 5), torch.zeros(2, 3, dtype=torch.int64))


def test_hidden_states_are_not_taken_for_logits(torch: Any, hooks: Any) -> None:
    """The Trainer passes outputs without their names; those of Hugging Face begin with logits."""
    hidden, logits = torch.rand(2, 4), torch.tensor([[0.1, 0.9, 0.5, 0.0, 0.0], [0.2] * 5])
    labels = torch.tensor([2, 0])
    assert hooks.preprocess_logits((logits, hidden), labels).tolist() == [[1, 0, 5], [0, 4, 5]]
    with pytest.raises(InputError, match=r"`logits`.*\(2, 4\).*\(2, 5\).*lambda"):
        hooks.preprocess_logits((hidden, logits), labels)
    pooled = torch.rand(2, 1, 5)  # with other positions than the labels
    found = hooks.preprocess_logits(
        (pooled, logits[:, None].expand(2, 3, 5)), labels[:, None].repeat(1, 3)
    )
    assert found.shape == (2, 3, 3)


def test_shift_needs_sequences(torch: Any, hooks: Any) -> None:
    with pytest.raises(InputError, match=r"`labels`.*`shift`"):
        hooks.preprocess_logits(torch.zeros(2, 5), torch.zeros(2, dtype=torch.int64), shift=True)


def test_padding_is_left_out(hooks: Any) -> None:
    """Row 0 of rank 1, row 1 of rank 3.5; the Trainer has padded counts and labels alike."""
    metrics = hooks.compute_metrics("rr, recall@3")
    counted = np.array([[[0, 0, 9], [-100, -100, -100]], [[2, 1, 9], [0, 0, 0]]])
    labels = np.array([[4, -100], [5, -100]])
    assert metrics(evaluated(counted, labels)) == {"rr": (1 + 1 / 3.5) / 2, "recall@3": 0.5}
    assert metrics.exact().item.tolist() == [4, 5]
    assert hooks.compute_metrics("rr", ties="best")(evaluated(counted, labels)) == {
        "rr": (1 + 1 / 3) / 2
    }


@pytest.mark.parametrize(
    ("counted", "labels", "says"),
    [
        ([[0, 0, 9], [-1, -1, -1]], [4, 6], r"`logits`.*NaN.*1 of 2.*\b6\b"),
        ([[0, 0, 9], [-2, -2, -2]], [4, 60], r"`labels`.*labels\[1\] = 60"),
        ([[0, 0, 0]], [-100], r"`label_ids`.*negative"),
        ([[0.0, 0.0, 9.0]], [4], r"`predictions`.*float64 of shape \(1, 3\).*preprocess_logits"),
        ([[0, 0, 9]], [[4, 5]], r"`predictions`.*\(1, 2, 3\)"),
    ],
)
def test_what_cannot_be_counted(hooks: Any, counted: Any, labels: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        hooks.compute_metrics()(evaluated(np.array(counted), np.array(labels)))


def test_users_of_rows_or_of_labels(hooks: Any) -> None:
    metrics = hooks.compute_metrics("rr")
    counted, labels = np.array([[[0, 0, 9], [1, 0, 9]]]), np.array([[4, 5]])
    metrics(evaluated(counted, (labels, np.array([[7, 8]]))))
    assert metrics.exact().user.tolist() == [7, 8]
    for users in ([7, 8], [[7, 8, 9]]):
        with pytest.raises(InputError, match=r"`label_ids`.*label_names.*\(1,\) or \(1, 2\)"):
            metrics(evaluated(counted, (labels, np.array(users))))


def test_outputs_that_were_not_counted(hooks: Any) -> None:
    outputs = (np.zeros((1, 9)), np.zeros((1, 4)))
    with pytest.raises(InputError, match=r"`predictions`.*tuple.*preprocess_logits"):
        hooks.compute_metrics()(evaluated(outputs, np.array([4])))


def test_metrics_are_parsed_at_once(hooks: Any) -> None:
    with pytest.raises(InputError, match="ndgc"):
        hooks.compute_metrics("ndgc@10")
    with pytest.raises(InputError, match=r"`ties`.*random"):
        hooks.compute_metrics(ties="random")
    with pytest.raises(NotFittedError, match="evaluated"):
        hooks.compute_metrics().exact()
    assert repr(hooks.compute_metrics("rr, auc")) == "compute_metrics('rr, auc')"


def test_an_interrupted_evaluation_in_batches_is_forgotten(hooks: Any) -> None:
    metrics = hooks.compute_metrics("rr")
    batch = evaluated(np.array([[3, 0, 9]]), np.array([4]))
    assert metrics(batch, compute_result=False) == {}
    metrics.reset()  # the Trainer stopped before the last batch
    assert metrics(evaluated(np.array([[0, 0, 9]]), np.array([5])), compute_result=True) == {
        "rr": 1
    }
