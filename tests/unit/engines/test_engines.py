"""The engines: the same results whoever does the work, errors as they are, nothing copied."""

from __future__ import annotations

import multiprocessing
import operator
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from fullrank._lib import mapped_arrays
from fullrank.engines import ENGINES, Engine, Processes, Ray, Serial, make_engine
from fullrank.engines.shared import Published, opened
from fullrank.errors import FullrankError, InputError, MissingExtraError


def test_serial_goes_in_order() -> None:
    assert list(Serial().map(operator.getitem, "abcd", [2, 0, 3])) == [(0, "c"), (1, "a"), (2, "d")]


def test_serial_raises_what_the_function_raises() -> None:
    with pytest.raises(IndexError, match="string index out of range"):
        list(Serial().map(operator.getitem, "ab", [0, 9]))


@pytest.mark.slow
def test_processes_give_the_same_results() -> None:
    array = np.arange(100_000.0).reshape(100, 1000)
    slices = [slice(a, a + 7) for a in range(0, 100, 7)]
    with Processes(2) as engine:
        found = dict(engine.map(operator.getitem, array, slices))
        assert sorted(found) == list(range(len(slices)))
        for place, part in enumerate(slices):
            assert np.array_equal(found[place], array[part])
        # another object through the same workers, and errors as they are
        assert dict(engine.map(operator.getitem, "xyz", [2, 1])) == {0: "z", 1: "y"}
        with pytest.raises(IndexError, match="string index out of range"):
            list(engine.map(operator.getitem, "ab", [9]))
        assert dict(engine.map(operator.getitem, "after", [0])) == {0: "a"}
        pool = engine._pool
        with engine:  # inside already: the same workers, which stay
            assert engine._pool is pool
        assert dict(engine.map(operator.getitem, "still", [1])) == {0: "t"}
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_workers_that_die_again_and_again_end_the_run() -> None:
    with pytest.raises(FullrankError, match=r"died 3 times"):
        list(Processes(1).map(operator.call, os._exit, [1]))


def test_processes_refuse_what_cannot_be_handed_over() -> None:
    with pytest.raises(InputError, match=r"`engine`.*'serial' for.*(pickle|local object)"):
        Published(lambda: 0)


def test_arrays_are_shared_not_copied() -> None:
    array = np.arange(12.0).reshape(3, 4)
    frozen = np.arange(5)
    frozen.setflags(write=False)
    published = Published({"array": array, "frozen": frozen, "text": "ä"})
    try:
        one, two = opened(published.handle), opened(published.handle)
        assert np.array_equal(one["array"], array)
        assert one["text"] == "ä"
        assert not one["frozen"].flags.writeable
        one["array"][1, 2] = -1.0
        assert two["array"][1, 2] == -1.0
        assert array[1, 2] == 6.0
    finally:
        published.close()


def test_arrays_in_files_stay_there(tmp_path: Path) -> None:
    array = np.arange(60_000.0).reshape(2000, 30)
    np.save(tmp_path / "x.npy", array)
    mapped = mapped_arrays.open_array(tmp_path / "x.npy")
    published = Published({"all": mapped, "some": mapped[7:9], "slanted": mapped[:3, :4]})
    try:
        assert published.handle.size < 2000
        found = opened(published.handle)
        assert np.array_equal(found["all"], array)
        assert np.array_equal(found["some"], array[7:9])
        assert np.array_equal(found["slanted"], array[:3, :4])
        found["all"][0, 0] = -1.0  # of its own: nothing reaches the file
        assert np.load(tmp_path / "x.npy")[0, 0] == 0.0
        np.save(tmp_path / "x.npy", array + 1)
        os.utime(tmp_path / "x.npy", (1, 1))  # clocks of some file systems tick slowly
        with pytest.raises(FullrankError, match=r"x\.npy.*changed"):
            opened(published.handle)
    finally:
        published.close()


def test_a_file_that_was_replaced_is_copied_from_the_map(tmp_path: Path) -> None:
    array = np.arange(6000.0)
    np.save(tmp_path / "x.npy", array)
    mapped = mapped_arrays.open_array(tmp_path / "x.npy")
    np.save(tmp_path / "new.npy", array + 1)
    (tmp_path / "new.npy").replace(tmp_path / "x.npy")
    published = Published(mapped)
    try:
        assert np.array_equal(opened(published.handle), array)
    finally:
        published.close()


