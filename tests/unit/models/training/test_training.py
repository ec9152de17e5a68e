"""The loop that all models share, mostly by way of EmbeddingMF."""

import json
import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from fullrank._lib.progress import duration
from fullrank.data import Interactions, Split
from fullrank.errors import InputError, MissingExtraError
from fullrank.models import EmbeddingMF, LightGCN, NeuMF, load
from fullrank.models.training import epochs, graphs, row_steps
from fullrank.models.training.adam import Adam
from fullrank.models.training.history import History
from fullrank.models.training.state import Run
from fullrank.ranking import rank

pytestmark = pytest.mark.usefixtures("torch")


def small(**settings: Any) -> EmbeddingMF:
    return EmbeddingMF(
        **{"n_factors": 8, "learning_rate": 0.01, "batch_size": 256, "epochs": 6} | settings
    )


def same(a: EmbeddingMF, b: EmbeddingMF) -> bool:
    return np.array_equal(a.user_factors_, b.user_factors_) and np.array_equal(
        a.item_factors_, b.item_factors_
    )


class StopHereError(Exception):
    pass


def after(epochs: int) -> Callable[[int, int], None]:
    def stop(done: int, total: int) -> None:
        if done == epochs:
            raise StopHereError

    return stop


# ---- seeds ----


def test_the_seed_decides(split: Split) -> None:
    first = small(epochs=2).fit(split.train)
    assert same(first, small(epochs=2).fit(split.train))
    assert not same(first, small(epochs=2, seed=1).fit(split.train))


