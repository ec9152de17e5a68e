import json
import os
import pickle
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from fullrank import models
from fullrank.data import Interactions, simulate
from fullrank.errors import InputError, NotFittedError
from fullrank.models import EASE, LRR, ItemKNN, Popularity

DATA = Interactions.from_arrays([0, 0, 1, 1, 2], [0, 1, 0, 1, 2], value=[5, 4, 3, 2, 1])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


def content(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    with safe_open(str(path), framework="np") as file:
        head = json.loads(file.metadata()["fullrank"])
        return head, {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118


def rewritten(path: Path, head: object, arrays: dict[str, np.ndarray]) -> None:
    save_file(arrays, str(path), metadata={"fullrank": json.dumps(head)})


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        models.load(path)
    return str(caught.value)


def test_ids_of_all_kinds_come_back(path: Path) -> None:
    """Words with accents, of other scripts, empty and with a NUL; numbers beyond 32 bits."""
    items = ["", "café", "日本語", "a\x00b", "z"]
    data = Interactions.from_arrays([2**40, 2**40, 7], ["z", "café", ""], item_ids=items)
    Popularity().fit(data).save(path)
    again = models.load(path).interactions_
    assert again.item_ids.tolist() == items
    assert again.user_ids.tolist() == [7, 2**40]
    assert again.user_ids.dtype == np.int64
    np.testing.assert_array_equal(again.indptr, data.indptr)
    np.testing.assert_array_equal(again.indices, data.indices)
    assert not again.indices.flags.writeable


def test_values_are_kept_and_times_are_not(path: Path) -> None:
    data = simulate(n_users=40, n_items=60, mean_interactions=12)
    Popularity().fit(data).save(path)
    again = models.load(path).interactions_
    np.testing.assert_array_equal(again.values, data.values)
    assert again.timestamps is None


def test_a_loaded_model_scores_new_users_and_can_be_saved_again(path: Path) -> None:
    model = ItemKNN(n_neighbors=2, shrinkage=1.5).fit(DATA)
    model.save(path)
    again = models.load(path)
    again.save(path)  # in the place of the file it came from
    new = Interactions.from_arrays(["me"], [1], item_ids=[0, 1, 2])
    expected = model.scorer(new).scores([0])
    np.testing.assert_array_equal(models.load(path).scorer(new).scores([0]), expected)


def test_one_penalty_for_each_factor_comes_back(path: Path) -> None:
    LRR(n_factors=2, regularization=[1.0, 2.5]).fit(DATA).save(path)
    assert models.load(path).regularization == [1.0, 2.5]


def test_threads_are_not_saved(path: Path) -> None:
    ItemKNN(n_jobs=1).fit(DATA).save(path)
    assert "n_jobs" not in content(path)[0]["settings"]
    assert models.load(path).n_jobs is None


def test_the_file_says_what_it_is(path: Path) -> None:
    EASE(regularization=3).fit(DATA).save(path)
    head, arrays = content(path)
    assert head["format"] == 1
    assert head["model"] == "ease"
    assert head["settings"] == {"regularization": 3.0}
    np.testing.assert_array_equal(arrays["weights_"], models.load(path).weights_)


def test_an_unfitted_model_is_not_saved(path: Path) -> None:
    with pytest.raises(NotFittedError, match=r"\bEASE\b.*not fitted.*`fit"):
        EASE().save(path)
    assert not path.exists()


def test_only_models_that_can_be_loaded_are_saved(path: Path) -> None:
    class Mine(Popularity):
        pass

    with pytest.raises(InputError, match=r"`model`.*Popularity.*Mine"):
        Mine().fit(DATA).save(path)
    assert not path.exists()


def test_settings_that_are_no_plain_values_are_not_saved(path: Path) -> None:
    model = EASE().fit(DATA)
    model.regularization = np.random.default_rng(0)  # type: ignore[assignment]
    with pytest.raises(InputError, match=r"`regularization`.*\bGenerator\b"):
        model.save(path)


def test_a_failed_save_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Popularity().fit(DATA).save(path)
    before = path.read_bytes()
    monkeypatch.setattr("safetensors.numpy.save_file", _fail)
    with pytest.raises(OSError, match="disk full"):
        EASE().fit(DATA).save(path)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_folder_is_no_file(path: Path) -> None:
    path.mkdir()
    with pytest.raises(InputError, match=rf"`path`.*{path}.*folder"):
        Popularity().fit(DATA).save(path)
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match=rf"`path`.*{pipe}.*device"):
        Popularity().fit(DATA).save(pipe)
    assert pipe.is_fifo()


def _fail(*_: object, **__: object) -> None:
    raise OSError("disk full")


# ---- files that are not ours, or no longer ----


def test_no_file(path: Path) -> None:
    assert re.search(rf"`path`.*{path}.*exist", refusal(path))


def test_not_safetensors(path: Path) -> None:
    path.write_bytes(pickle.dumps(EASE().fit(DATA)))
    start = rf"`path`.*{path}.*read"
    assert re.search(start, refusal(path))


def test_cut_off(path: Path) -> None:
    EASE().fit(DATA).save(path)
    path.write_bytes(path.read_bytes()[:-1])
    assert "cannot be read" in refusal(path)


def test_safetensors_of_something_else(path: Path) -> None:
    save_file({"layer": np.zeros(3)}, str(path))
    assert "other content" in refusal(path)


def test_a_newer_format(path: Path) -> None:
    head = {"format": 2, "version": "9.0"}  # whatever else a later format has
    rewritten(path, head, {"weights_": np.zeros(1)})
    assert re.search(rf"`path`.*format 1.*{path}.*format 2.*9\.0", refusal(path))


@pytest.mark.parametrize(
    "head",
    [
        [],
        {"format": 1},
        {"format": "1", "model": "ease", "settings": {}},
        {"format": 1, "model": 3, "settings": {}},
        {"format": 1, "model": "ease", "settings": []},
    ],
)
def test_metadata_of_another_make(path: Path, head: object) -> None:
    rewritten(path, head, {"weights_": np.zeros(1)})
    assert "metadata" in refusal(path)


def test_metadata_that_is_no_json(path: Path) -> None:
    save_file({"x": np.zeros(1)}, str(path), metadata={"fullrank": "[" * 100_000})
    assert "metadata" in refusal(path)


def test_an_unknown_model(path: Path) -> None:
    rewritten(path, {"format": 1, "model": "os.system", "settings": {}}, {"x": np.zeros(1)})
    assert "'os.system'" in refusal(path)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"regularisation": 3}, "'regularisation'"),
        ({"regularization": -3}, r"`regularization`.*-3\b"),
        ({"weights_": []}, "'weights_'"),
    ],
)
def test_settings_of_another_make(path: Path, settings: dict[str, object], why: str) -> None:
    rewritten(path, {"format": 1, "model": "ease", "settings": settings}, {"x": np.zeros(1)})
    assert re.search(rf"settings.*ease.*{why}", refusal(path))


