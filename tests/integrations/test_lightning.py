"""The Lightning callback inside real Trainers: epochs, monitors, loaders, several processes."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import fullrank as fr
from fullrank.errors import InputError, NotFittedError

pytestmark = pytest.mark.filterwarnings("default")  # Lightning's own advice on workers and devices


@pytest.fixture(scope="module")
def case(need: Callable[[str], ModuleType]) -> Any:
    need("lightning")
    from tests.integrations import lightning_case

    return lightning_case


@pytest.fixture(scope="module")
def callback(case: Any) -> Any:
    from fullrank.torch import RankCallback

    return RankCallback


def expected(case: Any, *, seed: int = 0, exclude: bool = True, model: Any = None) -> fr.ExactRanks:
    """`fr.rank` on the same scores."""
    import torch

    with torch.no_grad():
        scores = (model or case.Model())(torch.arange(case.N_USERS)).numpy()
    rows = case.Data(seed).rows
    users, targets = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    seen = np.array([r[2] for r in rows])
    ones = np.ones(seen.size)
    shape = (case.N_USERS, case.N_ITEMS)
    left_out = csr_array((ones, (np.repeat(users, 2), seen.ravel())), shape) if exclude else None
    return fr.rank(scores, (users, targets), exclude=left_out)


def validated(
    case: Any, one: Any, returns: Any = None, loaders: Any = None, **settings: Any
) -> Any:
    run = case.trainer(callbacks=[one], **settings)
    run.validate(case.Model(returns), loaders or case.loader(), verbose=False)
    return {name: value.item() for name, value in run.callback_metrics.items()}


@pytest.mark.parametrize("stage", ["val", "test"])
def test_metrics_are_those_of_rank_to_the_last_bit(case: Any, callback: Any, stage: str) -> None:
    one = callback("ndcg@10, recall@3, rr", exclude="seen")
    run = case.trainer(callbacks=[one])
    getattr(run, {"val": "validate", "test": "test"}[stage])(
        case.Model(), case.loader(), verbose=False
    )
    truth = expected(case).metrics("ndcg@10, recall@3, rr")
    logged = {name: value.item() for name, value in run.callback_metrics.items()}
    assert logged == {f"{stage}/{name}": value for name, value in truth.items()}
    assert one.exact().metrics("ndcg@10") == {"ndcg@10": truth["ndcg@10"]}
    assert sorted(set(one.exact().user.tolist())) == list(range(case.N_USERS))
    again = fr.ExactRanks.of_sample(one.sample())
    assert again.total_targets == one.exact().total_targets == len(case.Data())


Named = namedtuple("Named", "scores target")


@pytest.mark.parametrize(
    ("keys", "returns"),
    [
        ({}, lambda batch, scores: scores),
        ({"scores": "logits"}, lambda batch, scores: {"logits": scores, "loss": 0.0}),
        ({}, lambda batch, scores: SimpleNamespace(scores=scores)),
        ({}, lambda batch, scores: Named(scores, batch["target"])),
        ({"scores": 0, "target": 1}, lambda batch, scores: (scores, batch["target"])),
        ({"scores": lambda outputs, batch: -outputs["cost"]}, lambda batch, s: {"cost": -s}),
        ({}, lambda batch, scores: {"scores": scores.bfloat16()}),
    ],
)
def test_keys_are_found_in_outputs_and_batch(
    case: Any, callback: Any, keys: Any, returns: Any
) -> None:
    logged = validated(case, callback("rr", exclude="seen", **keys), returns)
    assert logged == {"val/rr": expected(case).metrics("rr")["rr"]}


def test_batches_may_be_tuples(case: Any, callback: Any) -> None:
    from torch.utils.data import default_collate

    def tuples(rows: Any) -> Any:
        batch = default_collate(rows)
        return batch["user"], batch["target"], batch["seen"]

    one = callback("rr", target=1, user=0, exclude=2)
    logged = validated(case, one, loaders=case.loader(collate_fn=tuples))
    assert logged == {"val/rr": expected(case).metrics("rr")["rr"]}


@pytest.mark.parametrize(
    ("returns", "keys", "says"),
    [
        (lambda batch, scores: None, {}, r"`scores`.*'scores'.*validation_step returned None"),
        (lambda batch, scores: {"loss": 1}, {}, r"`scores`.*'scores'.*'loss'.*'user'"),
        (lambda batch, scores: scores.mean(), {}, r"`scores`.*tensor of shape \(\)"),
        (None, {"target": "label"}, r"`target`.*'label'.*'seen'"),
        (None, {"user": "uid"}, r"`user`.*'uid'.*`user=None`"),
        (None, {"exclude": 3}, r"`exclude`.*\b3\b"),
        (lambda batch, scores: {"scores": None}, {}, r"`scores`.*None"),
        (lambda batch, scores: (), {"scores": 0}, r"`scores`.*tuple of length 0"),
    ],
)
def test_what_is_not_found_is_said_in_a_sentence(
    case: Any, callback: Any, returns: Any, keys: Any, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        validated(case, callback(**keys), returns)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"scores": None}, "`scores`.*None"),
        ({"user": 1.5}, "`user`.*1.5"),
        ({"metrics": "ndgc@10"}, "ndgc"),
        ({"prefix": "{epoch}"}, "`prefix`.*epoch"),
        ({"prog_bar": "yes"}, "`prog_bar`.*yes"),
    ],
)
def test_arguments_are_checked_at_once(callback: Any, keys: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        callback(**keys)


def test_nothing_is_kept_of_the_sanity_check(case: Any, callback: Any) -> None:
    one = callback("rr", exclude="seen")
    seen: list[Any] = []

    class Look(case.pl.Callback):  # type: ignore[misc,name-defined]
        def on_sanity_check_end(self, trainer: Any, pl_module: Any) -> None:
            seen.append((list(one.metrics), dict(trainer.callback_metrics)))

    run = case.trainer(callbacks=[one, Look()], max_epochs=1, num_sanity_val_steps=2)
    model = case.Model()
    run.fit(model, case.loader(), case.loader())
    assert seen == [([], {})]
    assert one.exact().total_targets == len(case.Data())
    truth = expected(case, model=model).metrics("rr")["rr"]
    assert run.callback_metrics["val/rr"].item() == truth


def test_a_wrong_key_is_reported_before_training(case: Any, callback: Any) -> None:
    run = case.trainer(callbacks=[callback(target="label")], max_epochs=1)
    with pytest.raises(InputError, match="`target`"):
        run.fit(case.Model(), case.loader(), case.loader())
    assert run.global_step == 0


def test_checkpoints_and_early_stopping_monitor_it(
    case: Any, callback: Any, tmp_path: Path
) -> None:
    from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint

    history: list[float] = []

    class Note(case.pl.Callback):  # type: ignore[misc,name-defined]
        def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
            if not trainer.sanity_checking:
                history.append(trainer.callback_metrics["val/ndcg@10"].item())

    keep = ModelCheckpoint(tmp_path, monitor="val/ndcg@10", mode="max")
    stop = EarlyStopping("val/ndcg@10", mode="max", patience=2)
    # the monitors come first: what they see does not depend on the order of callbacks
    run = case.trainer(
        callbacks=[keep, stop, Note(), callback("ndcg@10")],
        max_epochs=30,
        enable_checkpointing=True,
    )
    run.fit(case.Model(), case.loader(), case.loader())
    assert keep.best_model_score.item() == max(history)
    best = history.index(max(history))
    assert len(history) == min(30, best + 1 + 2)


def test_every_data_loader_has_its_own_metrics(case: Any, callback: Any) -> None:
    one = callback("rr", exclude="seen")
    logged = validated(case, one, loaders=[case.loader(0), case.loader(1)])
    truth = [expected(case, seed=seed).metrics("rr")["rr"] for seed in (0, 1)]
    assert logged == {f"val/rr/dataloader_idx_{i}": truth[i] for i in (0, 1)}
    assert truth[0] != truth[1]
    assert one.exact(1).metrics("rr") == {"rr": truth[1]}
    with pytest.raises(InputError, match=r"`dataloader_idx`.*\b2\b"):
        one.exact(2)


def test_a_data_loader_without_targets_is_named(case: Any, callback: Any) -> None:
    def padding(batch: Any, scores: Any) -> Any:
        return {"scores": scores, "target": batch["target"] * 0 - 100}

    with pytest.raises(InputError, match=r"`target` .* data loader 0 had none"):
        validated(case, callback("rr"), padding)


def test_a_combined_loader_is_one(case: Any, callback: Any) -> None:
    """Lightning counts its loaders, and hands batches of them all under the first number."""
    from lightning.pytorch.utilities import CombinedLoader

    class Pairs(case.Model):  # type: ignore[misc]
        def validation_step(self, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> Any:
            return super().validation_step(batch[0], batch_idx, dataloader_idx)

    both = CombinedLoader([case.loader(0), case.loader(0)], "max_size")
    keys = {
        "target": lambda out, batch: batch[0]["target"],
        "user": lambda out, batch: batch[0]["user"],
        "exclude": lambda out, batch: batch[0]["seen"],
    }
    one = callback("rr", **keys)
    run = case.trainer(callbacks=[one])
    run.validate(Pairs(), both, verbose=False)
    truth = expected(case).metrics("rr")["rr"]
    assert {name: value.item() for name, value in run.callback_metrics.items()} == {"val/rr": truth}
    with pytest.raises(InputError, match=r"`dataloader_idx`"):
        one.exact(1)


def test_mixed_precision_and_gradients(case: Any, callback: Any) -> None:
    logged = validated(case, callback("rr", exclude="seen"), precision="bf16-mixed")
    kept = validated(case, callback("rr", exclude="seen"), inference_mode=False)
    with_grad = validated(
        case, callback("rr", exclude="seen"), lambda b, s: {"scores": s.detach().requires_grad_()},
        inference_mode=False,
    )  # fmt: skip
    assert set(logged) == {"val/rr"}
    assert kept == with_grad == {"val/rr": expected(case).metrics("rr")["rr"]}


def test_the_prefix_may_be_anything(case: Any, callback: Any) -> None:
    assert set(validated(case, callback("rr", prefix="{stage}_"))) == {"val_rr"}
    assert set(validated(case, callback("rr", prefix=""))) == {"rr"}


def test_callbacks_that_log_the_same_name_are_refused(case: Any, callback: Any) -> None:
    """Lightning would log the larger of both values."""
    both = [callback("rr, ndcg@10"), callback("recall@10, rr", ties="worst")]
    with pytest.raises(InputError, match=r"`prefix` must differ.*'val/rr'"):
        case.trainer(callbacks=both).validate(case.Model(), case.loader(), verbose=False)
    both[1] = callback("rr", ties="worst", prefix="worst_")
    run = case.trainer(callbacks=both)
    run.validate(case.Model(), case.loader(), verbose=False)
    assert {"val/rr", "worst_rr"} < set(run.callback_metrics)


def test_results_have_the_ids_of_the_numbers(case: Any, callback: Any) -> None:
    names = np.array([f"user {number}" for number in range(case.N_USERS)])
    one = callback("rr", exclude="seen", user_ids=names)
    validated(case, one)
    assert set(one.exact().user.tolist()) == set(names.tolist())


def test_sampled_candidates_are_estimated(case: Any, callback: Any) -> None:
    """The first column is the target, the others are drawn; ids tell targets of a user apart."""
    import torch

    def drawn(batch: Any, scores: Any) -> Any:
        rows = np.random.default_rng(batch["user"].tolist())
        others = torch.as_tensor(rows.integers(0, case.N_ITEMS, (len(scores), 19)))
        items = torch.cat([batch["target"][:, None], others], 1)
        return {"scores": scores.gather(1, items), "column": torch.zeros(len(scores)).long()}

    one = callback("rr", design="sampled:20", n_items=40, target="column", item="target")
    logged = validated(case, one, drawn)
    found = fr.estimate(one.sample(), "rr").values
    assert logged == {"val/rr": found["rr"]}
    assert one.sample().count.sum() == len(case.Data())
    with pytest.raises(InputError, match=r"`design`.*sampled"):
        one.exact()


def test_there_are_no_ranks_before_an_epoch(callback: Any) -> None:
    with pytest.raises(NotFittedError, match="epoch"):
        callback().exact()


def test_callbacks_survive_pickle(case: Any, callback: Any) -> None:
    one = pickle.loads(pickle.dumps(callback("rr", exclude="seen")))
    assert validated(case, one) == {"val/rr": expected(case).metrics("rr")["rr"]}
    assert repr(one) == "RankCallback('rr')"


@pytest.mark.slow
@pytest.mark.parametrize("n_processes", [2, 3])
def test_several_processes_log_what_one_does(case: Any, tmp_path: Path, n_processes: int) -> None:
    """Though the sampler pads the rows with repeats."""
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-m", "tests.integrations.lightning_case", str(n_processes), tmp_path],
        cwd=root, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    truth = expected(case)
    metrics = truth.metrics("ndcg@10, recall@3, rr")
    assert len(case.Data()) % n_processes != 0
    for rank in range(n_processes):
        found = json.loads((tmp_path / f"{rank}.json").read_text())
        assert found["logged"] == {f"val/{name}": value for name, value in metrics.items()}
        assert not any("sync_dist" in line for line in found["warnings"])
        assert found["rows"] == (truth.total_targets if rank == 0 else None)