def test_the_seed_decides_on_order_and_draws_too(
    split: Split, torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the same first values."""
    monkeypatch.setattr(
        EmbeddingMF, "initial_generator", lambda self: torch.Generator().manual_seed(0)
    )
    first, second, other = (small(epochs=1, seed=seed).fit(split.train) for seed in (3, 3, 4))
    assert same(first, second)
    assert not same(first, other)


def test_validation_leaves_the_course_of_training_alone(split: Split) -> None:
    """The last epoch is the best of these, so that both keep it."""
    with_it = small(epochs=3).fit(split.train, valid=split.test)
    assert with_it.history_.best_epoch == 3
    without = small(epochs=3).fit(split.train)
    assert same(with_it, without)
    np.testing.assert_array_equal(with_it.history_.loss, without.history_.loss)


def test_torchs_own_generators_are_neither_used_nor_moved(split: Split, torch: Any) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = small(epochs=2).fit(split.train, valid=split.test)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    assert same(first, small(epochs=2).fit(split.train, valid=split.test))


@pytest.mark.parametrize("around", ["no_grad", "inference_mode"])
def test_what_is_set_for_all_of_torch_changes_nothing(
    split: Split, torch: Any, around: str
) -> None:
    kinds: list[Any] = [EmbeddingMF, LightGCN, NeuMF]
    for kind in kinds:
        first = kind(epochs=2).fit(split.train)
        torch.set_default_dtype(torch.float64)
        try:
            with getattr(torch, around)():
                again = kind(epochs=2).fit(split.train)
            assert torch.get_default_dtype() == torch.float64
        finally:
            torch.set_default_dtype(torch.float32)
        assert again.item_factors_.dtype == np.float32
        np.testing.assert_array_equal(again.item_factors_, first.item_factors_)


def test_epochs_differ_in_their_order(split: Split) -> None:
    """With a rate of next to nothing, only order and draws can change the loss."""
    history = small(epochs=3, learning_rate=1e-12, initial_scale=1.0).fit(split.train).history_
    assert np.unique(history.loss).size == 3


# ---- validation, plateaus and the best epoch ----


def test_the_metric_is_that_of_exact_ranks_without_training_items(split: Split) -> None:
    model = small(metric="recall@10", epochs=4).fit(split.train, valid=split.test)
    assert model.history_.metric_name == "recall@10"
    ranks = rank(model.scorer(), split.test, exclude=split.train)
    assert model.history_.best_metric == ranks.metrics("recall@10")["recall@10"]
    kept = small(metric="recall@10", epochs=4).fit(split.train, valid=split.test, exclude=False)
    ranks = rank(kept.scorer(), split.test)
    assert kept.history_.best_metric == ranks.metrics("recall@10")["recall@10"]


def test_the_best_epoch_is_kept(split: Split) -> None:
    """Twenty epochs at a high rate learn the training part by heart; the best came before."""
    settings = {"learning_rate": 0.05, "patience": 50}
    model = small(epochs=20, **settings).fit(split.train, valid=split.test)
    best = model.history_.best_epoch
    assert best < 20
    assert same(model, small(epochs=best, **settings).fit(split.train))


def test_the_rate_is_halved_on_a_plateau_down_to_its_floor(
    split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Epoch 2 is the best; two more halve the rate, again and again."""
    values = iter([0.1, 0.3, 0.2, 0.3, 0.1, 0.25, 0.2, 0.1, 0.1, 0.1])
    monkeypatch.setattr(
        "fullrank.models.training.validation.Validation.__call__",
        lambda self, learner: next(values),
    )
    model = small(epochs=50, learning_rate=0.04, min_learning_rate=0.01, patience=2)
    history = model.fit(split.train, valid=split.test).history_
    expected = [0.04] * 4 + [0.02] * 2 + [0.01] * 2
    np.testing.assert_allclose(history.learning_rate, expected)  # 0.005 would be below the floor
    assert history.best_epoch == 2
    assert history.best_metric == 0.3
    assert same(model, small(epochs=2, learning_rate=0.04).fit(split.train))


def test_without_a_validation_part_all_epochs_are_alike(split: Split) -> None:
    history = small(epochs=4).fit(split.train).history_
    assert history.metric_name is None
    assert history.best_metric is None
    assert history.best_epoch == 4
    assert np.isnan(history.metric).all()
    np.testing.assert_array_equal(history.learning_rate, 0.01)


def test_a_schedule_that_was_found_is_repeated(split: Split) -> None:
    rates = [0.02, 0.02, 0.01]
    model = small(epochs=50).fit(split.train, rates=rates)
    np.testing.assert_array_equal(model.history_.learning_rate, rates)
    found = small(epochs=12, learning_rate=0.05, patience=1).fit(split.train, valid=split.test)
    again = small(learning_rate=0.9).fit(split.train, rates=found.history_.rates)
    assert same(found, again)
    shown = small(patience=1).fit(split.train, valid=split.test, rates=[0.05] * 12).history_
    assert shown.n_epochs == 12  # no plateau stops it


def test_no_epochs_leave_the_first_values(split: Split) -> None:
    model = small(epochs=0, initial_scale=0.5).fit(split.train)
    assert model.history_.n_epochs == 0
    assert 0.4 < model.user_factors_.std() < 0.6


def test_weight_decay_draws_vectors_to_zero(split: Split) -> None:
    sizes = [
        np.abs(small(weight_decay=decay, epochs=10).fit(split.train).item_factors_).mean()
        for decay in (0.0, 0.1)
    ]
    assert sizes[1] < 0.5 * sizes[0]


# ---- checkpoints ----


@pytest.mark.parametrize("at", [1, 3])
@pytest.mark.parametrize("with_valid", [True, False])
def test_an_interrupted_run_goes_on_bit_for_bit(
    split: Split, tmp_path: Path, at: int, with_valid: bool
) -> None:
    settings = {"loss": "debiased-info-nce", "n_negatives": 4, "patience": 1, "epochs": 8}
    valid = split.test if with_valid else None
    whole = small(**settings).fit(split.train, valid=valid)
    path = tmp_path / "run.safetensors"
    with pytest.raises(StopHereError):
        small(**settings).fit(split.train, valid=valid, checkpoint=path, progress=after(at))
    seen: list[int] = []
    second = small(**settings).fit(
        split.train, valid=valid, checkpoint=path, progress=lambda done, total: seen.append(done)
    )
    assert seen[0] == at + 1
    assert same(whole, second)
    for name in ("loss", "metric", "learning_rate"):
        np.testing.assert_array_equal(getattr(whole.history_, name), getattr(second.history_, name))


def test_the_best_epoch_before_an_interruption_is_kept(
    split: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = iter([0.1, 0.3, 0.2, 0.2, 0.1])
    monkeypatch.setattr(
        "fullrank.models.training.validation.Validation.__call__",
        lambda self, learner: next(values),
    )
    path = tmp_path / "run.safetensors"
    for last in (after(3), None):
        model = small(epochs=5)
        with pytest.raises(StopHereError) if last else nullcontext():
            model.fit(split.train, valid=split.test, checkpoint=path, progress=last)
    assert model.history_.best_epoch == 2
    assert same(model, small(epochs=2).fit(split.train))


def test_a_graph_model_goes_on_bit_for_bit(split: Split, tmp_path: Path) -> None:
    def model() -> LightGCN:
        return LightGCN(n_factors=8, epochs=4, learning_rate=0.01, batch_size=256)

    whole = model().fit(split.train)
    path = tmp_path / "run.safetensors"
    with pytest.raises(StopHereError):
        model().fit(split.train, checkpoint=path, progress=after(2))
    np.testing.assert_array_equal(
        model().fit(split.train, checkpoint=path).item_factors_, whole.item_factors_
    )


def test_fewer_epochs_than_a_checkpoint_has_are_refused(split: Split, tmp_path: Path) -> None:
    path = tmp_path / "run.safetensors"
    small(epochs=3).fit(split.train, checkpoint=path)
    with pytest.raises(InputError, match=r"`epochs`.*\b3\b.*`checkpoint`.*\b2\b"):
        small(epochs=2).fit(split.train, checkpoint=path)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no/folder/run.safetensors", r"`checkpoint`.*No such file"),
        (".", r"`checkpoint`.*name a file.*is not one"),
        ("a" * 300, r"`checkpoint`.*too long"),
        (3, r"`checkpoint`.*\bint\b"),
    ],
)
def test_a_checkpoint_that_cannot_be_is_refused_before_the_first_epoch(
    split: Split, tmp_path: Path, path: Any, message: str
) -> None:
    seen: list[int] = []
    where = tmp_path / path if isinstance(path, str) else path
    with pytest.raises(InputError, match=message):
        small().fit(split.train, checkpoint=where, progress=lambda done, _: seen.append(done))
    assert not seen
    assert not list(tmp_path.iterdir())


