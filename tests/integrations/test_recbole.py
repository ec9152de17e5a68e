"""RecBole itself: ranks equal a count over its own scores, and metrics equal its own."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fullrank.errors import InputError
from fullrank.integrations import recbole as ours
from fullrank.samples import ExactRanks

# RecBole's own: names that torch deprecated, arrays that pandas 3 hands out for reading alone
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]

N_USERS, N_ITEMS = 30, 50
METRICS = ["Recall", "MRR", "NDCG", "Hit", "Precision", "MAP"]
ONE_TARGET = {"split": {"LS": "valid_and_test"}, "order": "TO", "mode": "full"}
SEVERAL = {"split": {"RS": [0.5, 0.2, 0.3]}, "group_by": "user", "order": "TO", "mode": "full"}
SEQUENTIAL = ("SASRec", "GRU4Rec", "BERT4Rec")
LOADERS = ("valid", "test")

Case = Callable[..., Any]
Package = Callable[[str, str], Any]


def test_the_real_package_is_tried(package: Package) -> None:
    assert package("recbole", "recbole").__version__ == "1.2.1"


def _write(folder: Path, name: str, user: str, item: str) -> None:
    """Interactions in no order of users, items or time; an item that nobody has met."""
    random = np.random.default_rng(3)
    rows = [
        (u, i)
        for u in range(N_USERS)
        for i in random.choice(N_ITEMS - 1, size=random.integers(6, 11), replace=False)
    ]
    times = random.permutation(len(rows))
    lines = [
        f"{user}{7 * u % N_USERS + 1}\t{item}{11 * i % N_ITEMS + 100}\t{times[at]}"
        for at, (u, i) in enumerate(rows)
    ]
    (folder / name).mkdir()
    head = "user_id:token\titem_id:token\ttimestamp:float"
    (folder / name / f"{name}.inter").write_text(
        "\n".join([head, *(lines[at] for at in random.permutation(len(lines)))]) + "\n"
    )
    features = [f"{item}{11 * i % N_ITEMS + 100}\t{'' if i % 5 else i}" for i in range(N_ITEMS)]
    (folder / name / f"{name}.item").write_text(
        "\n".join(["item_id:token\tyear:float", *features]) + "\n"
    )


@pytest.fixture(scope="module")
def folder(package: Package, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where RecBole works: it writes logs and checkpoints to the current folder."""
    package("recbole", "recbole")
    here, arguments = Path.cwd(), sys.argv
    place = tmp_path_factory.mktemp("recbole")
    os.chdir(place)
    sys.argv = ["test"]  # RecBole reads settings from the command line
    _write(place, "numbers", "", "")
    _write(place, "words", "u", "i")
    yield place
    os.chdir(here)
    sys.argv = arguments


@pytest.fixture(scope="module")
def case(folder: Path) -> Iterator[Case]:
    """``case("BPR")``: a trained model of that name, its trainer and its data."""
    made: dict[str, Any] = {}
    with ours.compatible():

        def make(model: str, eval_args: dict[str, Any] = ONE_TARGET, **settings: Any) -> Any:
            key = repr((model, eval_args, settings))
            if key not in made:
                made[key] = _trained(folder, model, eval_args, settings)
            return made[key]

        yield make


def _trained(folder: Path, model: str, eval_args: Any, settings: Any) -> Any:
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation
    from recbole.utils import get_model, get_trainer, init_seed

    further: dict[str, Any] = dict(settings)
    if model in SEQUENTIAL:
        further |= {"train_neg_sample_args": None, "MAX_ITEM_LIST_LENGTH": 5}
    given = {
        "data_path": str(folder), "load_col": {"inter": "*", "item": "*"}, "epochs": 2,
        "gpu_id": "", "eval_args": dict(eval_args), "metrics": METRICS, "topk": [3, 10],
        "valid_metric": "MRR@10", "embedding_size": 8, "hidden_size": 8, "inner_size": 8,
        "n_layers": 1, "n_heads": 1, "show_progress": False, **further,
    }  # fmt: skip
    config = Config(model=model, dataset=further.pop("dataset", "numbers"), config_dict=given)
    init_seed(5, reproducibility=True)
    dataset = create_dataset(config)
    train, valid, test = data_preparation(config, dataset)
    network = get_model(model)(config, train.dataset)
    trainer = get_trainer(config["MODEL_TYPE"], model)(config, network)
    trainer.fit(train, valid, saved=True, show_progress=False)
    return SimpleNamespace(trainer=trainer, train=train, valid=valid, test=test, dataset=dataset)


