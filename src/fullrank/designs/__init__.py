"""How candidates are drawn: the design, P(r | R), the rank grid, keyed draws, given candidates.

Imports `_lib`, `tables`, `metrics` and `data`; every folder to its right may import it.
"""

from fullrank.designs.design import Design
from fullrank.designs.given import Negatives, draw_negatives
from fullrank.designs.grid import RankGrid
from fullrank.designs.probabilities import kernel, kernel_averages

__all__ = ["Design", "Negatives", "RankGrid", "draw_negatives", "kernel", "kernel_averages"]
