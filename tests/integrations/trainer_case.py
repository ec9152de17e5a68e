"""Tiny models and data for the tests of the Hugging Face Trainer's hooks.

Run as a script it evaluates as one of several processes: trainer_case.py FOLDER
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import Trainer, TrainingArguments

from fullrank.torch import compute_metrics, preprocess_logits

N_ROWS, N_ITEMS = 22, 30


class NextItem(torch.nn.Module):
    """Scores of all items from the histories; those in the history are -inf."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.items = torch.nn.Embedding(N_ITEMS, 4)
        self.more = False

    def scores(self, history: torch.Tensor) -> torch.Tensor:
        scores = (self.items(history).sum(-2) @ self.items.weight.T * 2).round()
        return scores.scatter(-1, history, -torch.inf)

    def forward(self, history: Any, labels: Any = None, user: Any = None) -> dict[str, Any]:
        scores = self.scores(history)
        loss = torch.nn.functional.cross_entropy(scores, labels)
        hidden = {"hidden": self.items(history)} if self.more else {}
        return {"loss": loss, "logits": scores, **hidden}


class EveryPosition(NextItem):
    """Scores of all items at every position of a sequence."""

    def scores(self, history: torch.Tensor) -> torch.Tensor:
        return (self.items(history) @ self.items.weight.T * 2).round()

    def forward(self, history: Any, labels: Any = None, user: Any = None) -> dict[str, Any]:
        scores = self.scores(history)
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten())
        return {"loss": loss, "logits": scores}


def rows() -> list[dict[str, Any]]:
    """Rows of a history of three items, the next item and a user."""
    draw = np.random.default_rng(0)
    items = np.array([draw.permutation(N_ITEMS)[:4] for _ in range(N_ROWS)])
    return [
        {"history": one[:3], "labels": one[3], "user": 1000 + number}
        for number, one in enumerate(items)
    ]


def sequences() -> list[dict[str, Any]]:
    """Sequences of one to nine positions, each labelled with the item that follows."""
    draw = np.random.default_rng(1)
    made = [draw.integers(0, N_ITEMS, size=2 + number % 9) for number in range(N_ROWS)]
    return [{"history": one[:-1], "labels": one[1:]} for one in made]


def padded(batch: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
    """A batch as long as its own longest sequence; labels are padded by -100."""
    length = max(len(one["history"]) for one in batch)

    def filled(name: str, value: int) -> torch.Tensor:
        found = torch.full((len(batch), length), value)
        for number, one in enumerate(batch):
            found[number, : len(one[name])] = torch.as_tensor(one[name])
        return found

    return {"history": filled("history", 0), "labels": filled("labels", -100)}


def trainer(model: Any, folder: Any, metrics: Any, data: Any, **settings: Any) -> Trainer:
    own = {
        name: settings.pop(name) for name in ("data_collator", "preprocess_logits_for_metrics")
        if name in settings
    }  # fmt: skip
    quiet = {
        "report_to": "none", "disable_tqdm": True, "use_cpu": True, "save_strategy": "no",
        "per_device_eval_batch_size": 4, "per_device_train_batch_size": 4,
    }  # fmt: skip
    return Trainer(
        model=model,
        args=TrainingArguments(str(folder), **quiet | settings),
        train_dataset=data,
        eval_dataset=data,
        compute_metrics=metrics,
        **{"preprocess_logits_for_metrics": preprocess_logits} | own,
    )


def main(folder: str) -> None:
    """Write what this process evaluated, for rows and for sequences of different lengths."""
    found = {}
    for name, model, data, more in (
        ("rows", NextItem(), rows(), {"label_names": ["labels", "user"]}),
        ("sequences", EveryPosition(), sequences(), {"data_collator": padded}),
    ):
        metrics = compute_metrics("ndcg@10, rr")
        found[name] = trainer(model, folder, metrics, data, **more).evaluate()
        found[name]["targets"] = metrics.exact().total_targets
    Path(folder, f"{os.environ['RANK']}.json").write_text(json.dumps(found))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
