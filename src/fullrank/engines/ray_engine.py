"""The Ray engine: an existing cluster, or a local one."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

from fullrank._lib import checks, extras
from fullrank._lib.text import because
from fullrank.engines.protocol import Part, Result, Shared
from fullrank.errors import FullrankError, InputError

_AHEAD = 2  # parts given out for each place to work at


class Ray:
    """Run tasks on a Ray cluster.

    `shared` goes into the object store once, and every node keeps one copy of its arrays for all
    of its workers. Parts are distributed as results come in, so that the driver holds no more than
    a few at a time. Tasks of a worker or a node that dies are retried elsewhere.

    Parameters
    ----------
    address : str, optional
        The address of a cluster, such as "auto" or "ray://head:10001". Default: that of
        RAY_ADDRESS, or a local cluster that ends with the run. If Ray is already initialised, it is
        used unchanged.
    workers : int, optional
        CPUs of a local cluster; default: all.
    cpus, gpus : number
        Resources that each task requests.
    retries : int
        How often a task is retried when its worker dies.
    runtime_env : mapping, optional
        Passed to Ray, for clusters whose workers do not have fullrank installed.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        workers: int | None = None,
        cpus: float = 1,
        gpus: float = 0,
        retries: int = 5,
        runtime_env: Mapping[str, Any] | None = None,
    ) -> None:
        if address is not None and workers is not None:
            raise InputError(
                "`workers` must be omitted with `address`: the cluster has its own workers."
            )
        self.address = address
        self.workers = None if workers is None else checks.integer("workers", workers, low=1)
        self.cpus = checks.real("cpus", cpus, low=0)
        self.gpus = checks.real("gpus", gpus, low=0)
        self.retries = checks.integer("retries", retries, low=0)
        self.runtime_env = runtime_env
        self._started = False
        self._entered = 0

    @property
    def threads(self) -> int:
        return max(1, int(self.cpus))

    def map(
        self, function: Callable[[Shared, Part], Result], shared: Shared, parts: Sequence[Part]
    ) -> Iterator[tuple[int, Result]]:
        """Call `function(shared, part)` for each part, and yield results as they finish."""
        if not self._entered:
            with self:
                yield from self.map(function, shared, parts)
            return
        ray = _ray()
        task = ray.remote(_call).options(
            num_cpus=self.cpus, num_gpus=self.gpus, max_retries=self.retries
        )
        try:
            store = ray.put(shared)
        except TypeError as error:
            raise InputError(
                "`engine` must be 'serial' for objects that cannot be sent to other processes: "
                f"{because(error)}."
            ) from error
        waiting = deque(enumerate(parts))
        running: dict[Any, int] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self._ahead():
                    place, part = waiting.popleft()
                    running[task.remote(function, store, part)] = place
                done, _ = ray.wait(list(running), num_returns=1)
                for reference in done:
                    try:
                        result = ray.get(reference)
                    except ray.exceptions.RayTaskError as error:
                        raise _cause(error) from error
                    except ray.exceptions.RayError as error:  # after all retries
                        raise FullrankError(f"Ray failed: {because(error)}.") from error
                    yield running.pop(reference), result
        finally:
            for reference in running:
                ray.cancel(reference)

    def _ahead(self) -> int:
        resources = _ray().cluster_resources()
        places = resources.get("CPU", 1) / self.cpus if self.cpus else 1
        if self.gpus:
            places = min(places, resources.get("GPU", 0) / self.gpus)
        return _AHEAD * max(1, int(places))

    def _check_enough(self, there: Mapping[str, float]) -> None:
        """A cluster of this machine's own does not grow: a task that asks for more would wait."""
        for name, asked in (("CPU", self.cpus), ("GPU", self.gpus)):
            if asked > there.get(name, 0):
                self._started = False
                _ray().shutdown()
                raise InputError(
                    f"`{name.lower()}s` must be at most {there.get(name, 0):g}, the number "
                    f"available, not {asked:g}."
                )

    def __enter__(self) -> Self:
        ray = _ray()
        if not ray.is_initialized():
            own = {"num_cpus": self.workers} if self.workers is not None else {}
            try:
                ray.init(
                    address=self.address,
                    runtime_env=self.runtime_env,
                    log_to_driver=False,
                    include_dashboard=False if self.address is None else None,
                    **own,
                )
            except (ConnectionError, TimeoutError) as error:
                why = " ".join(str(error).split()).rstrip(".")
                where = self.address or os.environ.get("RAY_ADDRESS", "the default address")
                raise FullrankError(f"No Ray cluster responds at {where}: {why}.") from error
            self._started = True
            if self.address is None and "RAY_ADDRESS" not in os.environ:
                self._check_enough(ray.cluster_resources())
        self._entered += 1
        return self

    def __exit__(self, *_: Any) -> None:
        self._entered -= 1
        if self._started and not self._entered:
            self._started = False
            _ray().shutdown()

    def __repr__(self) -> str:
        return f"Ray(address={self.address!r}, cpus={self.cpus:g}, gpus={self.gpus:g})"


def _ray() -> Any:
    return extras.load("ray", extra="ray", purpose="The Ray engine")


def _cause(error: Any) -> Exception:
    """What the function itself raised, as every other engine raises it."""
    cause: Exception = error.cause if isinstance(error.cause, Exception) else error
    return cause


def _call(function: Callable[[Any, Any], Any], shared: Any, part: Any) -> Any:
    return function(shared, part)