def _counted(trainer: Any, loader: Any) -> dict[tuple[str, str], tuple[float, int]]:
    """Rank and candidates of each target, by RecBole's own scores in its own batches."""
    dataset, ranks = loader._dataset, {}
    trainer.evaluate(loader, load_best_model=False)  # what it scores with is set here
    for batch in loader:
        seen, scores, rows, items = trainer._full_sort_batch_eval(batch)
        for row in range(scores.shape[0]):
            mine = scores[row].detach().numpy()
            targets = items[rows == row].numpy()
            others = np.setdiff1d(np.flatnonzero(mine > -np.inf), targets)
            user = dataset.id2token(dataset.uid_field, int(seen[dataset.uid_field][row]))
            for at, item in enumerate(sorted(targets)):
                above = (mine[others] > mine[item]).sum()
                equal = (mine[others] == mine[item]).sum()
                before = [
                    mine[other] > mine[item] or (mine[other] == mine[item] and place < at)
                    for place, other in enumerate(sorted(targets))
                ]
                token = dataset.id2token(dataset.iid_field, int(item))
                rank = 1 + above + equal / 2 + sum(before)
                ranks[str(user), str(token)] = (float(rank), others.size + targets.size)
    return ranks


def _found(ranks: ExactRanks) -> dict[tuple[str, str], tuple[float, int]]:
    assert ranks.user is not None
    assert ranks.item is not None
    return {
        (str(user), str(item)): (float(rank), int(candidates))
        for user, item, rank, candidates in zip(
            ranks.user, ranks.item, ranks.ranks, ranks.candidates, strict=True
        )
    }


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("model", ["BPR", "LightGCN", "LINE", "NeuMF", *SEQUENTIAL])
def test_ranks_equal_a_count_over_its_own_scores(case: Case, model: str, loader: str) -> None:
    one = case(model)
    data = getattr(one, loader)
    ranks = ours.rank(one.trainer, data)
    assert _found(ranks) == _counted(one.trainer, data)
    assert ranks.total_targets == N_USERS
    assert ranks.pool == ("all" if model in SEQUENTIAL else "unseen")


@pytest.mark.parametrize("eval_args", [ONE_TARGET, SEVERAL], ids=["one", "several"])
@pytest.mark.parametrize("model", ["BPR", "LightGCN", "SASRec"])
def test_metrics_equal_its_own(case: Case, model: str, eval_args: Any) -> None:
    one = case(model, eval_args)
    theirs = one.trainer.evaluate(one.test, load_best_model=False)
    found = ours.rank(one.trainer, one.test).metrics([*theirs])
    assert {name: round(value, 4) for name, value in found.items()} == dict(theirs)


@pytest.mark.parametrize("model", ["BPR", "LightGCN", "NeuMF"])
def test_users_with_several_targets(case: Case, model: str) -> None:
    one = case(model, SEVERAL)
    ranks = ours.rank(one.trainer, one.test)
    assert ranks.several
    assert ranks.n_users == N_USERS
    assert _found(ranks) == _counted(one.trainer, one.test)


def test_rows_of_one_user_with_histories_of_their_own(case: Case) -> None:
    one = case("SASRec", SEVERAL)
    ranks = ours.rank(one.trainer, one.test)
    users = one.test._dataset.inter_feat["user_id"].numpy()
    assert ranks.user is not None
    assert ranks.n_users == users.size > N_USERS
    tokens, places = zip(*(name.split(":") for name in ranks.user.tolist()), strict=True)
    assert [*tokens] == one.dataset.id2token("user_id", users).tolist()
    assert set(places) >= {"1", "2"}


def test_ids_are_those_of_the_file(case: Case) -> None:
    numbers, words = case("BPR"), case("BPR", dataset="words")
    ranks = ours.rank(numbers.trainer, numbers.test)
    assert ranks.user is not None
    assert ranks.item is not None
    assert ranks.user.dtype.kind == ranks.item.dtype.kind == "i"
    assert set(ranks.user.tolist()) == set(range(1, N_USERS + 1))
    assert (np.diff(ranks.user) < 0).any()  # RecBole numbers them as it meets them
    text = ours.rank(words.trainer, words.test)
    assert _found(text) == _counted(words.trainer, words.test)
    assert text.user is not None
    assert set(text.user.tolist()) == {f"u{one}" for one in range(1, N_USERS + 1)}


