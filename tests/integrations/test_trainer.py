"""The hooks of the Hugging Face Trainer inside real Trainers."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import fullrank as fr
from fullrank.errors import InputError

pytestmark = pytest.mark.filterwarnings("default")  # the Trainer's own advice on devices


@pytest.fixture(scope="module")
def case(need: Callable[[str], ModuleType]) -> Any:
    need("transformers")
    need("accelerate")
    from tests.integrations import trainer_case

    return trainer_case


def expected(case: Any, model: Any) -> fr.ExactRanks:
    """`fr.rank` on the model's scores, with the histories masked."""
    import torch

    data = case.rows()
    with torch.no_grad():
        scores = model.scores(torch.tensor(np.array([one["history"] for one in data]))).numpy()
    targets = np.array([one["labels"] for one in data])
    users = np.arange(len(data))
    allowed = scores > -np.inf
    found = [
        (scores[user][allowed[user]] > scores[user, targets[user]]).sum()
        + (scores[user][allowed[user]] == scores[user, targets[user]]).sum() / 2
        + 0.5
        for user in users
    ]
    return fr.ExactRanks.from_ranks(found, n_items=allowed.sum(1), pool="unseen")


def expected_sequences(case: Any, model: Any) -> fr.ExactRanks:
    import torch

    scores, targets = [], []
    for one in case.sequences():
        with torch.no_grad():
            scores.append(model.scores(torch.as_tensor(one["history"])).numpy())
        targets.append(one["labels"])
    joined = np.concatenate(scores)
    return fr.rank(joined, (np.arange(len(joined)), np.concatenate(targets)))


def of_eval(found: dict[str, Any]) -> dict[str, float]:
    own = ("eval_ndcg@10", "eval_rr")
    return {name.removeprefix("eval_"): found[name] for name in own}


@pytest.mark.parametrize(
    "settings",
    [{}, {"eval_do_concat_batches": False}, {"batch_eval_metrics": True},
     {"eval_accumulation_steps": 2}],
)  # fmt: skip
@pytest.mark.parametrize("more", [False, True])
def test_metrics_of_rows(case: Any, tmp_path: Path, settings: Any, more: bool) -> None:
    from fullrank.torch import compute_metrics

    model = case.NextItem()
    model.more = more  # then the outputs are a tuple
    metrics = compute_metrics("ndcg@10, rr")
    run = case.trainer(model, tmp_path, metrics, case.rows(), **settings)
    truth = expected(case, model)
    for _ in range(2):  # nothing is left of the evaluation before
        assert of_eval(run.evaluate()) == truth.metrics("ndcg@10, rr")
    assert metrics.exact().ranks.tolist() == truth.ranks.tolist()
    assert metrics.exact().item.tolist() == [one["labels"] for one in case.rows()]
    assert metrics.exact().user.tolist() == list(range(case.N_ROWS))


def test_users_are_the_second_label_name(case: Any, tmp_path: Path) -> None:
    from fullrank.torch import compute_metrics

    model, metrics = case.NextItem(), compute_metrics("ndcg@10, rr")
    names = {"label_names": ["labels", "user"]}
    run = case.trainer(model, tmp_path, metrics, case.rows(), **names)
    assert of_eval(run.evaluate()) == expected(case, model).metrics("ndcg@10, rr")
    assert metrics.exact().user.tolist() == [one["user"] for one in case.rows()]
    twice = [{**one, "user": 7} for one in case.rows()]
    with pytest.raises(InputError, match=r"label_names.*\b21 of 22\b"):
        run.evaluate(twice)


@pytest.mark.parametrize("settings", [{}, {"eval_do_concat_batches": False}])
def test_metrics_of_sequences_of_different_lengths(
    case: Any, tmp_path: Path, settings: Any
) -> None:
    from fullrank.torch import compute_metrics

    model, metrics = case.EveryPosition(), compute_metrics("ndcg@10, rr")
    settings = {"data_collator": case.padded, **settings}
    run = case.trainer(model, tmp_path, metrics, case.sequences(), **settings)
    truth = expected_sequences(case, model)
    assert of_eval(run.evaluate()) == truth.metrics("ndcg@10, rr")
    assert metrics.exact().ranks.tolist() == truth.ranks.tolist()


def test_what_is_kept_is_three_numbers_per_target(case: Any, tmp_path: Path) -> None:
    from fullrank.torch import compute_metrics

    run = case.trainer(case.NextItem(), tmp_path, compute_metrics("rr"), case.rows())
    kept = run.predict(case.rows()).predictions
    assert kept.shape == (case.N_ROWS, 3)
    assert kept.dtype == np.int64


def test_the_best_model_is_chosen_by_it(case: Any, tmp_path: Path) -> None:
    from fullrank.torch import compute_metrics

    run = case.trainer(
        case.NextItem(), tmp_path, compute_metrics("ndcg@10"), case.rows(), num_train_epochs=3,
        eval_strategy="epoch", save_strategy="epoch", learning_rate=0.5,
        load_best_model_at_end=True, metric_for_best_model="eval_ndcg@10",
    )  # fmt: skip
    run.train()
    values = [one["eval_ndcg@10"] for one in run.state.log_history if "eval_ndcg@10" in one]
    assert len(values) == 3
    assert run.state.best_metric == max(values)
    assert run.evaluate()["eval_ndcg@10"] == max(values)


def test_logits_that_were_not_counted_are_refused(case: Any, tmp_path: Path) -> None:
    from fullrank.torch import compute_metrics

    run = case.trainer(
        case.NextItem(), tmp_path, compute_metrics("rr"), case.rows(),
        preprocess_logits_for_metrics=None,
    )  # fmt: skip
    with pytest.raises(InputError, match=r"`predictions`.*float32.*preprocess_logits"):
        run.evaluate()


def test_causal_models_are_shifted(case: Any, tmp_path: Path) -> None:
    """Labels that are the inputs themselves: the logits of a position are of the item after it."""
    from fullrank.torch import compute_metrics, preprocess_logits

    data = case.sequences()
    causal = []
    for one in data:
        whole = np.append(one["history"], one["labels"][-1])
        causal.append({"history": whole, "labels": whole})
    model, metrics = case.EveryPosition(), compute_metrics("ndcg@10, rr")
    run = case.trainer(
        model, tmp_path, metrics, causal, data_collator=case.padded,
        preprocess_logits_for_metrics=partial(preprocess_logits, shift=True),
    )  # fmt: skip
    truth = expected_sequences(case, model)
    assert of_eval(run.evaluate()) == truth.metrics("ndcg@10, rr")
    assert metrics.exact().item.tolist() == truth.item.tolist()


@pytest.mark.slow
def test_two_processes_evaluate_as_one(case: Any, tmp_path: Path) -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    around = os.environ | {
        "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
        "ACCELERATE_USE_CPU": "true",
    }  # fmt: skip
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.integrations.trainer_case", str(tmp_path)],
            cwd=Path(__file__).parents[2], text=True, stderr=subprocess.PIPE,
            env=around | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(2)
    ]  # fmt: skip
    said = [run.communicate(timeout=300)[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    truth = {
        "rows": expected(case, case.NextItem()),
        "sequences": expected_sequences(case, case.EveryPosition()),
    }
    for rank in range(2):
        found = json.loads((tmp_path / f"{rank}.json").read_text())
        for name, ranks in truth.items():
            assert of_eval(found[name]) == ranks.metrics("ndcg@10, rr")
            assert found[name]["targets"] == ranks.total_targets
