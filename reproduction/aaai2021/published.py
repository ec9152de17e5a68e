"""Published tables of Jin et al. 2021: estimates of metrics at 10, and winners.

Estimates are in thousandths: the exact value, then mean and standard deviation over 100 repeats of
each estimator; 99 sampled items. Winners: in how many of 100 repeats an estimator found the best
of the five models. The ALS of the paper is iALS here.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reproduction.common.kept import sections
from reproduction.papers import SIZES

NAMES = {"2": "ml-1m", "3": "citeulike", "6": "pinterest-20", "7": "yelp"}
USERS = {table: SIZES[name].users for table, name in NAMES.items()}
DATA = {"2": "ml-1m", "3": "citeulike-a", "6": "pinterest-20-part", "7": "yelp-diffnet"}
WINNERS_OF = {"2": "4", "3": "8", "6": "10", "7": "9"}  # the table of winners on the same data
ESTIMATORS = ("CLS", "BV 0.1", "BV 0.01", "MLE", "WMLE", "MES")
METRICS = ("recall", "ndcg", "ap")
# The printed equation of WMLE estimates another distribution, and the published values are 1.00 to
# 1.04 times MLE: ours is the weighted likelihood inside the tilted family.
LABELS = {"WMLE": "WMLE (tilted, ours)"}

_TABLES = sections(Path(__file__).with_suffix(".txt"))


def label(estimator: str) -> str:
    """How an estimator is called in tables and statements.

    >>> label("WMLE"), label("MLE")
    ('WMLE (tilted, ours)', 'MLE')
    """
    return LABELS.get(estimator, estimator)


def estimates(table: str) -> dict[tuple[str, str], tuple[float, dict[str, tuple[float, float]]]]:
    """For each model and metric the exact value, and mean and sd of each estimator.

    >>> exact, found = estimates("2")["EASE", "recall"]
    >>> exact, found["MLE"]
    (34.77, (35.33, 7.17))
    """
    found = {}
    for model, metric, exact, *figures in _TABLES[f"Table {table}"]:
        cells = np.reshape([float(figure) for figure in figures], (-1, 2)).tolist()
        names = ESTIMATORS[-len(cells) :]  # CLS is in the first two tables alone
        found[model, metric] = (
            float(exact),
            {name: (mean, sd) for name, (mean, sd) in zip(names, cells, strict=True)},
        )
    return found


def winners(table: str) -> dict[str, dict[str, int]]:
    """For each estimator the successes by metric.

    >>> winners("4")["MLE"]["recall@10"]
    58
    """
    rows = _TABLES[f"Table {table}"]
    counts = {metric: [int(count) for count in row] for metric, *row in rows}
    names = ESTIMATORS[-len(counts["recall@10"]) :]
    return {
        name: {metric: row[at] for metric, row in counts.items()} for at, name in enumerate(names)
    }
