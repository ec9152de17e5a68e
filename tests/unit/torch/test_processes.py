"""`RankMetric` over several processes: `benchmarks/ddp.py`, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from fullrank.errors import InputError  # noqa: E402


@pytest.mark.slow
@pytest.mark.parametrize("way", ["torchmetrics", "plain"])
def test_any_number_of_processes_gives_the_same(need, root, way):
    if way == "torchmetrics":
        need("torchmetrics")
    command = [sys.executable, str(root / "benchmarks" / "ddp.py"), "--users", "61"]
    command += ["--items", "200", "--processes", "2", "4"]
    command += ["--plain"] if way == "plain" else []
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert [(run["processes"], run["shards"]) for run in runs] == [
        (size, shards) for size in (2, 4) for shards in ("padded", "uneven", "empty")
    ]
    for run in runs:
        assert run["equal_to_the_last_bit"]
        assert run["state_bytes"] == [7 * 8 * size for size in run["sizes"]]
        assert (run["sizes"][-1] == 0) == (run["shards"] == "empty")
    # padded by repeats: more rows than targets, and other means
    targets = sum(runs[1]["sizes"])
    assert sum(runs[3]["sizes"]) > targets == sum(runs[4]["sizes"])
    assert runs[3]["mean_of_means"] != runs[3]["values"]


def test_rows_need_users_where_there_are_processes(rank_metric, monkeypatch):
    module = sys.modules[rank_metric.__module__]
    monkeypatch.setattr(module, "processes", lambda group: True)
    with pytest.raises(InputError, match=r"`user` must be given when several processes"):
        rank_metric().update(torch.ones(2, 3), [0, 1])
    alone = rank_metric(sync_on_compute=False)
    alone.update(torch.ones(2, 3), [0, 1])
    assert len(alone.rows) == 1


def _fails_and_goes_on(rank, address):
    """In a process of two: a result that cannot be, and an update after it."""
    from fullrank.torch import RankMetric

    torch.distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    try:
        metric = RankMetric("recall@1")
        with pytest.raises(InputError, match="at least one target"):
            metric.compute()
        metric.update(torch.eye(2), [0, 1], torch.tensor([0, 1]) + 2 * rank)
        assert metric.compute() == {"recall@1": 1.0}
        assert metric.exact().n_users == 4
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.slow
def test_a_metric_that_failed_is_as_before(need, tmp_path):
    """torchmetrics would leave it synced, and refuse updates."""
    need("torchmetrics")
    address = f"file://{tmp_path / 'meeting'}"
    torch.multiprocessing.spawn(_fails_and_goes_on, args=(address,), nprocs=2)