def test_ids_of_its_file_are_read_alike(case: Case, folder: Path) -> None:
    from fullrank.data import Interactions

    ranks = ours.rank(case("BPR").trainer, case("BPR").test)
    data = Interactions.read(folder / "numbers" / "numbers.inter")
    assert np.isin(ranks.user, data.user_ids).all()
    assert np.isin(ranks.item, data.item_ids).all()


def test_candidates_are_all_items_but_the_history(case: Case) -> None:
    """An item of the catalogue that nobody met is one of them, the padding is not."""
    one = case("BPR")
    assert one.dataset.item_num == 1 + N_ITEMS
    ranks = ours.rank(one.trainer, one.test)
    history = one.test.uid2history_item[np.asarray(one.test.uid_list)]
    assert ranks.candidates.tolist() == [N_ITEMS - len(seen) for seen in history]
    sequential = ours.rank(case("SASRec").trainer, case("SASRec").test)
    assert set(sequential.candidates.tolist()) == {N_ITEMS}


@pytest.mark.parametrize("model", ["BPR", "LightGCN", "SASRec"])
def test_no_setting_of_speed_changes_a_rank(case: Case, model: str) -> None:
    one = case(model)
    ranks = _found(ours.rank(one.trainer, one.test))
    assert _found(ours.rank(one.trainer, one.test, batch_size=1)) == ranks
    assert _found(ours.rank(one.trainer, one.test, factors=False)) == ranks


def test_other_arguments_are_those_of_rank(case: Case) -> None:
    one = case("SASRec")
    done: list[tuple[int, int]] = []
    whole = ours.rank(one.trainer, one.test, progress=lambda *now: done.append(now))
    assert done[-1] == (N_USERS, N_USERS)
    top = ours.rank(one.trainer, one.test, max_rank=10)
    assert top.metrics("ndcg@10") == whole.metrics("ndcg@10")
    assert ours.rank(one.trainer, one.test, ties="random", rng=1).ties == "random"


def test_it_is_silent_and_leaves_the_model_as_it_was(case: Case) -> None:
    one = case("SASRec")
    model = one.trainer.model
    model.train()
    model.dropout.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours.rank(one.trainer, one.test)
    assert model.training
    assert not model.dropout.training


def test_the_best_model_is_loaded(case: Case) -> None:
    one = case("BPR")
    best = one.trainer.evaluate(one.test)  # from the checkpoint, as is its default
    weight = one.trainer.model.item_embedding.weight
    weight.data.zero_()
    assert ours.rank(one.trainer, one.test).equal.min() > 0
    ranks = ours.rank(one.trainer, one.test, load_best_model=True)
    assert weight.abs().max() > 0
    assert round(ranks.metrics("ndcg@10")["ndcg@10"], 4) == best["ndcg@10"]


# ---- sampled candidates ----


@pytest.mark.parametrize("eval_args", [ONE_TARGET, SEVERAL], ids=["one", "several"])
def test_sampled_ranks_are_those_of_its_draws(case: Case, eval_args: Any) -> None:
    one = case("BPR", {**eval_args, "mode": "uni9"})
    np.random.seed(11)  # noqa: NPY002  # the state that RecBole draws from
    sample = ours.sample(one.trainer, one.test, ties="worst")
    np.random.seed(11)  # noqa: NPY002
    assert sample.rows is not None
    assert sample.rows.user is not None
    assert sample.rows.item is not None
    found = {
        (user, item): (rank, total)
        for user, item, rank, total in zip(
            sample.rows.user.tolist(), sample.rows.item.tolist(), sample.rows.rank.tolist(),
            sample.rows.pool.tolist(), strict=True,
        )
    }  # fmt: skip
    counted = {}
    for at, user in enumerate(one.test.uid_list):
        pairs, _, _, targets = one.test.collate_fn([at])
        scores = one.trainer.model.predict(pairs).detach().numpy().reshape(10, -1)
        items = pairs["item_id"].numpy().reshape(10, -1)
        used = one.test._sampler.used_ids[user]
        for place, item in enumerate(targets.numpy()):
            assert not set(items[1:, place].tolist()) & used
            ids = (int(one.dataset.id2token("user_id", user)),
                   int(one.dataset.id2token("item_id", item)))  # fmt: skip
            rank = 1 + int((scores[1:, place] >= scores[0, place]).sum())
            counted[ids] = (rank, N_ITEMS - len(used) + 1)
    assert found == counted
    assert str(sample.design) == "sampled:10,replacement=true,pool=unseen,ties=worst,excluded=true"


