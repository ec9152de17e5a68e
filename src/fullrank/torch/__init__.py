"""Inside a training loop: ranks counted where scores are made, and metrics of them.

Above the flow (extra `torch`): imports `_lib` to `reporting`, `models` and `losses`; integrations,
testing and cli may import it.

>>> import torch
>>> from fullrank.torch import counts
>>> scores = torch.tensor([[0.9, 0.1, 0.5, 0.3], [0.2, 0.2, 0.8, 0.0]])
>>> counts(scores, torch.tensor([2, 0]))
tensor([[1, 0, 4],
        [1, 1, 4]])
"""

from fullrank.torch.counting import counts

__all__ = ["counts"]
