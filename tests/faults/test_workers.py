"""Workers and nodes that die in the middle of a run: the run completes with the same numbers."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from fullrank.engines import Processes, Ray, Serial
from fullrank.evaluation import Evaluation, evaluate
from fullrank.scorers import UserFactors, UserFile, write_users

pytestmark = [pytest.mark.slow, pytest.mark.verify, pytest.mark.filterwarnings("ignore")]

N_USERS, N_ITEMS = 1200, 3000


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], UserFile]:
    random = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("users") / "users.parquet"
    users = random.normal(size=(N_USERS, 16)).astype(np.float32)
    rows = np.arange(N_USERS) * 3
    targets = random.integers(0, N_ITEMS, N_USERS)
    write_users(
        path,
        (
            {"user": rows[here], "target": targets[here], "factors": users[here]}
            for here in (slice(a, a + 20) for a in range(0, N_USERS, 20))
        ),
    )
    items = random.normal(size=(N_ITEMS, 16)).astype(np.float32)
    models = {"mf": UserFactors(item_factors=items)}
    return models, UserFile(path=path, n_items=N_ITEMS)


@pytest.fixture(scope="module")
def expected(world: tuple[dict[str, Any], UserFile]) -> Evaluation:
    return measured(world, Serial(1))


def measured(
    world: tuple[dict[str, Any], UserFile], engine: Any, design: str = "exact"
) -> Evaluation:
    models, users = world
    return evaluate(models, users, design=design, engine=engine, shard_size=1, rng=0)


def assert_same(found: Evaluation, expected: Evaluation) -> None:
    one, two = found.samples["mf"].to_arrow(), expected.samples["mf"].to_arrow()
    if "n_scored" in one.column_names:  # how much was scored depends on the blocks
        one, two = one.drop_columns("n_scored"), two.drop_columns("n_scored")
    assert one.num_rows == N_USERS
    assert one.equals(two, check_metadata=True)


def descendants(pid: int) -> list[int]:
    """All processes that come from one, itself left out."""
    parents = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                text = (place / "stat").read_text("utf-8", "replace")
            except OSError:
                continue
            parents[int(place.name)] = int(text.rpartition(")")[2].split()[1])
    found, more = [], [pid]
    while more:
        more = [child for child, parent in parents.items() if parent in more]
        found += more
    return found


def title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    except OSError:
        return ""


def broken(engine: Any, after: int, break_it: Callable[[], bool]) -> Any:
    """The engine, with something broken after some results, as soon as there is what to break."""

    class Broken(type(engine)):  # type: ignore[misc]
        broke = False

        def map(self, function: Any, shared: Any, parts: Any) -> Iterator[Any]:
            for count, result in enumerate(super().map(function, shared, parts)):
                if count >= after and not self.broke:
                    self.broke = break_it()
                yield result

    engine.__class__ = Broken
    return engine


def kill_one(named: str) -> bool:
    """Kill a worker that has the name now; Ray's have that of their task while they are at it."""
    for pid in descendants(os.getpid()):
        if named in title(pid):
            os.kill(pid, signal.SIGKILL)
            return True
    return False


def test_a_worker_process_is_killed(
    world: tuple[dict[str, Any], UserFile], expected: Evaluation
) -> None:
    engine = broken(Processes(2), 10, lambda: kill_one("spawn_main"))
    assert_same(measured(world, engine), expected)
    assert engine.broke


def test_a_worker_is_killed_at_ranks_up_to_k(
    world: tuple[dict[str, Any], UserFile], expected: Evaluation
) -> None:
    engine = broken(Processes(2), 10, lambda: kill_one("spawn_main"))
    found = measured(world, engine, "exact:10")
    assert engine.broke
    assert_same(found, measured(world, Serial(1), "exact:10"))
    assert found.estimates["mf"].values == expected.estimates["mf"].values


@pytest.fixture
def ray(need: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    module = need("ray")
    # A Cluster leaves its address where any Ray that starts meanwhile looks for one: here only
    # these tests do. The paths of its sockets must be short.
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("RAY_TMPDIR", folder)
        yield module
        module.shutdown()


@pytest.mark.ray
def test_a_ray_worker_is_killed(
    ray: ModuleType, world: tuple[dict[str, Any], UserFile], expected: Evaluation
) -> None:
    engine = broken(Ray(workers=2), 10, lambda: kill_one("ray::_call"))
    assert_same(measured(world, engine), expected)
    assert engine.broke


@pytest.mark.ray
def test_a_ray_worker_is_killed_at_ranks_up_to_k(
    ray: ModuleType, world: tuple[dict[str, Any], UserFile], expected: Evaluation
) -> None:
    engine = broken(Ray(workers=2), 10, lambda: kill_one("ray::_call"))
    found = measured(world, engine, "exact:10")
    assert engine.broke
    assert_same(found, measured(world, Serial(1), "exact:10"))
    assert found.estimates["mf"].values == expected.estimates["mf"].values


@pytest.mark.ray
def test_a_ray_node_is_killed(
    ray: ModuleType, world: tuple[dict[str, Any], UserFile], expected: Evaluation
) -> None:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        node = cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes(timeout=600)

        def remove() -> bool:
            cluster.remove_node(node, allow_graceful=False)
            return True

        engine = broken(Ray(address=cluster.address), 10, remove)
        assert_same(measured(world, engine), expected)
        assert engine.broke
    finally:
        ray.shutdown()
        cluster.shutdown()