def test_a_run_that_is_done_is_not_repeated_but_may_be_prolonged(
    split: Split, tmp_path: Path
) -> None:
    path = tmp_path / "run.safetensors"
    first = small(epochs=3).fit(split.train, checkpoint=path)
    epochs: list[int] = []
    again = small(epochs=3).fit(
        split.train, checkpoint=path, progress=lambda done, total: epochs.append(done)
    )
    assert not epochs
    assert same(first, again)
    longer = small(epochs=5).fit(split.train, checkpoint=path)
    assert same(longer, small(epochs=5).fit(split.train))


def test_a_checkpoint_holds_no_code(split: Split, tmp_path: Path) -> None:
    path = tmp_path / "run.safetensors"
    small(epochs=1).fit(split.train, valid=split.test, checkpoint=path)
    with safe_open(str(path), framework="np") as content:
        names = set(content.keys())
        head = json.loads(content.metadata()["fullrank-training"])
    kinds = ("parameter", "exp_avg", "exp_avg_sq", "step", "best")
    assert names == {f"{kind}.{side}" for kind in kinds for side in ("users", "items")}
    assert head["run"]["columns"]["loss"]
    assert [file.name for file in tmp_path.iterdir()] == ["run.safetensors"]


def test_a_write_that_fails_leaves_the_last_checkpoint(
    split: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.safetensors"
    small(epochs=1).fit(split.train, checkpoint=path)
    before = path.read_bytes()

    def broken(*args: Any, **kwargs: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("safetensors.numpy.save_file", broken)
    with pytest.raises(OSError, match="No space left"):
        small(epochs=2).fit(split.train, checkpoint=path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_factors": 9}, "n_factors is 8, not 9"),
        ({"loss": "mine"}, 'loss is "bpr", not "mine"'),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(
    split: Split, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = tmp_path / "run.safetensors"
    small(epochs=1).fit(split.train, checkpoint=path)
    with pytest.raises(InputError, match=rf"`checkpoint`.*{message}"):
        small(epochs=1, **change).fit(split.train, checkpoint=path)


def test_a_checkpoint_of_other_data_is_refused(split: Split, tmp_path: Path) -> None:
    path = tmp_path / "run.safetensors"
    small(epochs=1).fit(split.train, checkpoint=path)
    with pytest.raises(InputError, match=r"`checkpoint`.*interactions"):
        small(epochs=1).fit(split.test, checkpoint=path)
    with pytest.raises(InputError, match=r"`checkpoint`.*valid is null"):
        small(epochs=1).fit(split.train, valid=split.test, checkpoint=path)
    other = tmp_path / "other.safetensors"
    small(epochs=1).fit(split.train, valid=split.test, checkpoint=other)
    with pytest.raises(InputError, match=r"`checkpoint`.*valid is \["):  # other candidates
        small(epochs=1).fit(split.train, valid=split.test, exclude=False, checkpoint=other)


def rewritten(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    with safe_open(str(path), framework="np") as content:
        head = json.loads(content.metadata()["fullrank-training"])
        arrays = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
    change(head, arrays)
    save_file(arrays, str(path), metadata={"fullrank-training": json.dumps(head)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda head, arrays: head.update(format=99), "metadata.*format"),
        (lambda head, arrays: head.pop("identity"), "metadata.*read"),
        (lambda head, arrays: head["run"].update(pace=1), "unexpected keyword"),
        (lambda head, arrays: head["run"]["columns"]["loss"].append(1.0), "differ in length"),
        (lambda head, arrays: arrays.pop("exp_avg.items"), "exp_avg.items"),
        (lambda head, arrays: arrays.pop("best.items"), "best.items"),
        (
            lambda head, arrays: arrays.update({"best.users": np.zeros((3, 3), np.float32)}),
            r"float32 of shape \(3, 3\), not float32 of \(200, 8\)",
        ),
    ],
)
def test_a_damaged_checkpoint_is_refused(
    split: Split, tmp_path: Path, change: Callable[..., None], message: str
) -> None:
    path = tmp_path / "run.safetensors"
    small(epochs=1).fit(split.train, valid=split.test, checkpoint=path)
    rewritten(path, change)
    with pytest.raises(InputError, match=rf"`checkpoint`.*{message}"):
        small(epochs=2).fit(split.train, valid=split.test, checkpoint=path)


def test_a_model_is_no_checkpoint(split: Split, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    small(epochs=1).fit(split.train).save(path)
    with pytest.raises(InputError, match="other content"):
        small(epochs=2).fit(split.train, checkpoint=path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="cannot be read"):
        small(epochs=2).fit(split.train, checkpoint=path)


# ---- steps that are recorded ----


@pytest.mark.parametrize("batch_size", [100, 256, 100_000])
def test_replayed_epochs_are_the_same_epochs(
    split: Split, monkeypatch: pytest.MonkeyPatch, batch_size: int
) -> None:
    """Where there is no GPU the recording is the step itself."""
    settings = {"batch_size": batch_size, "loss": "mine-plus", "n_negatives": 5}
    plain = small(**settings).fit(split.train)
    recorded: list[Any] = []

    def record(step: Callable[[], None]) -> Callable[[], None]:
        recorded.append(step)
        return step

    monkeypatch.setattr(
        epochs, "way_through", lambda *given: graphs.ReplayedEpochs(*given, record=record)
    )
    assert same(plain, small(**settings).fit(split.train))
    assert len(recorded) == (batch_size < 100_000)


# ---- steps on few rows ----


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"loss": "debiased-ccl", "n_negatives": 2, "n_positives": 2, "initial_scale": 1.0},
        {"loss": "sampled-softmax", "shared_negatives": True, "n_negatives": 9},
        {"loss": "mse", "n_negatives": 3, "regularization": 0.1},
        {"batch_size": 2, "epochs": 1},  # a user's next turn is hundreds of steps away
    ],
)
def test_steps_on_few_rows_are_adams(
    split: Split, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    """Rows that wait for up to a thousand steps, beside torch's Adam on all of them."""
    settings = {"batch_size": 4, "epochs": 2, "learning_rate": 0.001} | settings
    made: list[Any] = []
    real = row_steps.RowEpochs
    monkeypatch.setattr(row_steps, "RowEpochs", lambda *given: made.append(1) or real(*given))
    few = small(**settings).fit(split.train)
    assert made
    monkeypatch.setattr(epochs, "few_rows", lambda *given: False)
    all_of_them = small(**settings).fit(split.train)
    assert len(made) == 1
    moved = np.abs(
        few.item_factors_ - small(**settings | {"epochs": 0}).fit(split.train).item_factors_
    )
    assert moved.max() > 0.1
    for name in ("user_factors_", "item_factors_"):
        np.testing.assert_allclose(
            getattr(few, name), getattr(all_of_them, name), atol=5e-5, rtol=0
        )
    np.testing.assert_allclose(few.history_.loss, all_of_them.history_.loss, rtol=1e-5)


def test_steps_on_few_rows_go_on_bit_for_bit(split: Split, tmp_path: Path) -> None:
    settings = {"batch_size": 8, "epochs": 4}
    whole = small(**settings).fit(split.train)
    path = tmp_path / "run.safetensors"
    with pytest.raises(StopHereError):
        small(**settings).fit(split.train, checkpoint=path, progress=after(2))
    with safe_open(str(path), framework="np") as content:  # as torch's Adam would go on from it
        steps = [content.get_tensor(f"step.{side}") for side in ("users", "items")]
    assert steps == [2 * -(-split.train.n_interactions // 8)] * 2
    assert same(whole, small(**settings).fit(split.train, checkpoint=path))


def test_few_rows_are_taken_where_there_are_few(torch: Any, split: Split) -> None:
    def few(**settings: Any) -> bool:
        model, cpu = small(**settings), torch.device("cpu")
        learner, source = model._learner(split.train, cpu), model._source(split.train, cpu)
        adam = Adam(learner.parameters(), weight_decay=model.weight_decay)
        return epochs.few_rows(source, adam)

    assert few(batch_size=46)  # 3 · 46 of 280 rows
    assert not few(batch_size=47)
    assert few(batch_size=40, n_negatives=50, shared_negatives=True)
    assert not few(batch_size=8, weight_decay=0.1)  # then every row has a gradient
    assert not few(batch_size=8, loss="softmax")


# ---- progress and history ----


def test_progress_counts_epochs_and_tells_the_time_left(
    split: Split, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[tuple[int, int]] = []
    small(epochs=3).fit(split.train, progress=lambda *call: calls.append(call))
    assert calls == [(1, 3), (2, 3), (3, 3)]
    small(epochs=2).fit(split.train, valid=split.test, progress=True)
    first, last = capsys.readouterr().err.strip().split("\r")
    assert re.fullmatch(
        r"EmbeddingMF: epoch 1 of 2, loss 0\.69\d*, ndcg@20 (0\.\d{4}) \(best \1\), "
        r"\d+:\d\d left\s*",
        first,
    )
    assert last.strip().endswith("done")


def test_progress_ends_where_training_stops_early(
    split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "fullrank.models.training.validation.Validation.__call__", lambda self, learner: 0.5
    )
    calls: list[tuple[int, int]] = []
    model = small(epochs=30, patience=1, min_learning_rate=0.01)
    model.fit(split.train, valid=split.test, progress=lambda *call: calls.append(call))
    assert calls == [(1, 30), (2, 2)]


def test_duration() -> None:
    assert [duration(x) for x in (0.4, 59.6, 3599, 7325)] == ["0:00", "1:00", "59:59", "2:02:05"]


def test_the_history_is_saved_and_printed(split: Split, tmp_path: Path) -> None:
    model = small(epochs=3).fit(split.train, valid=split.test)
    path = tmp_path / "model.safetensors"
    model.save(path)
    again = load(path).history_
    assert again.to_dict() == model.history_.to_dict()
    assert again.n_rows == split.train.n_interactions
    assert again.rows_per_second == again.n_rows / np.median(again.seconds)
    lines = str(again).splitlines()
    assert lines[0].split() == ["epoch", "loss", "ndcg@20", "rate", "seconds"]
    assert [line for line in lines if line.startswith("*")] == [lines[again.best_epoch]]
    assert not again.loss.flags.writeable
    table = again.to_arrow()
    assert table.column_names == ["epoch", "loss", "metric", "learning_rate", "seconds"]
    np.testing.assert_array_equal(table["metric"], again.metric)
    assert again.to_frame()["epoch"].tolist() == [1, 2, 3]
    kept = again.to_markdown().splitlines()[1 + again.best_epoch]
    assert kept.startswith(f"| **{again.best_epoch}** | **{again.loss[again.best_epoch - 1]:.5f}**")


def test_the_history_is_drawn(split: Split, need: Callable[[str], ModuleType]) -> None:
    need("matplotlib")
    history = small(epochs=3).fit(split.train, valid=split.test).history_
    ax = history.plot()
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), history.loss)
    (other,) = [one for one in ax.figure.axes if one is not ax]
    assert other.get_ylabel() == "ndcg@20"


def test_a_file_without_its_history_is_refused(split: Split, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    small(epochs=1).fit(split.train).save(path)
    with safe_open(str(path), framework="np") as content:
        head = json.loads(content.metadata()["fullrank"])
        arrays = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
    head["records"]["history_"]["loss"] = [1.0, 2.0]
    save_file(arrays, str(path), metadata={"fullrank": json.dumps(head)})
    with pytest.raises(InputError, match=r"same length"):
        load(path)
    del head["records"]
    save_file(arrays, str(path), metadata={"fullrank": json.dumps(head)})
    with pytest.raises(InputError, match=r"records.*missing"):
        load(path)


def test_a_run_of_its_own_best() -> None:
    run = Run(rate=1.0)
    assert run.judge(0.5, 2, 0.4)
    assert not run.judge(0.5, 2, 0.4)  # as good is no gain
    assert run.rate == 1.0
    assert not run.judge(0.4, 2, 0.4)
    assert (run.rate, run.stopped) == (0.5, False)
    assert run.judge(0.6, 2, 0.4)
    run.judge(0.1, 2, 0.4)
    run.judge(0.1, 2, 0.4)
    assert (run.rate, run.stopped) == (0.25, True)


def test_an_empty_history_has_no_best() -> None:
    columns: dict[str, list[float]] = {
        n: [] for n in ("loss", "metric", "learning_rate", "seconds")
    }
    history = History.from_columns(columns, metric_name=None, n_rows=5)
    assert (history.best_epoch, history.rates, history.rows_per_second) == (0, [], 0.0)


# ---- what is refused ----


def test_a_loss_that_explodes_is_named(split: Split) -> None:
    with pytest.raises(InputError, match=r"`learning_rate`.*\b1e\+30\b.*epoch"):
        small(loss="mse", learning_rate=1e30, epochs=3).fit(split.train)


@pytest.mark.parametrize("with_valid", [True, False])
def test_a_last_step_that_explodes_is_named(split: Split, with_valid: bool) -> None:
    """One batch: its loss was fine, and what came after it shows in no loss."""
    model = small(loss="mse", learning_rate=1e39, epochs=1, batch_size=10_000)
    with pytest.raises(InputError, match=r"`learning_rate`.*\b1e\+39\b"):
        model.fit(split.train, valid=split.test if with_valid else None)
    assert not hasattr(model, "user_factors_")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": -1}, r"`epochs`.*-1\b"),
        ({"patience": 0}, r"`patience`.*\b0\b"),
        ({"batch_size": 0}, r"`batch_size`.*\b0\b"),
        ({"learning_rate": 0}, r"`learning_rate`.*not 0\b"),
        ({"min_learning_rate": -1}, r"`min_learning_rate`.*-1\b"),
        ({"weight_decay": -1}, r"`weight_decay`.*-1\b"),
        ({"seed": -1}, r"`seed`.*-1\b"),
        ({"metric": ["ndcg@5", "auc"]}, r"`metric`.*\b2\b"),
        ({"device": "gpu"}, r'`device`.*None, "cpu", "cuda"'),
    ],
)
def test_settings_of_training(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        EmbeddingMF(**settings)


def test_what_fit_refuses(split: Split) -> None:
    train, test = split.train, split.test
    empty = Interactions(
        user_ids=train.user_ids,
        item_ids=train.item_ids,
        indptr=np.zeros(train.n_users + 1, np.int64),
        indices=np.empty(0, np.int32),
    )
    others = Interactions.from_arrays([0, 1], [0, 1], item_ids=test.item_ids)
    fewer = Interactions.from_arrays([0, 1], [0, 1])
    for given, message in [
        ({"valid": [1, 2]}, r"`valid`.*None.*\blist\b"),
        ({"valid": empty}, r"`valid`.*empty"),
        ({"valid_history": train}, r"`valid_history`.*`valid`"),
        ({"valid": fewer}, r"`valid`.*\b80\b.*\b2\b"),
        (
            {"valid": test, "valid_history": fewer},
            r"`valid_history`.*\b80\b.*\b2\b",
        ),
        ({"valid": test, "exclude": train}, r"`exclude`.*True.*False"),
        ({"rates": 0.1}, r"`rates`.*\b0\.1\b"),
        ({"rates": [0.1, 0]}, r"`rates\[1\]`.*not 0\b"),
        ({"progress": 3}, r"`progress`.*None, True.*\b3\b"),
        ({"valid": others}, r"`valid`.*`interactions`"),
        (
            {"valid": others, "valid_history": test},
            r"`valid`.*`valid_history`.*\b2\b.*\b200\b",
        ),
    ]:
        with pytest.raises(InputError, match=message):
            small(epochs=1).fit(train, **given)
    for more in ({}, {"loss": "sampled-softmax", "negatives": "popularity"}):
        with pytest.raises(InputError, match=r"`interactions`.*one interaction"):
            small(epochs=1, **more).fit(empty)
    with pytest.raises(InputError, match=r"`interactions`.*\bSplit\b"):
        small(epochs=1).fit(split)  # type: ignore[arg-type]


def test_a_history_that_a_model_cannot_use_is_refused_before_the_first_epoch(split: Split) -> None:
    seen: list[int] = []
    with pytest.raises(InputError, match=r"`valid_history`.*None"):
        small().fit(
            split.train,
            valid=split.test,
            valid_history=split.train,
            progress=lambda done, total: seen.append(done),
        )
    assert not seen


def test_a_gpu_that_is_not_there(split: Split, torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises((InputError, MissingExtraError), match=r"without a GPU|fullrank\[cuda\]"):
        small(epochs=1, device="cuda").fit(split.train)
