"""The argument `device`: where work runs, and what must be installed for it."""

from __future__ import annotations

import os
import re
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from fullrank._lib import extras, memory
from fullrank.errors import InputError

PURPOSE = "Ranking on a GPU"


def interpreted() -> bool:
    """Return whether Triton's interpreter replaces a GPU, as it does in the tests."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def on_gpu(device: Any) -> bool:
    """Return whether `device` requests a GPU; None and "cpu" do not."""
    if device is None or str(device) == "cpu":
        return False
    if re.fullmatch("cuda(:[0-9]+)?", str(device)):
        return True
    raise InputError(
        f'`device` must be None, "cpu", "cuda" or a numbered GPU, such as "cuda:1", not {device!r}.'
    )


def open_device(device: Any) -> tuple[Any, Any]:
    """Return torch and its device for `device`, which must be an available GPU."""
    torch = extras.load("torch", extra="cuda", purpose=PURPOSE)
    extras.load("triton", extra="cuda", purpose=PURPOSE)
    if interpreted():
        return torch, torch.device("cpu")
    if not torch.cuda.is_available():
        raise InputError(
            f'`device` must be "cpu" on a machine without a GPU that PyTorch can use, not '
            f"{str(device)!r}."
        )
    number = int(str(device).partition(":")[2] or 0)
    if number >= torch.cuda.device_count():
        raise InputError(
            f"`device` must have a number below {torch.cuda.device_count()}, the number of "
            f"available GPUs, not {str(device)!r}."
        )
    return torch, torch.device("cuda", number)


def current(torch: Any, device: Any) -> AbstractContextManager[Any]:
    """Kernels are launched on the current GPU, which need not be the requested one."""
    found: AbstractContextManager[Any] = (
        torch.cuda.device(device) if device.type == "cuda" else nullcontext()
    )
    return found


def free_memory(torch: Any, device: Any) -> int:
    """Return the bytes available on the device, including those that torch has reserved."""
    if device.type != "cuda":
        return memory.limit()
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0]) + int(kept)


def no_device(scorer: Any) -> InputError:
    """Return the error for a scorer whose scores a GPU cannot compute."""
    return InputError(
        f'`device` must be None or "cpu" for {type(scorer).__name__}: a GPU can rank only '
        "factor models, item–item models and PyTorch modules."
    )
