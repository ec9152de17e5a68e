"""A tiny recommender and its data, for the tests of the Lightning callback.

Run as a script it validates with several processes: lightning_case.py PROCESSES OUT
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lightning import pytorch as pl
from torch.utils.data import DataLoader

from fullrank.torch import RankCallback

N_USERS, N_ITEMS = 23, 40


class Data(torch.utils.data.Dataset[dict[str, Any]]):
    """User, target and two seen items of each row; some users have two targets."""

    def __init__(self, seed: int = 0) -> None:
        draw = np.random.default_rng(seed)
        items = np.array([draw.permutation(N_ITEMS)[:4] for _ in range(N_USERS)])
        rows = [(u, items[u, 0], items[u, 2:]) for u in range(N_USERS)]
        rows += [(u, items[u, 1], items[u, 2:]) for u in range(0, N_USERS, 3)]
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        user, target, seen = self.rows[index]
        return {"user": user, "target": target, "seen": seen}


class Model(pl.LightningModule):
    """A product of two embeddings, which returns what `returns` makes of batch and scores."""

    def __init__(self, returns: Any = None) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.users = torch.nn.Embedding(N_USERS, 5)
        self.items = torch.nn.Embedding(N_ITEMS, 5)
        self.returns = returns or (lambda batch, scores: {"scores": scores})

    def forward(self, users: torch.Tensor) -> torch.Tensor:
        # rounded, so that scores tie and no order of sums can change one
        return ((self.users(users) @ self.items.weight.T) * 4).round()

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        scores = self.users(batch["user"]) @ self.items.weight.T
        return torch.nn.functional.cross_entropy(scores, batch["target"])

    def validation_step(self, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> Any:
        users = batch["user"] if isinstance(batch, dict) else batch[0]
        return self.returns(batch, self(users))

    test_step = validation_step

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=1.0)


def loader(seed: int = 0, **settings: Any) -> DataLoader[dict[str, Any]]:
    return DataLoader(Data(seed), batch_size=4, **settings)


def trainer(**settings: Any) -> pl.Trainer:
    quiet = {
        "logger": False, "enable_progress_bar": False, "enable_model_summary": False,
        "enable_checkpointing": False, "accelerator": "cpu",
    }  # fmt: skip
    return pl.Trainer(**quiet | settings)


def main(n_processes: int, folder: str) -> None:
    """Write, for each process, what it logged, its ranks and what Lightning warned of."""
    callback = RankCallback("ndcg@10, recall@3, rr", exclude="seen")
    several = {"devices": n_processes, "strategy": "ddp"} if n_processes > 1 else {}
    run = trainer(callbacks=[callback], **several)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run.validate(Model(), loader(), verbose=False)
    result = {
        "logged": {name: value.item() for name, value in run.callback_metrics.items()},
        "warnings": [str(one.message) for one in caught],
        "alone": callback.exact().metrics("ndcg@10") if run.global_rank == 0 else None,
        "rows": len(callback.exact().ranks) if run.global_rank == 0 else None,
    }
    Path(folder, f"{run.global_rank}.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
