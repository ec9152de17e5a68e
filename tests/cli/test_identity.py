"""Ids from end to end: factors in any order, in any form of file, give the numbers of Python."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

from fullrank import Interactions, rank
from fullrank.data import Split
from fullrank.scorers import FactorScorer
from tests.cli import identity_matrix as matrix

Run = Callable[..., Any]
N_USERS, N_ITEMS, WIDTH = 60, 80, 4
COLUMNS = ("--column", "user=customer", "--column", "item=sku", "--column", "split=part")


class World:
    """Purchases by text ids, and models whose rows come in orders of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rng = np.random.default_rng(3)
        self.user_ids = np.array([f"c{at:04d}" for at in rng.permutation(9999)[:N_USERS]])
        self.item_ids = np.array([f"sku-{at}" for at in rng.permutation(9999)[:N_ITEMS]])
        self.seen = {user: rng.permutation(N_ITEMS)[:12].tolist() for user in range(N_USERS)}
        self.data = folder / "sales.csv"
        lines = [
            f"{self.user_ids[user]},{self.item_ids[item]},{'test' if at < 3 else 'train'}\n"
            for user, items in self.seen.items()
            for at, item in enumerate(items)
        ]
        self.data.write_text("customer,sku,part\n" + "".join(rng.permutation(lines).tolist()))

    def model(self, seed: int) -> FactorScorer:
        """Factors with the ids of their rows."""
        rng = np.random.default_rng(seed)
        users, items = rng.permutation(N_USERS), rng.permutation(N_ITEMS)
        return FactorScorer(
            rng.normal(size=(N_USERS, WIDTH)).astype(np.float32)[users],
            rng.normal(size=(N_ITEMS, WIDTH)).astype(np.float32)[items],
            user_ids=self.user_ids[users],
            item_ids=self.item_ids[items],
        )

    def split(self) -> Split:
        from fullrank.data import read_split

        return read_split(self.data, user="customer", item="sku", split="part")

    def by_python(self, scorer: FactorScorer) -> float:
        split = self.split()
        found = rank(scorer, split.test, exclude=split.history)
        return found.metrics("recall@20")["recall@20"]

    def by_numpy(self, scorer: FactorScorer) -> float:
        """The mean of hits over targets of each user, with scores looked up by id."""
        assert scorer.user_ids is not None
        assert scorer.item_ids is not None
        user_row = {one: at for at, one in enumerate(scorer.user_ids)}
        item_row = {one: at for at, one in enumerate(scorer.item_ids)}
        at = [item_row[one] for one in self.item_ids]
        recalls = {}
        for user, items in self.seen.items():
            scores = scorer.scores([user_row[self.user_ids[user]]])[0, at]
            candidates = np.delete(np.arange(N_ITEMS), items[3:])
            ranks = [1 + int((scores[candidates] > scores[target]).sum()) for target in items[:3]]
            recalls[str(self.user_ids[user])] = sum(one <= 20 for one in ranks) / 3
        return float(np.mean([recalls[name] for name in sorted(recalls)]))

    def write(self, name: str, how: str, scorer: FactorScorer) -> list[str]:
        """The options of the command for this model in files of this kind."""
        user_ids, item_ids = scorer.user_ids, scorer.item_ids
        users, items = scorer.user_factors, scorer.item_factors
        assert user_ids is not None
        assert item_ids is not None
        base = self.folder / name
        if how == "npy":
            np.save(f"{base}-u.npy", users)
            np.save(f"{base}-i.npy", items)
            Path(f"{base}-u.txt").write_text("\n".join(user_ids.tolist()))
            Path(f"{base}-i.txt").write_text("\n".join(item_ids.tolist()))
            ids = [f"--user-ids={name}={base}-u.txt", f"--item-ids={name}={base}-i.txt"]
            return [f"--factors={name}={base}-u.npy,{base}-i.npy", *ids]
        both = {"user_factors": users, "item_factors": items}
        if how == "npz":
            np.savez(f"{base}.npz", **both, user_ids=user_ids, item_ids=item_ids)
            return [f"--factors={name}={base}.npz"]
        if how == "safetensors":
            lists = {"user_ids": json.dumps(user_ids.tolist())}
            lists["item_ids"] = json.dumps(item_ids.tolist())
            save_file(both, f"{base}.safetensors", lists)
            return [f"--factors={name}={base}.safetensors"]
        for side, array, column, ids in (
            ("u", users, "customer", user_ids),
            ("i", items, "sku", item_ids),
        ):
            columns = {f"f{at}": one for at, one in enumerate(array.T)}
            pq.write_table(pa.table({**columns, column: ids.tolist()}), f"{base}-{side}.parquet")
        return [f"--factors={name}={base}-u.parquet,{base}-i.parquet"]


HOW = ("npy", "npz", "parquet", "safetensors")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize("how", HOW)
def test_shuffled_text_ids(fullrank: Run, world: World, how: str) -> None:
    scorer = world.model(0)
    options = world.write("mine", how, scorer)
    done = fullrank("evaluate", world.data, *COLUMNS, *options, "-m", "recall@20", "--json")
    assert done.code == 0, done.err
    (value,) = (one["estimate"] for one in json.loads(done.out)["models"][0]["metrics"])
    assert value == world.by_python(scorer)
    assert value == pytest.approx(world.by_numpy(scorer), abs=1e-15)
    wrong = FactorScorer(  # what matching by sorted order gave
        scorer.user_factors, scorer.item_factors,
        user_ids=np.sort(world.user_ids), item_ids=np.sort(world.item_ids),
    )  # fmt: skip
    assert value != world.by_python(wrong)


