"""What all losses share: checks of their arguments, means of exponentials, and the last step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fullrank._lib import checks, extras
from fullrank.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

REDUCTIONS = ("mean", "none")


def load_torch() -> Any:
    """PyTorch, or an error that names the extra."""
    return extras.load("torch", extra="torch", purpose="Losses")


def clean(positive: Tensor, **others: Tensor) -> tuple[Tensor, ...]:
    """Scores in at least single precision; `others` have one more axis than `positive`."""
    torch = load_torch()
    rows = _tensor(torch, "positive", positive)
    cleaned = [rows]
    for name, given in others.items():
        scores = _tensor(torch, name, given)
        if scores.shape[:-1] != rows.shape or scores.ndim != rows.ndim + 1 or scores.shape[-1] == 0:
            wanted = (*rows.shape, "n ≥ 1")
            raise InputError(
                f"`{name}` must have a row for each entry of `positive`, shape "
                f"({', '.join(map(str, wanted))}); it has {tuple(scores.shape)}."
            )
        cleaned.append(scores)
    return tuple(cleaned)


def _tensor(torch: Any, name: str, value: Any) -> Tensor:
    if not isinstance(value, torch.Tensor):
        raise InputError(f"`{name}` must be a torch tensor, not {type(value).__name__}.")
    if not value.dtype.is_floating_point:
        raise InputError(f"`{name}` must hold floating-point scores, not {value.dtype}.")
    # eight bits of a bfloat16 do not carry sums of exponentials; gradients come back in its type
    return value.float() if value.dtype.itemsize < 4 else value  # type: ignore[no-any-return]


def setting(name: str, value: float, *, in_log: bool = False) -> float:
    """A setting in its range; a weight that stands inside of a logarithm must not be 0."""
    if name == "margin":
        return checks.real(name, value, low=-1, high=1)
    if name == "temperature" or in_log:
        return checks.positive(name, value)
    return checks.real(name, value, low=0)


def share(value: float | Tensor, like: Tensor) -> Tensor:
    """The argument `positive_share`: one for all rows, or one for each."""
    torch = load_torch()
    if not isinstance(value, torch.Tensor):
        number = checks.real("positive_share", value)
        if not 0 <= number < 1:
            raise InputError(f"`positive_share` must be at least 0 and below 1, not {number:g}.")
        return like.new_full((), number)  # filled where it lies: graphs can replay it
    # its values are not looked at, for that would wait for the device in every step
    if value.ndim and value.shape != like.shape:
        raise InputError(
            f"`positive_share` must be a number or have one for each entry of `positive`, "
            f"shape {tuple(like.shape)}; it has {tuple(value.shape)}."
        )
    return value.to(like)  # type: ignore[no-any-return]


def log_mean_exp(scores: Tensor) -> Tensor:
    """The logarithm of the mean of exp over the last axis, whatever the size of the scores."""
    return load_torch().logsumexp(scores, dim=-1) - math.log(scores.shape[-1])  # type: ignore[no-any-return]


def log_one_plus_exp(gaps: Tensor) -> Tensor:
    """log(1 + e^gap) at full precision; torch's softplus cuts the curve off at 20."""
    return -load_torch().nn.functional.logsigmoid(-gaps)  # type: ignore[no-any-return]


def reduced(losses: Tensor, reduction: str) -> Tensor:
    """One loss for each positive, or their mean."""
    if checks.choice("reduction", reduction, REDUCTIONS) == "none":
        return losses
    return losses.mean()
