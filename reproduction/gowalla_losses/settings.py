"""The candidate settings of each case of the study of losses.

MINE+ and debiased CCL appear twice: with the weights, temperature and margin of Tables 19 and 20 of
Li (dissertation), and with searched settings like the others. Candidates are in the order in which
they are tried, the likely ones first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reproduction.gowalla_losses.published import gowalla

METRICS = ("recall@20", "ndcg@20")
# the cases as they are shown
NAMES = {
    "bpr": "BPR",
    "mse": "MSE",
    "debiased-mse": "MSE, debiased",
    "info-nce": "InfoNCE",
    "debiased-info-nce": "InfoNCE, debiased",
    "mine": "MINE",
    "ccl": "CCL",
    "debiased-ccl": "CCL, debiased",
    "mine-plus": "MINE+",
    "debiased-ccl, as published": "CCL, debiased, Table 20's weight and margin",
    "mine-plus, as published": "MINE+, Table 19's weight and temperature",
}

COMMON: dict[str, Any] = {
    "n_factors": 64,
    "n_negatives": 4096,
    "shared_negatives": True,
    "batch_size": 2048,
    "initial_scale": 0.01,
    "learning_rate": 0.002,
    "epochs": 24,
    "seed": 0,
}
QUICK_COMMON: dict[str, Any] = {
    "n_factors": 8,
    "n_negatives": 50,
    "epochs": 2,
    "batch_size": 1024,
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A loss, and what is tried."""

    loss: str
    candidates: list[dict[str, Any]]
    base: dict[str, Any] = field(default_factory=dict)
    as_published: bool = False  # the weights of Table 19 or 20; `outcome.unlike` has the rest

    @property
    def published(self) -> tuple[float, float]:
        """Recall@20 and NDCG@20 in percent."""
        return gowalla(self.loss)


# Cosines do not depend on the length of the vectors, which grows with every step: the initial rate
# matters little, its decrease towards the end much.
_COSINE = {"learning_rate": 0.005}
_FURTHER = {"n_positives": 20}


def grid(keys: str, *rows: tuple[float, ...]) -> list[dict[str, Any]]:
    """A candidate for each row, its values under the names in `keys`."""
    return [dict(zip(keys.split(), row, strict=True)) for row in rows]


_SQUARES = grid("weight_decay negative_weight", (1e-6, 30.0), (3e-6, 30.0), (1e-6, 60.0))

