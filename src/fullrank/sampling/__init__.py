"""From samples of candidates to true ranks: the sample, the kernel, the rank grid.

Everything here works from plain arrays: ranks from any pipeline can enter as a RankSample.
"""

from fullrank.sampling.design import Design
from fullrank.sampling.distribution import RankDistribution
from fullrank.sampling.expected import collapse, expected_metric, sampled_metric_std
from fullrank.sampling.grid import RankGrid
from fullrank.sampling.kernels import kernel, kernel_averages
from fullrank.sampling.ordering import Consistency, consistency
from fullrank.sampling.sample import RankSample, Rows
from fullrank.sampling.simulation import simulate

__all__ = [
    "Consistency",
    "Design",
    "RankDistribution",
    "RankGrid",
    "RankSample",
    "Rows",
    "collapse",
    "consistency",
    "expected_metric",
    "kernel",
    "kernel_averages",
    "sampled_metric_std",
    "simulate",
]
