"""Samples of ranks, exact ranks, distributions of true ranks, and the files that hold them.

Works from plain arrays: ranks from any pipeline can enter as a RankSample. Imports `_lib`,
`tables`, `metrics`, `data` and `designs`; every folder to its right may import it.
"""

from fullrank.samples.as_ranks import as_ranks
from fullrank.samples.distribution import RankDistribution
from fullrank.samples.efficiency import SamplingEfficiency, recommend_limit, sampling_efficiency
from fullrank.samples.exact_ranks import ExactRanks
from fullrank.samples.ordering import Consistency, consistency
from fullrank.samples.read_candidates import read_candidates
from fullrank.samples.read_ranks import Ranks, read_ranks
from fullrank.samples.sample import RankSample, Rows
from fullrank.samples.seeds import Seeds
from fullrank.samples.simulation import simulate

__all__ = [
    "Consistency",
    "ExactRanks",
    "RankDistribution",
    "RankSample",
    "Ranks",
    "Rows",
    "SamplingEfficiency",
    "Seeds",
    "as_ranks",
    "consistency",
    "read_candidates",
    "read_ranks",
    "recommend_limit",
    "sampling_efficiency",
    "simulate",
]
