"""Interactions, their splits, and data sets by name."""

from fullrank.data.datasets import DATASETS, Dataset, load, load_split
from fullrank.data.interactions import Interactions
from fullrank.data.simulated import simulate
from fullrank.data.splits import SPLITS, Split, leave_one_out, read_split

__all__ = [
    "DATASETS",
    "SPLITS",
    "Dataset",
    "Interactions",
    "Split",
    "leave_one_out",
    "load",
    "load_split",
    "read_split",
    "simulate",
]
