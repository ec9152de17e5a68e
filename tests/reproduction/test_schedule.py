"""The simulated schedule of the sizing page, where its outcome is known."""

from __future__ import annotations

from typing import Any

import pytest

from reproduction.own.scaling.schedule import Cluster, Work, play

EVEN: dict[str, Any] = {"spread": 0.0, "slow_share": 0.0}


def work(**changes: Any) -> Any:
    usual = {"n_users": 1_000, "shard": 10, "per_user": 0.1, "per_shard": 0.0, "at_driver": 0.0}
    return Work(**{**usual, **changes})


def test_equal_shards_on_equal_workers_take_turns() -> None:
    found = play(work(), Cluster(workers=8, start=5.0, **EVEN), seed=0)
    # 100 shards of a second each by 8 workers: 13 rounds
    assert found.makespan == pytest.approx(5.0 + 13.0)
    assert found.ideal == pytest.approx(100.0 / 8)
    assert (found.lost_workers, found.lost_work) == (0, 0.0)


def test_the_last_shard_may_be_smaller() -> None:
    found = play(work(n_users=25), Cluster(workers=3, start=0.0, **EVEN), seed=0)
    assert found.makespan == pytest.approx(1.0)
    assert found.ideal == pytest.approx(2.5 / 3)


def test_a_driver_that_is_too_slow_sets_the_pace() -> None:
    found = play(work(at_driver=0.5), Cluster(workers=50, start=0.0, **EVEN), seed=0)
    assert found.makespan == pytest.approx(100 * 0.5 + 1.0)
    assert found.driver_busy == pytest.approx(50.0 / 51.0)


def test_one_slow_worker_holds_up_only_its_last_shard() -> None:
    slow = Cluster(workers=1, start=0.0, spread=0.0, slow_share=1.0, slow_factor=4.0)
    assert play(work(), slow, seed=0).makespan == pytest.approx(400.0)
    mixed = Cluster(workers=20, start=0.0, spread=0.0, slow_share=0.3, slow_factor=4.0)
    found = play(work(), mixed, seed=1)
    assert found.ideal < found.makespan <= 4.0 + 100.0 / 20 + 4.0


def test_what_a_lost_worker_held_is_done_again() -> None:
    cluster = Cluster(workers=10, start=1.0, lost_per_hour=200.0, noticed=2.0, **EVEN)
    found = play(work(), cluster, seed=0)
    assert found.lost_workers > 0
    assert found.lost_work > 0
    # every second of work is done, beside what was lost and the time that workers were away
    assert found.makespan * 10 >= 100.0 + found.lost_work
    assert found.makespan > play(work(), Cluster(workers=10, start=1.0, **EVEN), seed=0).makespan


def test_a_shard_lost_at_the_end_goes_to_an_idle_worker() -> None:
    # the only shard is lost by whoever has it, until somebody lives long enough
    cluster = Cluster(workers=2, start=0.0, lost_per_hour=3600.0, noticed=1.0, **EVEN)
    lost = [play(work(n_users=10), cluster, seed=seed) for seed in range(50)]
    assert any(one.lost_workers for one in lost)
    for one in lost:
        assert one.makespan >= 1.0 + one.lost_workers * 1.0
        if not one.lost_workers:
            assert one.makespan == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_schedule() -> None:
    cluster = Cluster(workers=7, start=1.0, lost_per_hour=50.0)
    assert play(work(), cluster, seed=3) == play(work(), cluster, seed=3)
    assert play(work(), cluster, seed=3) != play(work(), cluster, seed=4)