@pytest.mark.parametrize("how", HOW)
def test_the_same_files_without_ids(fullrank: Run, world: World, how: str) -> None:
    scorer = world.model(0)
    users, items = scorer.user_factors, scorer.item_factors
    base = world.folder / "mine"
    paths = f"{base}-u.npy,{base}-i.npy"
    if how == "npy":
        np.save(f"{base}-u.npy", users)
        np.save(f"{base}-i.npy", items)
    elif how == "npz":
        np.savez(f"{base}.npz", user_factors=users, item_factors=items)
        paths = f"{base}.npz"
    elif how == "safetensors":
        save_file({"user_factors": users, "item_factors": items}, f"{base}.safetensors")
        paths = f"{base}.safetensors"
    else:
        for side, array in (("u", users), ("i", items)):
            columns = {f"f{at}": one for at, one in enumerate(array.T)}
            pq.write_table(pa.table(columns), f"{base}-{side}.parquet")
        paths = f"{base}-u.parquet,{base}-i.parquet"
    done = fullrank("evaluate", world.data, *COLUMNS, f"--factors=mine={paths}", "--json")
    assert done.code == 2
    assert done.out == ""
    assert re.fullmatch(r"`--user-ids` must .*sales\.csv.*\.\n", done.err)


def test_two_models_with_two_orders(fullrank: Run, world: World) -> None:
    models = {name: world.model(seed) for seed, name in enumerate(HOW)}
    options = [one for name, scorer in models.items() for one in world.write(name, name, scorer)]
    done = fullrank("evaluate", world.data, *COLUMNS, *options, "-m", "recall@20", "--json")
    assert done.code == 0, done.err
    found = {one["model"]: one["metrics"][0]["estimate"] for one in json.loads(done.out)["models"]}
    assert found == {name: world.by_python(scorer) for name, scorer in models.items()}
    assert len(set(found.values())) > 1


def test_one_file_of_ids_for_all_factors(fullrank: Run, world: World) -> None:
    first = world.model(0)
    options = world.write("a", "npy", first)
    np.save(world.folder / "b-u.npy", 2 * first.user_factors)
    plain = [one.replace("-ids=a=", "-ids=") for one in options]
    factors = f"--factors=b={world.folder / 'b-u.npy'},{world.folder / 'a-i.npy'}"
    done = fullrank("evaluate", world.data, *COLUMNS, *plain, factors, "-m", "recall@20", "--json")
    assert done.code == 0, done.err
    values = [one["metrics"][0]["estimate"] for one in json.loads(done.out)["models"]]
    assert values == [world.by_python(first)] * 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model=ease", "--user-ids=ids.txt"], r"`--user-ids`.*`--factors`"),
        (["FACTORS", "--user-ids=you=ids.txt"], r"`--user-ids`.*\(mine\); got 'you=ids\.txt'"),
        (["FACTORS", "--user-ids=mine=ids.txt"], r"`--user-ids`.*ids\.txt.*exist"),
        (["FACTORS", "--item-ids=mine=a", "--item-ids=mine=b"], r"`--item-ids`.*once for mine"),
        (["FACTORS", "--item-ids=a", "--item-ids=b"], r"`--item-ids`.*one file.*mine=b"),
    ],
)
def test_mistakes(fullrank: Run, world: World, options: list[str], message: str) -> None:
    factors = world.write("mine", "npy", world.model(0))[0]
    given = [factors if one == "FACTORS" else one for one in options]
    done = fullrank("evaluate", world.data, *COLUMNS, *given)
    assert done.code == 2
    assert re.search(message, done.err)
    assert done.err.count("\n") == 1


def test_targets_in_an_order_of_their_own(world: World) -> None:
    scorer, split = world.model(0), world.split()
    whole = rank(scorer, split.test, exclude=split.history)
    users, items = split.test.pairs()
    shuffled = Interactions.from_arrays(
        split.test.user_ids[users],
        split.test.item_ids[items],
        user_ids=np.random.default_rng(0).permutation(split.test.user_ids),
        item_ids=np.random.default_rng(1).permutation(split.test.item_ids),
    )
    found = rank(scorer, shuffled, exclude=split.history)
    assert found.metrics("recall@20") == pytest.approx(whole.metrics("recall@20"), abs=1e-15)


CELLS = matrix.all_cells()
SHUFFLED = [CELLS[at] for at in np.random.default_rng(0).permutation(len(CELLS))]


@pytest.mark.slow
@pytest.mark.breadth(60)
@pytest.mark.parametrize("cell", SHUFFLED, ids=str)
def test_the_matrix(cell: matrix.Cell, tmp_path: Path) -> None:
    assert matrix.check(cell, tmp_path) in ("right", "refused")


def test_the_matrix_has_both_kinds_of_cells() -> None:
    refused = sum(not matrix.is_expected_right(cell) for cell in CELLS)
    assert (len(CELLS), refused) == (1140, 476)
