"""Published tables of Li et al. 2023 and of Li (dissertation), chapter 2: errors, winners, users.

Percent errors are averages over K = 1..50, mean ± standard deviation over 100 repeats. Both papers
agree where both have a value; our copy of the dissertation has a digit too many in five of them,
where a ± was misread.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reproduction.common.kept import sections
from reproduction.papers import SIZES

Pair = tuple[float, float]
DATA = ("pinterest-20", "yelp", "ml-20m")
USERS = {name: SIZES[name].users for name in DATA}
SEVEN = ("MES", "MLE", "BV", "BV_MES", "BV_MLE", "MN_MES", "MN_MLE")
FOUR = SEVEN[3:]
FIXED = {"pinterest-20": 500, "yelp": 500, "ml-20m": 1000}  # beside the adaptive samples


@dataclass(frozen=True)
class Table:
    """Errors of one metric: by data set, model and column."""

    items: dict[str, tuple[str, ...]]  # where it is printed, and the data sets shown there
    metric: str
    sample_size: int | None  # None: FIXED
    cells: dict[str, dict[str, dict[str, Pair]]]

    def size(self, data: str) -> int:
        return self.sample_size or FIXED[data]


_TABLES = sections(Path(__file__).with_suffix(".txt"))


def _cells(columns: tuple[str, ...], section: str) -> dict[str, dict[str, dict[str, Pair]]]:
    found: dict[str, dict[str, dict[str, Pair]]] = {}
    for data, model, *values in _TABLES[section]:
        pairs = [(float(mean), float(sd)) for mean, sd in (one.split("±") for one in values)]
        found.setdefault(data, {})[model] = dict(zip(columns, pairs, strict=True))
    return found


_ADAPTIVE = (*FOUR, "size", "adaptive MLE")

RECALL_100 = Table(
    {"000 Table 1": DATA[:2], "000 Table 6": DATA, "003 Table 3": DATA},
    "recall",
    100,
    _cells(SEVEN, "Recall, 100 items"),
)
AP_100 = Table({"000 Table 9": DATA}, "ap", 100, _cells(SEVEN, "AP, 100 items"))
NDCG_500 = Table({"000 Table 10": DATA}, "ndcg", 500, _cells(SEVEN, "NDCG, 500 items"))
NDCG_ADAPTIVE = Table(
    {"000 Table 2": DATA[:2], "000 Table 7": DATA},
    "ndcg",
    None,
    _cells(_ADAPTIVE, "NDCG, adaptive"),
)
RECALL_ADAPTIVE = Table(
    {"000 Table 11": DATA, "003 Table 4": DATA},
    "recall",
    None,
    _cells(_ADAPTIVE, "Recall, adaptive"),
)
ERRORS = (RECALL_100, AP_100, NDCG_500, NDCG_ADAPTIVE, RECALL_ADAPTIVE)

WINNING = (*SEVEN, "adaptive MLE")
# how many of 100 repeats find the best of five models (Li, dissertation, Table 5; Tables 3 and 8
# of Li et al. 2023 have the last five columns at 10 and 20)
WINNERS: dict[str, dict[str, dict[str, int]]] = {}
for _data, _metric, *_counts in _TABLES["Winners"]:
    WINNERS.setdefault(_data, {})[_metric] = dict(zip(WINNING, map(int, _counts), strict=True))

# Li (dissertation), Tables 6 and 7: sampled items for all users (MN_MES), or sampled users
SAMPLED = ("100 items, MN_MES", "500 items, MN_MES", "1,000 users", "5,000 users", "10,000 users")
USER_SAMPLING = {name: _cells(SAMPLED, f"Users, {name}") for name in ("recall", "ndcg")}
