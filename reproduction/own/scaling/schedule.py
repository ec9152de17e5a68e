"""A schedule played through: shards, workers of unequal speed, lost workers, one driver.

The driver hands out one shard after the other and takes results in; it does one thing at a time.
A worker that is free gets the next shard. A worker that is lost takes its shard with it: after a
while the loss is noticed and the shard goes out again, and later another worker takes its place.
Nothing else is known of the ranking but its seconds.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass

import numpy as np

_FREE, _LOST, _NOTICED = range(3)


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is to be done, in seconds of a worker of usual speed."""

    n_users: int
    shard: int  # users
    per_user: float
    per_shard: float  # opening files, starting the task
    at_driver: float  # of a shard: handing it out, taking its result in


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Who does it."""

    workers: int
    start: float  # seconds until a worker is ready, item factors included
    spread: float = 0.1  # standard deviation of the logarithm of a shard's time
    slow_share: float = 0.05  # of the workers
    slow_factor: float = 3.0
    lost_per_hour: float = 0.0  # of one worker
    noticed: float = 30.0  # seconds


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How it went, in seconds."""

    makespan: float
    ideal: float  # the bare work, shared evenly among workers of usual speed that are there
    lost_work: float
    lost_workers: int
    driver_busy: float  # share of the makespan

    @property
    def over_ideal(self) -> float:
        return self.makespan / self.ideal


def play(work: Work, cluster: Cluster, seed: int) -> Outcome:
    """Play it through, event by event."""
    random = _Random(cluster, seed)
    sizes = np.full(-(-work.n_users // work.shard), work.shard)
    sizes[-1] = work.n_users - work.shard * (sizes.size - 1)
    seconds = work.per_shard + work.per_user * sizes
    waiting = deque(range(sizes.size))
    undone, driver_free, lost_work, lost_workers, end = sizes.size, 0.0, 0.0, 0, 0.0
    speed = random.speeds(cluster.workers)
    dies = cluster.start + random.lives(cluster.workers)
    # (when, what, which worker, which shard or -1): time order, and ties by worker
    events = [(cluster.start, _FREE, worker, -1) for worker in range(cluster.workers)]
    idle: list[int] = []
    while undone:
        now, what, worker, shard = heapq.heappop(events)
        if what == _NOTICED:
            waiting.appendleft(shard)
            if idle:
                heapq.heappush(events, (now, _FREE, idle.pop(), -1))
            continue
        if what == _LOST:  # of which the driver knows nothing yet
            lost_workers += 1
            heapq.heappush(events, (now + cluster.noticed, _NOTICED, worker, shard))
            back = now + cluster.noticed + cluster.start
            speed[worker], dies[worker] = random.speeds(1)[0], back + random.lives(1)[0]
            heapq.heappush(events, (back, _FREE, worker, -1))
            continue
        if shard >= 0:
            undone -= 1
            end = max(end, now)
        if not waiting:
            idle.append(worker)
            continue
        begin = driver_free = max(now, driver_free) + work.at_driver
        shard = waiting.popleft()
        finish = begin + seconds[shard] * speed[worker] * random.noise()
        if finish > dies[worker]:  # one lost while it waited is noticed with its next shard
            died = max(begin, dies[worker])
            lost_work += died - begin
            heapq.heappush(events, (died, _LOST, worker, shard))
        else:
            heapq.heappush(events, (finish, _FREE, worker, shard))
    return Outcome(
        makespan=end,
        ideal=float(seconds.sum()) / cluster.workers,
        lost_work=lost_work,
        lost_workers=lost_workers,
        driver_busy=sizes.size * work.at_driver / end,
    )


class _Random:
    """Draws of a cluster; noise is drawn in blocks, for there is a lot of it."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self._cluster, self._generator = cluster, np.random.default_rng(seed)
        self._noise: list[float] = []

    def speeds(self, number: int) -> np.ndarray:
        slow = self._generator.random(number) < self._cluster.slow_share
        return np.where(slow, self._cluster.slow_factor, 1.0)

    def lives(self, number: int) -> np.ndarray:
        rate = self._cluster.lost_per_hour / 3600.0
        return self._generator.exponential(1.0, number) / rate if rate else np.full(number, np.inf)

    def noise(self) -> float:
        if not self._noise:
            drawn = self._generator.lognormal(0.0, self._cluster.spread, 4096)
            self._noise = drawn.tolist()
        return self._noise.pop()
