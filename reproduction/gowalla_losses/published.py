"""Tables 12, 13, 19 and 20 of Li (dissertation) as printed, and the settings in its text."""

from __future__ import annotations

from typing import Any

DATA = ("Yelp2018", "Gowalla", "Amazon-Books")
Row = tuple[float | None, ...]

# Recall@20 and NDCG@20 in percent, of each of DATA
TABLE_12: dict[str, Row] = {
    "ccl": (6.91, 5.67, 18.17, 14.61, 5.27, 4.22),
    "debiased-ccl": (6.98, 5.71, 18.42, 14.97, 5.49, 4.40),
    "mse": (5.96, 4.95, 14.27, 12.39, 3.36, 2.68),
    "debiased-mse": (6.05, 5.00, 14.98, 12.64, 3.35, 2.61),
    "info-nce": (6.54, 5.36, 16.45, 13.43, 4.60, 3.56),
    "debiased-info-nce": (6.66, 5.45, 16.57, 13.72, 4.65, 3.66),
    "mine": (6.56, 5.37, 16.93, 14.28, 5.00, 3.93),
    "mine-plus": (7.12, 5.86, 18.13, 15.31, 5.18, 4.05),
}
OTHER_MODELS: dict[str, Row] = {
    "YouTubeNet": (6.86, 5.67, 17.54, 14.73, 5.02, 3.88),
    "NeuMF": (4.51, 3.63, 13.99, 12.12, 2.58, 2.00),
    "CML": (6.22, 5.36, 16.70, 12.92, 5.22, 4.28),
    "MultiVAE": (5.84, 4.50, 16.41, 13.35, 4.07, 3.15),
    "LightGCN": (6.49, 5.30, 18.30, 15.54, 4.11, 3.15),
    "NGCF": (5.79, 4.77, 15.70, 13.27, 3.44, 2.63),
    "GAT": (5.43, 4.32, 14.01, 12.36, 3.26, 2.35),
    "PinSage": (4.71, 3.93, 13.80, 11.96, 2.82, 2.19),
    "SGL-ED": (6.75, 5.55, None, None, 4.78, 3.79),
    "iALS": (6.06, 5.02, 13.88, 12.24, 2.79, 2.25),
}
TABLE_13: dict[str, Row] = OTHER_MODELS | {
    "bpr": (5.63, 4.60, 15.90, 13.62, 3.43, 2.65),
    "ccl": TABLE_12["ccl"],
    "debiased-ccl": TABLE_12["debiased-ccl"],
    "mine-plus": (7.12, 5.86, 18.13, 15.31, 5.18, 4.06),
}

# Tables 19 and 20 (Gowalla) and the text on reproducibility
SETTINGS: dict[str, Any] = {"n_negatives": 800, "batch_size": 512, "learning_rate": 1e-4}


def gowalla(name: str) -> tuple[float, float]:
    """Recall@20 and NDCG@20 on Gowalla, of a row that has them."""
    at = 2 * DATA.index("Gowalla")
    recall, ndcg = (TABLE_12 | TABLE_13)[name][at : at + 2]
    assert recall is not None
    assert ndcg is not None
    return recall, ndcg
