"""Exact and sampled ranking, on the CPU and on a GPU.

Imports `_lib` to `scorers` in the order of the folders; every folder to its right may import it.

>>> from fullrank.ranking import rank
>>> print(rank([[0.9, 0.1, 0.5, 0.3]], ([0], [2])).ranks)
[2.]
"""

from fullrank.ranking.rank import rank
from fullrank.ranking.sampled import sample_ranks

__all__ = ["rank", "sample_ranks"]