def test_memory_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(descriptor: int, offset: int, size: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", none)
    with pytest.raises(FullrankError, match=r"0\.00 GB.*No space left"):
        Published(np.zeros(10))


def test_engines_by_name() -> None:
    assert all(isinstance(make_engine(name), Engine) for name in ENGINES)
    assert repr(make_engine("serial", threads=1)) == "Serial(threads=1)"
    assert make_engine("processes", workers=2).threads == 1
    with pytest.raises(InputError, match=r"`engine`.*'serial', 'processes', 'ray'.*'x'"):
        make_engine("x")
    with pytest.raises(InputError, match=r"`workers`.*\b0\b"):
        Processes(0)
    with pytest.raises(InputError, match=r"`threads`.*\b0\b"):
        Serial(0)
    with pytest.raises(InputError, match=r"`gpus`.*-1\b"):
        Ray(gpus=-1)
    with pytest.raises(InputError, match=r"`workers`.*`address`"):
        Ray("auto", workers=2)


def test_a_cluster_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import SimpleNamespace

    def init(**_: object) -> None:
        raise ConnectionError("Ray is trying to start at x.")

    fake = SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setitem(sys.modules, "ray", fake)
    with pytest.raises(FullrankError, match=r"head:1"):
        list(Ray("head:1").map(operator.getitem, "a", [0]))


def test_a_task_that_no_machine_could_do_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import SimpleNamespace

    ended = []
    fake = SimpleNamespace(
        is_initialized=lambda: False,
        init=lambda **_: None,
        cluster_resources=lambda: {"CPU": 2.0},
        shutdown=lambda: ended.append(True),
    )
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    for engine, said in (
        (Ray(gpus=1), r"`gpus`.*\b0\b.*not 1\b"),
        (Ray(cpus=3), r"`cpus`.*\b2\b.*not 3\b"),
    ):
        with pytest.raises(InputError, match=said):
            list(engine.map(operator.getitem, "a", [0]))
    assert ended == [True, True]


def test_a_cluster_that_does_not_respond_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import SimpleNamespace

    def init(**_: object) -> None:
        raise ConnectionError("nobody there")

    fake = SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    for engine, where in ((Ray(), "head:6379"), (Ray(address="other:1"), "other:1")):
        with pytest.raises(FullrankError, match=rf"No Ray cluster responds at {where}: nobody"):
            engine.__enter__()


class LostError(Exception):
    """Stands for what Ray raises when a task is lost for good."""


@pytest.mark.parametrize(
    ("put", "get", "kind", "message"),
    [
        (
            TypeError("cannot pickle a lock"),
            None,
            InputError,
            r"`engine`.*'serial' for.*(pickle|local object)",
        ),
        (
            None,
            LostError("The worker died."),
            FullrankError,
            r"^Ray failed: The wor",
        ),
    ],
)
def test_what_ray_cannot_do(
    monkeypatch: pytest.MonkeyPatch,
    put: Exception | None,
    get: Exception | None,
    kind: type[Exception],
    message: str,
) -> None:
    import sys
    from types import SimpleNamespace

    def done(error: Exception | None) -> Callable[[object], str]:
        def call(_: object) -> str:
            if error is not None:
                raise error
            return "reference"

        return call

    task = SimpleNamespace(remote=lambda *_: "reference")
    fake = SimpleNamespace(
        is_initialized=lambda: True,
        remote=lambda _: SimpleNamespace(options=lambda **_: task),
        put=done(put),
        get=done(get),
        wait=lambda references, num_returns: (references, []),
        cancel=lambda _: None,
        cluster_resources=lambda: {"CPU": 1},
        exceptions=SimpleNamespace(RayTaskError=KeyError, RayError=LostError),
    )
    monkeypatch.setitem(sys.modules, "ray", fake)
    with pytest.raises(kind, match=message):
        list(Ray().map(operator.getitem, "a", [0]))


def test_ray_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r'pip install "fullrank\[ray\]"'):
        list(Ray().map(operator.getitem, "a", [0]))


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ray_gives_the_same_results(
    need: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    ray = need("ray")
    array = np.arange(1000.0).reshape(100, 10)
    slices = [slice(a, a + 13) for a in range(0, 100, 13)]
    with Ray(workers=2) as engine:
        found = dict(engine.map(operator.getitem, array, slices))
        assert all(np.array_equal(found[i], array[part]) for i, part in enumerate(slices))
        assert len(found) == len(slices)
        with pytest.raises(IndexError, match="string index out of range"):
            list(engine.map(operator.getitem, "ab", [9]))
    assert not ray.is_initialized()


def test_workers_that_start_leave_interrupts_to_the_one_that_starts_them() -> None:
    """Ctrl-C reaches all processes of a terminal, and each would print a traceback."""
    signals = pytest.importorskip("signal")
    if not hasattr(signals, "pthread_sigmask"):
        pytest.skip("Windows has no masks of signals")
    with Processes(1) as engine:
        (blocked,) = [found for _, found in engine.map(_blocked, None, [0])]
    assert blocked
    assert signals.SIGINT not in signals.pthread_sigmask(signals.SIG_BLOCK, ())


def _blocked(shared: object, part: int) -> bool:
    import signal

    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