CASES: dict[str, Case] = {
    "mine-plus": Case(
        loss="mine-plus",
        base=_COSINE | {"weight_decay": 1e-8},
        candidates=grid(
            "temperature negative_weight epochs",
            (0.1, 1.2, 24),
            (0.1, 1.2, 48),
            (0.1, 1.3, 24),
            (0.12, 1.2, 24),
        ),
    ),
    "ccl": Case(
        loss="ccl",
        base=_COSINE | {"margin": 0.9},
        candidates=grid(
            "weight_decay negative_weight batch_size epochs",
            (1e-9, 300.0, 2048, 24),
            (1e-9, 300.0, 2048, 48),
            (1e-9, 150.0, 2048, 96),
            (1e-5, 150.0, 2048, 48),
            (1e-9, 150.0, 1024, 48),
            (1e-6, 150.0, 2048, 48),
            (1e-9, 200.0, 1024, 48),
            (1e-9, 150.0, 2048, 48),
            (1e-9, 150.0, 512, 36),
        ),
    ),
    "debiased-ccl": Case(
        loss="debiased-ccl",
        base=_COSINE | _FURTHER | {"margin": 0.9},
        candidates=[
            *grid("weight_decay negative_weight epochs", (1e-9, 300.0, 24), (1e-9, 300.0, 48)),
            *grid(
                "weight_decay negative_weight growth batch_size epochs",
                (1e-9, 150.0, 1.0, 2048, 96),
                (1e-5, 200.0, 1.0, 2048, 48),
                (1e-9, 200.0, 1.0, 1024, 48),
                (1e-9, 200.0, 1.0, 2048, 48),
                (1e-9, 200.0, 0.0, 2048, 48),
                (1e-9, 150.0, 0.0, 512, 36),
                (1e-9, 150.0, 0.0, 256, 24),
                (1e-9, 120.0, 0.0, 512, 36),
                (1e-9, 100.0, 0.0, 256, 24),
                (1e-9, 170.0, 0.0, 512, 48),
                (1e-9, 150.0, 0.0, 1024, 48),
            ),
        ],
    ),
    "mine": Case(
        loss="mine",
        candidates=grid(
            "weight_decay n_negatives epochs",
            (1e-6, 4096, 24),
            (1e-6, 4096, 48),
            (1e-6, 800, 24),
            (3e-6, 800, 24),
            (3e-6, 4096, 24),
            (1e-5, 4096, 24),
        ),
    ),
    "info-nce": Case(
        loss="info-nce",
        base={"negative_weight": 800.0},
        candidates=grid(
            "weight_decay n_negatives epochs",
            (3e-6, 4096, 24),
            (3e-6, 4096, 48),
            (1e-5, 4096, 24),
            (1e-6, 800, 24),
        ),
    ),
    "debiased-info-nce": Case(
        loss="debiased-info-nce",
        base=_FURTHER | {"negative_weight": 800.0},
        candidates=[
            *grid("weight_decay epochs", (1e-5, 24), (1e-5, 48)),
            # the least of (83), exp(-1/t), is that of cosines
            *(
                _COSINE | {"similarity": "cosine", "weight_decay": 1e-8} | one
                for one in grid("temperature", (0.15,), (0.12,))
            ),
            *grid("weight_decay n_negatives", (1e-7, 800)),
        ],
    ),
    "bpr": Case(
        loss="bpr",
        base={"n_negatives": 800, "learning_rate": 0.003},
        candidates=grid("weight_decay", (1e-4,), (3e-4,)),
    ),
    "mse": Case(loss="mse", candidates=_SQUARES),
    "debiased-mse": Case(loss="debiased-mse", base=_FURTHER, candidates=_SQUARES[:2]),
    # 0.4 divides the cosine, or each of the two vectors
    "mine-plus, as published": Case(
        loss="mine-plus",
        base=_COSINE | {"weight_decay": 1e-8, "negative_weight": 1.2},
        candidates=grid("temperature", (0.4,), (0.16,)),
        as_published=True,
    ),
    # 0.7 of the sum over 800 negatives, which is 560 of their mean, or 0.7 of the mean
    "debiased-ccl, as published": Case(
        loss="debiased-ccl",
        base=_COSINE | _FURTHER | {"margin": 0.9, "weight_decay": 1e-9},
        candidates=grid("negative_weight epochs", (560.0, 48), (0.7, 24)),
        as_published=True,
    ),
}


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """One setting varied around what was chosen: a panel of Figure 13 or 14."""

    setting: str
    cases: tuple[str, ...]
    values: dict[str, list[float]]  # of each case, or of "" for all


_DEBIASED = ("debiased-ccl", "debiased-mse", "debiased-info-nce")
SWEEPS: dict[str, Sweep] = {
    "negatives": Sweep(
        setting="n_negatives",
        cases=_DEBIASED,
        values={"": [50, 200, 800]},
    ),
    "positives": Sweep(
        setting="n_positives",
        cases=_DEBIASED,
        values={"": [1, 5, 20, 50]},
    ),
    "weight": Sweep(
        setting="negative_weight",
        cases=_DEBIASED,
        values={
            "debiased-ccl": [15.0, 50.0, 150.0, 500.0, 1500.0],
            "debiased-mse": [1.0, 5.0, 30.0, 150.0],
            "debiased-info-nce": [8.0, 80.0, 800.0, 8000.0, 80000.0],
        },
    ),
    "temperature": Sweep(
        setting="temperature",
        cases=("mine-plus",),
        values={"": [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5]},
    ),
}


def rates(learning_rate: float, epochs: int) -> list[float]:
    """The rate of each epoch: the same for the first half, then halved six times, evenly.

    The published runs halve it on a plateau, which takes a validation in every epoch: it costs as
    much as the epoch, and a part of the data.
    """
    half, step = epochs // 2, max(1.0, epochs / 12)
    return [learning_rate * 0.5 ** int(max(0, epoch - half + 1) // step) for epoch in range(epochs)]
