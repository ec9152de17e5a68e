"""Find the scores in a module's output: a tensor, or one within a tuple, a mapping or an object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank._lib.text import counted
from fullrank._lib.types import Array
from fullrank.errors import InputError

_NAMES = ("logits", "scores")  # of what is taken first
PAIRS_OR_BLOCK = "Wrap a module that returns (batch, n_items): BlockScorer(module, inputs=…)."


def pair_scores(torch: Any, output: Any, n_pairs: int) -> Any:
    """Return one score for each pair, as a vector without gradients, float32 or float64."""
    for name, tensor in _tensors(torch, output):
        if tensor.numel() == n_pairs and (tensor.ndim > 0 or not isinstance(name, int)):
            return _precise(torch, tensor.detach().reshape(-1))
    raise InputError(
        f"`module` must return one score for each pair; for {counted(n_pairs, 'pair')} it "
        f"returned {_said(torch, output)}. {_hint(torch, output, PAIRS_OR_BLOCK)}"
    )


def block_scores(
    torch: Any, output: Any, *, n_users: int, width: int | None, position: Any, said: str, hint: str
) -> Any:
    """Return a row of scores for each user, (n_users, width), without gradients.

    They are float32 or float64.
    From (n_users, length, width) scores of sequence models, those at `position` are taken: a
    number, or one for each user.
    """
    tensors = list(_tensors(torch, output))
    fitting = [(name, _fitted(one, n_users, width)) for name, one in tensors]
    fitting = [(name, one) for name, one in fitting if one is not None]
    named = [one for name, one in fitting if name in _NAMES]
    flat = [one for _, one in fitting if one.ndim == 2]
    if any(one.shape[-1] > flat[0].shape[-1] for _, one in fitting if flat):
        flat = []  # it may be a hidden state, which is narrower than the scores of all items
    chosen = named[:1] or (flat if len(flat) == 1 else [one for _, one in fitting])
    if len(chosen) > 1:
        raise InputError(
            f"`module` must return one tensor of scores; {said} returned {_said(torch, output)}, "
            "which is ambiguous. Give `n_items`, or BlockScorer(lambda users: module(users)[0], "
            "…)."
        )
    if not chosen:
        wanted = "n_items" if width is None else f"{width:,}"
        raise InputError(
            f"`module` must return a row of scores for each user, shape ({n_users}, {wanted}); "
            f"{said} returned {_said(torch, output)}. {_hint(torch, output, hint)}"
        )
    scores = chosen[0].detach()
    return _precise(torch, scores if scores.ndim == 2 else _at(torch, scores, position))


def _precise(torch: Any, scores: Any) -> Any:
    """The scores as float32 or float64: of whole numbers, float32 would make some equal."""
    if scores.dtype in (torch.float32, torch.float64):
        return scores
    if scores.is_floating_point():
        return scores.float()
    return (scores.cpu() if scores.device.type == "mps" else scores).double()  # which has none


def _at(torch: Any, scores: Any, position: Any) -> Any:
    """The scores at one position of each sequence."""
    length = scores.shape[1]
    places = np.broadcast_to(np.asarray(position), scores.shape[:1])
    bad = (places < -length) | (places >= length)
    if bad.any():
        raise InputError(
            f"`position` must lie in {-length}..{length - 1}, because `module` returns scores for "
            f"{length} positions; it is {int(places[bad][0])}."
        )
    if (places == places[0]).all():
        return scores[:, int(places[0])]
    place = torch.as_tensor(places % length, device=scores.device)
    return scores[torch.arange(scores.shape[0], device=scores.device), place]


def _fitted(tensor: Any, n_users: int, width: int | None) -> Any:
    """The tensor as (n_users, width) or (n_users, length, width); None if it is neither."""
    if tensor.ndim == 3 and tensor.shape[2] == 1 and width != 1:
        tensor = tensor[:, :, 0]
    if tensor.ndim == 1 and n_users == 1 and tensor.shape[0] == width:
        tensor = tensor[None]
    if tensor.ndim not in (2, 3) or tensor.shape[0] != n_users or 0 in tensor.shape:
        return None
    return tensor if width is None or tensor.shape[-1] == width else None


def _tensors(torch: Any, output: Any) -> Iterator[tuple[Any, Any]]:
    """The tensors of an output by name or place, those with the usual names first."""
    for name, value in _parts(output):
        if isinstance(value, np.ndarray):
            value = torch.from_numpy(_plain(value)) if value.dtype.kind in "biuf" else None
        if not checks.is_tensor(value) or value.is_complex() or value.is_meta:
            continue
        yield name, value.to_dense() if value.layout is not torch.strided else value


def _plain(array: Array) -> Array:
    """An array as PyTorch takes it: no long double, no foreign byte order, no negative stride."""
    wide = array.dtype.kind == "f" and array.dtype.itemsize > 8
    # the same width, of the type that it usually has: C's long and long long are two to numpy
    kind = np.dtype(np.float64 if wide else f"{array.dtype.kind}{array.dtype.itemsize}")
    return np.require(array, kind, ["C_CONTIGUOUS", "ALIGNED", "WRITEABLE"])


def _parts(output: Any) -> list[tuple[Any, Any]]:
    if isinstance(output, Mapping):
        parts = list(output.items())
        return sorted(parts, key=lambda one: one[0] not in _NAMES)
    if isinstance(output, tuple | list):
        names = getattr(output, "_fields", range(len(output)))
        parts = list(zip(names, output, strict=True))
        return sorted(parts, key=lambda one: one[0] not in _NAMES)
    if checks.is_tensor(output) or isinstance(output, np.ndarray):
        return [("", output)]
    return [(name, getattr(output, name)) for name in _NAMES if hasattr(output, name)]


def _hint(torch: Any, output: Any, hint: str) -> str:
    """What helps: what holds no tensor is not a question of its shape."""
    held = next(_tensors(torch, output), None)
    return "Return a tensor or an array of numbers." if held is None else hint


def _said(torch: Any, output: Any) -> str:
    """What was returned, for errors."""
    shapes = [
        f"{tuple(one.shape)}" if name == "" else f"{name}: {tuple(one.shape)}"
        for name, one in _tensors(torch, output)
    ]
    if not shapes:
        return checks.shown(output)
    return f"shape {shapes[0]}" if len(shapes) == 1 else f"shapes {'; '.join(shapes)}"