def test_a_sequential_model_draws_all_items(case: Case) -> None:
    one = case("SASRec", {**ONE_TARGET, "mode": "uni9"})
    sample = ours.sample(one.trainer, one.test, progress=lambda done, total: None)
    assert sample.n_items == N_ITEMS
    assert sample.n_targets == N_USERS
    assert sample.design.pool == "all"
    assert sample.design.excluded is False


# ---- what is refused ----


def test_what_is_refused_says_what_to_do(case: Case) -> None:
    full, drawn = case("BPR"), case("BPR", {**ONE_TARGET, "mode": "uni9"})
    with pytest.raises(InputError, match=r"'uni9'.*recbole\.sample"):
        ours.rank(drawn.trainer, drawn.test)
    with pytest.raises(InputError, match=r"mode \"full\".*recbole\.rank"):
        ours.sample(full.trainer, full.test)
    popular = case("BPR", {**ONE_TARGET, "mode": "pop9"})
    with pytest.raises(InputError, match=r"uniformly.*'pop9'"):
        ours.sample(popular.trainer, popular.test)
    with pytest.raises(InputError, match=r"`test_data`.*TrainDataLoader"):
        ours.rank(full.trainer, full.train)
    with pytest.raises(InputError, match=r"`trainer`.*BPR"):
        ours.rank(full.trainer.model, full.test)
    with pytest.raises(InputError, match="`ties`"):
        ours.sample(drawn.trainer, drawn.test, ties="mean")
    sequential = case("SASRec")
    with pytest.raises(InputError, match="cuda"):
        ours.rank(sequential.trainer, sequential.test, device="cuda")


def test_scores_that_are_no_numbers(case: Case) -> None:
    one = case("BPR", SEVERAL)
    weight = one.trainer.model.item_embedding.weight
    before = weight.data.clone()
    weight.data[3] = float("nan")
    try:
        with pytest.raises(InputError, match="NaN"):
            ours.rank(one.trainer, one.test)
    finally:
        weight.data.copy_(before)


# ---- the libraries that it meets ----


def test_missing_features_are_filled(case: Case) -> None:
    years = case("BPR").dataset.item_feat["year"].numpy()
    assert years.shape == (1 + N_ITEMS,)
    assert np.isfinite(years).all()
    assert years[0] == pytest.approx(np.mean(np.arange(0, N_ITEMS, 5)))


def test_numpy_stays_as_it_was(case: Case) -> None:
    case("BPR")
    assert not {"float_", "bool8", "unicode_", "float", "int"} & {*dir(np)}


def test_the_changes_end_with_the_last_call(folder: Path) -> None:
    """In a process of its own: others of this one need the changes."""
    import subprocess

    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _IN_A_PROCESS],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.split() == ["True"] * 8


_IN_A_PROCESS = """
import sys
import numpy as np, scipy.sparse as sp, torch
from fullrank.integrations.recbole import compatible
before = [*sys.meta_path]
import recbole.evaluator.metrics as early
first = compatible()
with compatible():
    import recbole.trainer.trainer as late, recbole.model.general_recommender.lightgcn as graph
    from recbole.config.configurator import Config
    print(hasattr(early.np, "float_"), hasattr(late.np, "float_"))
    print(late.torch.load is not torch.load)
    print(hasattr(graph.sp.dok_matrix((1, 1)), "_update"))
print(late.np is not np)
first.undo()
first.undo()
print(early.np is late.np is np and graph.sp is sp and late.torch is torch)
print("np.bool = np.bool_" in __import__("inspect").getsource(Config.compatibility_settings))
ours = [one for one in sys.meta_path if one not in before and "fullrank" in type(one).__module__]
print(ours == [] and not {"float_", "bool8", "float", "int"} & {*dir(np)})
"""
