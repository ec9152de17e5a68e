"""The part of torchmetrics that `RankMetric` needs, used where torchmetrics is not installed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fullrank._lib import checks
from fullrank.errors import InputError
from fullrank.torch.library import torch


class LocalMetric(torch.nn.Module):  # type: ignore[misc]
    """A metric whose states are lists of tensors: reset, moved between devices, gathered.

    Parameters
    ----------
    sync_on_compute : whether results cover all processes
    process_group : the processes; default: all
    """

    def __init__(
        self, *, sync_on_compute: bool = True, process_group: Any = None, **others: Any
    ) -> None:
        if others:
            raise InputError(
                f"`{next(iter(others))}` must be omitted, unless it is a setting of torchmetrics, "
                "which is not installed: pip install torchmetrics."
            )
        super().__init__()
        self.sync_on_compute = checks.flag("sync_on_compute", sync_on_compute)
        self.process_group = process_group
        self._states: list[str] = []
        self._kept: dict[str, Any] | None = None  # this process's own, while all are together
        self._at: Any = torch.device("cpu")
        self._persistent = False

    @property
    def device(self) -> Any:
        """Where the metric was moved to."""
        return self._at

    def add_state(self, name: str, default: list[Any], dist_reduce_fx: str) -> None:
        """Add a list of tensors that are joined (`dist_reduce_fx` is "cat")."""
        if default or dist_reduce_fx != "cat":
            raise InputError('`default` must be an empty list, and `dist_reduce_fx` must be "cat".')
        self._states.append(name)
        setattr(self, name, [])

    @property
    def metric_state(self) -> dict[str, Any]:
        """The states by name."""
        return {name: getattr(self, name) for name in self._states}

    @property
    def update_called(self) -> bool:
        """Whether there was an update since the last reset."""
        return any(len(state) > 0 for state in self.metric_state.values())

    def persistent(self, mode: bool = False) -> None:
        """Set whether the states are part of ``state_dict()``."""
        self._persistent = checks.flag("mode", mode)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if self._persistent:
            for name, state in self.metric_state.items():
                destination[prefix + name] = list(state)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        for name in self._states:
            if prefix + name in state_dict:
                setattr(self, name, state_dict.pop(prefix + name))
        super()._load_from_state_dict(state_dict, prefix, *args)

    def clone(self) -> LocalMetric:
        """A copy of the metric and its states."""
        return copy.deepcopy(self)

    def reset(self) -> None:
        """Forget all updates."""
        self._kept = None
        for name in self._states:
            setattr(self, name, [])

    @contextmanager
    def sync_context(self, *, should_sync: bool = True) -> Iterator[None]:
        """The states of all processes, one after the other, while the context lasts."""
        if self._kept is not None or not should_sync or not processes(self.process_group):
            yield
            return
        self.sync()
        try:
            yield
        finally:
            self.unsync()

    def sync(self) -> None:
        """Gather the states of all processes; this is done by all of them."""
        kept = {name: getattr(self, name) for name in self._states}
        gathered = {name: gather(torch.cat(rows), self.process_group)
                    for name, rows in kept.items()}  # fmt: skip
        for name, rows in gathered.items():
            setattr(self, name, rows)
        self._kept = kept

    def unsync(self) -> None:
        """Return to this process's own states."""
        for name, rows in (self._kept or {}).items():
            setattr(self, name, rows)
        self._kept = None

    def computing(self) -> Any:
        """The context in which `compute` reads the states."""
        return self.sync_context(should_sync=self.sync_on_compute)

    def _apply(self, fn: Any, *args: Any, **kwargs: Any) -> Any:
        moved = super()._apply(fn, *args, **kwargs)
        for name in self._states:
            setattr(self, name, [tensor.to(fn(tensor).device) for tensor in getattr(self, name)])
        self._at = fn(torch.zeros(1, device=self._at)).device
        return moved


def processes(group: Any = None) -> bool:
    """Whether there are several processes to gather from."""
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return False
    return int(distributed.get_world_size(group)) > 1


def gather(rows: Any, group: Any = None) -> list[Any]:
    """The rows of every process, which may have different numbers of them."""
    distributed = torch.distributed
    n_processes = distributed.get_world_size(group)
    own = torch.tensor([rows.shape[0]], device=rows.device)
    sizes = [torch.zeros_like(own) for _ in range(n_processes)]
    distributed.all_gather(sizes, own, group=group)
    most = max(int(size) for size in sizes)
    padded = rows.new_zeros((most, *rows.shape[1:]))
    padded[: rows.shape[0]] = rows
    found = [torch.zeros_like(padded) for _ in range(n_processes)]
    distributed.all_gather(found, padded, group=group)
    return [part[: int(size)] for part, size in zip(found, sizes, strict=True)]
