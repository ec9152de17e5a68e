"""Our own studies: quick forms, and stored results that agree with themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fullrank.cli import demonstration
from reproduction.common.kept import append_json
from reproduction.own.scaling.schedule import Cluster, Work, play

METRICS = ["recall", "ndcg", "ap"]
EVEN: dict[str, Any] = {"spread": 0.0, "slow_share": 0.0}  # of a simulated cluster
slow = [pytest.mark.slow, pytest.mark.verify]


def test_the_demonstration_has_the_settings_chosen_by_validation(stored: Any) -> None:
    content = stored("demo_models")
    assert (content["data"], content["quick"]) == ("ml-latest-small", False)
    chosen = {one["model"]: one["best"] for one in content["models"]}
    assert {"popularity": {}} | chosen == demonstration.SETTINGS


def test_the_stored_neural_models_are_the_best_by_validation(stored: Any) -> None:
    content = stored("ml1m_neural")
    published = {"NeuMF": 30.96, "MultiVAE": 18.38}  # Table 2 of Jin et al. (2021)
    for one in content["models"]:
        best = max(one["validation"], key=lambda tried: tried["metrics"]["recall@10"])
        assert one["best"] == best["settings"]
        if one["model"] in published:
            share = one["test"]["recall@10"]["mean"] / published[one["model"]]
            assert one["goal"]["share_of_published"] == pytest.approx(share, abs=1e-3)
            assert one["goal"]["met"] == (share >= 0.9)


def test_a_line_after_a_torn_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    append_json({"one": 1}, path)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"two":')
    append_json({"three": 3}, path)
    assert path.read_text().splitlines() == ['{"one": 1}', '{"two":', '{"three": 3}']


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


class TestQuick:
    pytestmark = slow

    @pytest.mark.parametrize(
        "name",
        [
            "bounds",
            "demo_models",
            "gowalla_ease",
            "reproduction_index",
            "scale",
            "shapes",
            "sizing",
        ],
    )
    def test_it_runs(self, name: str, quick: Any) -> None:
        content = quick(name)
        assert content["seconds"] > 0
        assert content["peak_megabytes"] > 0

    def test_winner_probability(self, quick: Any) -> None:
        content = quick("winner_probability")
        cells = content["stated"]
        assert sum(one["runs"] for one in cells) == content["repeats"] * len(content["metrics"])
        for one in cells:
            assert one["from"] <= one["stated_percent"] / 100 < one["below"]
            assert 0.0 <= one["right_percent"] <= 100.0

    def test_smoothing(self, quick: Any) -> None:
        content = quick("smoothing")
        assert [one["design"] for one in content["summary"]] == ["adaptive", "fixed 100"]
        for one in content["summary"]:
            cells = [cell for cell in content["cells"] if cell["design"] == one["design"]]
            ratios = [cell["errors"][m]["ratio"] for cell in cells for m in METRICS]
            won = sum(r < 1 for r in ratios) / len(ratios)
            assert (one["cells"], one["worst_ratio"]) == (len(ratios), max(ratios))
            assert one["share_won"] == pytest.approx(won, abs=1e-4)
        by_fall = {cell["fall"]: cell for cell in content["fall"]}
        assert list(by_fall) == [0.3, 0.5, 0.7]
        # c = 0.5 is the estimator itself, so its cell is the same, and the others differ
        assert by_fall[0.5]["errors"] == content["cells"][0]["errors"]
        assert by_fall[0.3]["errors"] != by_fall[0.5]["errors"] != by_fall[0.7]["errors"]

    def test_several_targets(self, quick: Any) -> None:
        content = quick("several_targets")
        assert content["exhausted"]["largest_relative_difference"] < 1e-12
        assert [one["method"] for one in content["adaptive"]] == ["MLE", "smoothed"]
        for one in content["adaptive"]:
            assert list(one["metrics"]) == list(content["exact"])
            for metric, cell in one["metrics"].items():
                assert cell["standard_error"] > 0
                distance = abs(cell["estimate"] - content["exact"][metric])
                assert cell["within_two"] == (distance <= 2 * cell["standard_error"])

    def test_intervals_resume(self, quick: Any) -> None:
        content = quick("intervals")
        assert len(content["cells"]) == 16  # eight metrics, two targets
        for cell in content["cells"]:
            assert 0.0 <= cell["coverage"] <= 1.0
            assert cell["method"] == "smoothed"
        assert quick("intervals")["cells"] == content["cells"]

    def test_plan(self, quick: Any) -> None:
        content = quick("plan")
        assert content["of"] == len(content["rows"]) >= 12
        for row in content["rows"]:
            ratio = row["predicted"] / row["measured"]
            assert row["ratio"] == pytest.approx(ratio, abs=0.02)
            assert row["within_quarter"] == (abs(row["ratio"] - 1.0) <= 0.25)

    def test_ml1m_ials_resumes(self, quick: Any) -> None:
        content = quick("ml1m_ials")
        best = max(content["validation"], key=lambda row: row["values"]["recall@10"])
        assert content["best"] == best["settings"]
        share = content["test"]["recall@10"]["mean"] / content["published"]
        assert content["share_of_published"] == pytest.approx(share, abs=1e-4)
        assert '"unobserved_weight": 0.01' in quick.printed
        assert quick("ml1m_ials")["validation"] == content["validation"]
        assert "unobserved_weight" not in quick.printed  # nothing was tried a second time

    def test_gowalla_models(self, quick: Any) -> None:
        content = quick("gowalla_models")
        assert list(content["models"]) == ["popularity", "PureSVD 4", "iALS 4", "iALS 8"]
        for name in ("iALS 4", "iALS 8"):
            model = content["models"][name]
            best = max(model["validation"], key=lambda row: row["values"]["recall@20"])
            assert model["settings"] == best["settings"]
            assert model["test"]["recall@20"]["mean"] > 0
            assert model["test"]["recall@20"]["sd"] is not None

    def test_ml1m_models(self, quick: Any) -> None:
        content = quick("ml1m_models")
        names = [one["model"] for one in content["models"]]
        assert names == ["Popularity", "ItemKNN", "PureSVD", "MF", "LRR", "SLIM", "EASE"]
        for one in content["models"]:
            best = max(one["validation"], key=lambda tried: tried["metrics"]["recall@10"])
            assert one["best"] == best["settings"]
            assert 0 < one["test"]["recall@10"] < 1000
        assert content["models"][1]["goal"]["met"] == (
            content["models"][1]["test"]["recall@10"] >= 0.9 * 42.72
        )

    def test_ml1m_neural_resumes(
        self, quick: Any, tmp_path: Path, need: Callable[[str], ModuleType]
    ) -> None:
        need("torch")
        content = quick("ml1m_neural", OMP_NUM_THREADS="1")
        names = [one["model"] for one in content["models"]]
        assert names == ["NeuMF", "MultiVAE", "MultiDAE", "CDAE"]
        kept = tmp_path / "ml1m_neural-simulated.jsonl"
        lines = kept.read_text(encoding="utf-8").splitlines()
        assert len(lines) == 2 + 1 + 2 + 2 + 4 * 2  # settings, and two seeds of each model
        for one in content["models"]:
            best = max(one["validation"], key=lambda tried: tried["metrics"]["recall@10"])
            assert one["best"] == best["settings"]
            assert one["epochs"] == len(best["rates"])
        # stopped while a line was written: that fit alone is repeated, and is the same
        kept.write_text("\n".join([*lines[:-1], lines[-1][:40]]) + "\n", encoding="utf-8")
        again = quick("ml1m_neural", OMP_NUM_THREADS="1")
        assert len(kept.read_text(encoding="utf-8").splitlines()) == len(lines) + 1
        assert [a["test"] for a in again["models"]] == [b["test"] for b in content["models"]]
