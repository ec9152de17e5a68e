"""Sizes of the papers' data sets, and exact metrics of the five models: thousandths, at 10.

The metrics are the columns "Exact" of Jin et al. 2021, whose ALS is our iALS. The other papers
print none.
"""

from __future__ import annotations

from typing import NamedTuple


class Size(NamedTuple):
    """Users and items of a data set, as a paper prints them."""

    users: int
    items: int


# Jin et al. 2021, Table 5 (the first four), Li et al. 2023, Table 5 (the last three), and Li
# (dissertation), Table 2: all agree
SIZES = {
    "ml-1m": Size(6_040, 3_706),
    "citeulike": Size(5_551, 16_980),
    "pinterest-20": Size(55_187, 9_916),
    "yelp": Size(25_677, 25_815),
    "ml-20m": Size(136_677, 20_720),
}


class Published(NamedTuple):
    """A table's column of exact values, and what our data differ in."""

    item: str
    exact: dict[str, tuple[float, float, float]]  # Recall@10, NDCG@10, AP@10
    differs: str  # with {users} for those here
    same: bool = True  # whether it is the same data set, or a part of it


PUBLISHED = {
    "ml-1m": Published(
        "004 Table 2",
        {
            "EASE": (34.77, 16.16, 10.63),
            "MultiVAE": (18.38, 7.08, 3.81),
            "NeuMF": (30.96, 13.43, 8.26),
            "itemKNN": (42.72, 20.54, 13.89),
            "iALS": (24.17, 9.49, 5.21),
        },
        "the same users and items; the paper gives no settings",
    ),
    "pinterest-20-part": Published(
        "004 Table 6",
        {
            "EASE": (52.11, 26.19, 18.46),
            "MultiVAE": (24.63, 9.72, 5.39),
            "NeuMF": (41.91, 19.75, 13.14),
            "itemKNN": (52.53, 26.23, 18.38),
            "iALS": (43.40, 20.62, 13.83),
        },
        f"{{users:,}} of the paper's {SIZES['pinterest-20'].users:,} users are to be had, to learn "
        "from as well; the paper gives no settings",
    ),
    "citeulike-a": Published(
        "004 Table 3",
        {
            "EASE": (87.91, 43.63, 30.48),
            "MultiVAE": (48.82, 17.12, 8.14),
            "NeuMF": (62.87, 31.05, 21.66),
            "itemKNN": (68.46, 28.71, 17.12),
            "iALS": (58.55, 30.30, 21.77),
        },
        "the same users and items; the data have no times, and which item of a user the paper "
        "held out is not known; no settings are given",
    ),
    "yelp-diffnet": Published(
        "004 Table 7",
        {
            "EASE": (25.548, 11.848, 7.794),
            "MultiVAE": (15.383, 5.741, 2.943),
            "NeuMF": (21.381, 10.094, 6.739),
            "itemKNN": (35.129, 16.258, 10.670),
            "iALS": (20.057, 8.545, 5.131),
        },
        f"another selection of Yelp: the paper's has {SIZES['yelp'].users:,} users and "
        f"{SIZES['yelp'].items:,} items and is not to be had here, so that the values cannot agree",
        same=False,
    ),
}
