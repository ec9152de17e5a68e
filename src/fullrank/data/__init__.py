"""Interactions, splits, targets, samples of users, and data sets by name.

Imports `_lib`, `tables` and `metrics`; every folder to its right may import it.
"""

from fullrank.data.interactions import Interactions
from fullrank.data.sets.datasets import DATASETS, Dataset, download, info, load, load_split
from fullrank.data.sets.simulated import simulate
from fullrank.data.split import Split
from fullrank.data.split_column import read_split
from fullrank.data.split_items import SPLITS, leave_one_out, ratio
from fullrank.data.split_users import strong
from fullrank.data.summary import Summary
from fullrank.data.user_samples import UserSample, sample_users

__all__ = [
    "DATASETS",
    "SPLITS",
    "Dataset",
    "Interactions",
    "Split",
    "Summary",
    "UserSample",
    "download",
    "info",
    "leave_one_out",
    "load",
    "load_split",
    "ratio",
    "read_split",
    "sample_users",
    "simulate",
    "strong",
]
