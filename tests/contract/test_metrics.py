import numpy as np
import pytest

from fullrank import metrics
from fullrank.testing import check_metric


@pytest.mark.parametrize("name", [*metrics.names(), "ndcg@10", "recall@5"])
def test_every_metric_keeps_the_contract(name: str) -> None:
    check_metric(name)


@pytest.mark.parametrize(
    ("gain", "settings", "promise"),
    [
        (lambda rank: np.where(rank < 2000, 0.1, 0.2), {}, "decreasing"),
        (lambda rank: 1.0 * (rank % 1000 < 200), {"decreasing": False}, "smooth"),
        (lambda rank: np.where(rank > 9000, np.nan, 0.1), {}, "finite|0..1"),
    ],
)
def test_the_contract_notices(gain, settings, promise: str) -> None:
    metrics.register("broken", gain, **settings)
    try:
        with pytest.raises((AssertionError, ValueError), match=promise):
            check_metric("broken")
    finally:
        metrics.unregister("broken")
