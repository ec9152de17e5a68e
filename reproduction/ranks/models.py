"""One fit for the stored ranks: settings tried on the validation items, or exact ranks of the test.

The ranks of a test are written to a file, everything else about a fit to a line of JSON.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

import fullrank
from fullrank.data import Interactions
from fullrank.models import EASE, IALS, ItemKNN
from fullrank.models.neural.multi_vae import MultiVAE
from fullrank.models.neural.neumf import NeuMF
from reproduction.ranks.data import World
from reproduction.ranks.settings import METRICS, NEURAL

KINDS: dict[str, Any] = {
    "EASE": EASE, "itemKNN": ItemKNN, "iALS": IALS, "MultiVAE": MultiVAE, "NeuMF": NeuMF,
}  # fmt: skip
SEED = 0


class Fitter:
    """Where a fit is made: the data, a device for what can use one, and threads for the rest."""

    def __init__(self, where: World, *, device: str | None = None, n_jobs: int | None = 1) -> None:
        self.where, self.n_jobs = where, n_jobs
        self.device = None if device == "cpu" else device

    def tried(self, one: dict[str, Any]) -> dict[str, Any]:
        """Learn with some settings; neural models keep their best epoch."""
        start = time.perf_counter()
        model = self._made(one)
        if one["model"] in NEURAL:
            model.fit(self.where.train, valid=self.where.valid, exclude=False)
            rates = {"rates": model.history_.rates}
        else:
            model, rates = self._fitted(model, self.where.train), {}
        found = self._rank(model, self.where.valid, ties="mean").metrics(METRICS)
        return one | rates | {"metrics": thousandths(found), "seconds": _since(start)}

    def tested(self, one: dict[str, Any], path: Path) -> dict[str, Any]:
        """Learn from everything, neural models as long as was best, and rank the test items."""
        start = time.perf_counter()
        model = self._made(one)
        if one["model"] in NEURAL:
            model.fit(self.where.whole, rates=one["rates"])
        else:
            model = self._fitted(model, self.where.whole)
        # equal scores in random order: a rank that is shared fits no sampling
        kept = self._rank(model, self.where.test, ties="random", rng=0)
        without = self._rank(model, self.where.test, exclude=self.where.whole, ties="random", rng=0)
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(
            path, kept=kept.ranks, excluded=without.ranks, n_items=self.where.whole.n_items
        )
        return one | {
            "metrics": thousandths(kept.metrics(METRICS)),
            "excluded": thousandths(without.metrics(METRICS)),
            "seconds": _since(start),
        }

    def _made(self, one: dict[str, Any]) -> Any:
        extra: dict[str, Any] = {}
        if one["model"] in NEURAL:
            extra = {"seed": SEED, "device": self.device}
        elif one["model"] != "EASE":
            extra = {"n_jobs": self.n_jobs} | ({"seed": SEED} if one["model"] == "iALS" else {})
        return KINDS[one["model"]](**one["settings"], **extra)

    def _fitted(self, model: Any, data: Interactions) -> Any:
        if isinstance(model, EASE) and self.device is not None:
            return ease_by_torch(data, model.regularization, self.device)
        return model.fit(data)

    def _rank(self, model: Any, targets: Interactions, **how: Any) -> Any:
        device = self.device if type(model).__name__ in (*NEURAL, "EASE") else None
        return fullrank.rank(model.scorer(), targets, device=device, n_jobs=self.n_jobs, **how)


def ease_by_torch(data: Interactions, regularization: float, device: str) -> EASE:
    """EASE with the inverse taken on a GPU, for catalogues that take a processor minutes."""
    import torch

    users, items = (torch.from_numpy(rows.astype(np.int64)).to(device) for rows in data.pairs())
    table = torch.zeros((data.n_users, data.n_items), dtype=torch.float64, device=device)
    table[users, items] = 1.0
    square = table.T @ table
    del table
    square.diagonal().add_(regularization)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(square))
    del square
    inverse /= -inverse.diagonal().clone()
    inverse.fill_diagonal_(0.0)
    model = EASE(regularization=regularization)
    model.weights_ = inverse.to(torch.float32).cpu().numpy()
    model.interactions_ = data
    return model


def thousandths(found: dict[str, float]) -> dict[str, float]:
    # more digits than a page shows
    return {name: round(1000 * value, 6) for name, value in found.items()}


def _since(start: float) -> float:
    return round(time.perf_counter() - start, 1)
