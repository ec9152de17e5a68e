"""A metric: rank-biased precision (Moffat and Zobel 2008)."""

from fullrank import metrics


def rbp(rank):
    """The chance that a reader who reads on with probability 0.9 comes to this rank."""
    return 0.9 ** (rank - 1.0)


metrics.register("rbp", rbp)
