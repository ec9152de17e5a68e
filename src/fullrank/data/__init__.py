"""Interactions, their splits, and data sets by name."""

from fullrank.data._split import Split
from fullrank.data._summary import Summary
from fullrank.data.datasets import DATASETS, Dataset, download, info, load, load_split
from fullrank.data.given import read_split
from fullrank.data.interactions import Interactions
from fullrank.data.simulated import simulate
from fullrank.data.splits import SPLITS, leave_one_out, ratio
from fullrank.data.strong import strong

__all__ = [
    "DATASETS",
    "SPLITS",
    "Dataset",
    "Interactions",
    "Split",
    "Summary",
    "download",
    "info",
    "leave_one_out",
    "load",
    "load_split",
    "ratio",
    "read_split",
    "simulate",
    "strong",
]
