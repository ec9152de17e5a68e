"""How candidates are drawn: designs, P(r | R), the rank grid, keyed draws, given candidates.

Imports `_lib`, `tables`, `metrics` and `data`; every folder to its right may import it.
"""

from fullrank.designs.adaptive import Adaptive
from fullrank.designs.design import Design, register, unregister
from fullrank.designs.exact import Exact
from fullrank.designs.expected import collapse, expected_metric, sampled_metric_std
from fullrank.designs.given import Negatives, draw_negatives
from fullrank.designs.grid import RankGrid
from fullrank.designs.inferred import infer_design
from fullrank.designs.outcomes import Strata
from fullrank.designs.probabilities import kernel, kernel_averages
from fullrank.designs.rounds import Rounds
from fullrank.designs.uniform import Uniform

__all__ = [
    "Adaptive",
    "Design",
    "Exact",
    "Negatives",
    "RankGrid",
    "Rounds",
    "Strata",
    "Uniform",
    "collapse",
    "draw_negatives",
    "expected_metric",
    "infer_design",
    "kernel",
    "kernel_averages",
    "register",
    "sampled_metric_std",
    "unregister",
]
