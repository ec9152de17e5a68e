"""Sizes of the papers' data sets, and exact metrics of the five models: thousandths, at 10.

The metrics are the columns "Exact" of Jin et al. 2021, whose ALS is our iALS. The other papers
print none.
"""

from __future__ import annotations

from typing import NamedTuple

from reproduction.aaai2021.published import estimates
from reproduction.papers import SIZES


class Published(NamedTuple):
    """A table's column of exact values, and what our data differ in."""

    item: str
    exact: dict[str, tuple[float, float, float]]  # Recall@10, NDCG@10, AP@10
    differs: str  # with {users} for those here
    same: bool = True  # whether it is the same data set, or a part of it


def _exact(table: str) -> dict[str, tuple[float, float, float]]:
    rows = estimates(table)
    models = dict.fromkeys(model for model, _ in rows)
    return {m: (rows[m, "recall"][0], rows[m, "ndcg"][0], rows[m, "ap"][0]) for m in models}


PUBLISHED = {
    "ml-1m": Published(
        "004 Table 2",
        _exact("2"),
        "the same users and items; the paper gives no settings",
    ),
    "pinterest-20-part": Published(
        "004 Table 6",
        _exact("6"),
        f"{{users:,}} of the paper's {SIZES['pinterest-20'].users:,} users are to be had, to learn "
        "from as well; the paper gives no settings",
    ),
    "citeulike-a": Published(
        "004 Table 3",
        _exact("3"),
        "the same users and items; the data have no times, and which item of a user the paper "
        "held out is not known; no settings are given",
    ),
    "yelp-diffnet": Published(
        "004 Table 7",
        _exact("7"),
        f"another selection of Yelp: the paper's has {SIZES['yelp'].users:,} users and "
        f"{SIZES['yelp'].items:,} items and is not to be had here, so that the values cannot agree",
        same=False,
    ),
}