# every entry breaks a file of itemKNN on DATA in one place
BREAKS: list[tuple[str, Any, str]] = [
    ("weights_.data", None, "weights_.data is missing"),
    ("item_ids", None, "item_ids is missing"),
    ("user_ids", np.array([1, 1, 2]), "user_ids are not all different"),
    ("user_ids", np.zeros(3), "user_ids must be one-dimensional int64, not float64"),
    ("interactions.indptr", np.array([0, 2, 4]), "does not fit 5 entries in 3 rows"),
    ("interactions.indptr", np.array([0, 4, 2, 5]), "does not fit 5 entries in 3 rows"),
    ("interactions.indptr", np.array([1, 2, 4, 5]), "does not fit 5 entries in 3 rows"),
    ("interactions.indptr", np.array([0, 2, 4, 6]), "does not fit 5 entries in 3 rows"),
    ("interactions.indices", np.array([0, 1, 0, 1, 3], np.int32), "do not lie in 0..2"),
    ("interactions.indices", np.array([0, 1, 0, 1, -1], np.int32), "do not lie in 0..2"),
    ("interactions.indices", np.array([0, 1, 1, 1, 2], np.int32), "do not ascend in every row"),
    ("interactions.values", np.zeros(4, np.float32), "differ in size"),
    ("weights_.data", np.zeros(9, np.float32), "differ in size"),
    ("weights_.indices", np.array([10**6, 0], np.int32), "do not lie in 0..2"),
]


@pytest.mark.parametrize(("name", "value", "why"), BREAKS)
def test_a_damaged_file(path: Path, name: str, value: np.ndarray | None, why: str) -> None:
    ItemKNN(n_neighbors=2).fit(DATA).save(path)
    head, arrays = content(path)
    assert name in arrays
    if value is None:
        del arrays[name]
    else:
        arrays[name] = value
    rewritten(path, head, arrays)
    assert re.search(rf"`path`.*{path}.*{re.escape(why)}", refusal(path))


def test_arrays_for_other_sizes(path: Path) -> None:
    LRR(n_factors=2).fit(DATA).save(path)
    head, arrays = content(path)
    rewritten(path, head, arrays | {"gains_": np.ones(3)})
    assert re.search(r"gains_.*\b3\b.*\b2\b", refusal(path))
    rewritten(path, head, arrays | {"item_factors_": np.zeros((4, 2), np.float32)})
    assert re.search(r"item_factors_.*\b4\b.*\b3\b", refusal(path))


def test_words_that_do_not_fill_their_text(path: Path) -> None:
    data = Interactions.from_arrays(["a", "b"], [0, 1])
    Popularity().fit(data).save(path)
    head, arrays = content(path)
    for ends in ([1, 3], [2, 1], [1, 1]):
        rewritten(path, head, arrays | {"user_ids.ends": np.array(ends)})
        assert re.search(r"user_ids\.ends.*user_ids\.text", refusal(path))
    rewritten(path, head, arrays | {"user_ids.text": np.array([255, 97], np.uint8)})
    assert "'utf-8'" in refusal(path)


def test_a_header_that_claims_too_much(path: Path) -> None:
    path.write_bytes(struct.pack("<Q", 2**62) + b"{}")
    assert "cannot be read" in refusal(path)


def test_nothing_is_loaded_with_torch() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from fullrank import models; from fullrank.data import simulate\n"
        "import tempfile, pathlib\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    path = pathlib.Path(folder, 'm')\n"
        "    models.Popularity().fit(simulate(n_items=200)).save(path); models.load(path)\n"
        "print('torch' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "False", run.stderr
