"""The singular values after LRR and MF (Figure 11), and the learned λᵢ (Figure 12)."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduction.linear_models.data import Problem
from reproduction.linear_models.fits import Tried

POINTS = 120
LEARNED = ("LRR + λ", "LRR + λ + HT", "LRR + λ + HT + RMD")


def spectra(problem: Problem, best: dict[str, Tried]) -> dict[str, Any]:
    """Curves at some of the singular values, the first ones all."""
    values = problem.spectrum.values
    lrr, mf = best["LRR"].settings, best["MF"].settings
    places = np.unique(np.geomspace(1, values.size, POINTS).round().astype(int)) - 1
    own = values[places]
    inside = places < min(lrr["n_factors"], values.size)
    found = {
        "rank": (places + 1).tolist(),
        "values": _short(own),
        "LRR": _short(np.where(inside, own**3 / (own**2 + lrr["regularization"]), 0.0)),
        "MF": _short(
            np.where(places < mf["n_factors"], np.maximum(own - mf["regularization"], 0.0), 0.0)
        ),
        "lrr_settings": lrr,
        "mf_settings": mf,
        # singular values that MF leaves above 0, and those whose square is above LRR's λ
        "mf_left": int(min(mf["n_factors"], (values > mf["regularization"]).sum())),
        "lrr_left": int(min(lrr["n_factors"], values.size)),
        "above_penalty": int((values**2 >= lrr["regularization"]).sum()),
    }
    learned = {}
    for name in LEARNED:
        penalties = best[name].extra["penalties"]
        at = places[places < penalties.size]
        learned[name] = {
            "rank": (at + 1).tolist(),
            "penalties": _short(penalties[at]),
            "values": _short(values[at] ** 3 / (values[at] ** 2 + penalties[at])),
            "first_hundredth": _mean(penalties[: max(1, penalties.size // 100)]),
            "first_tenth": _mean(penalties[: max(1, penalties.size // 10)]),
            "last_half": _mean(penalties[penalties.size // 2 :]),
        }
    return found | {"learned": learned}


def _short(values: np.ndarray) -> list[float]:
    return [float(f"{value:.5g}") for value in values]


def _mean(values: np.ndarray) -> float:
    return float(f"{values.mean():.5g}")
