"""Files × ids × commands: every cell is right to the last bit, or refused with one sentence.

``python -m tests.cli.identity_matrix`` runs all cells and prints how many there are.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import sys
import tempfile
import uuid
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from safetensors.numpy import save_file

from fullrank import cli, compare, evaluate, rank
from fullrank.data.sets.sources import load_split
from fullrank.models import load
from fullrank.scorers import FactorScorer, ScoreArray

N_USERS, N_ITEMS, N_EXTRA, WIDTH = 24, 45, 6, 3
METRICS = ("recall@20", "ndcg@10", "auc")

DATA = ("csv", "parquet")
FILES = ("npy+txt", "npy+csv", "npy+parquet", "npy+npy", "npz", "safetensors", "wide", "lists")
KINDS = ("text", "rows", "gaps", "large", "uuid text", "uuid", "padded", "digits")
COMMANDS = ("exact", "sampled", "compare")
# what is the matter with the ids of the factors, and of which kind they are
MATTERS = (
    ("text", "missing user"), ("text", "missing item"), ("text", "repeated user"),
    ("text", "repeated item"), ("text", "more"), ("text", "none"),
    ("gaps", "more"), ("gaps", "none"), ("rows", "more"), ("rows", "none"),
    ("gaps", "text for numbers"), ("digits", "numbers for text"), ("padded", "numbers for text"),
    ("uuid", "missing user"),
)  # fmt: skip

# of the data that a saved model was trained on; it scores users by their items, known or not
TRAINED = (
    ("text", "missing user"), ("text", "missing item"), ("gaps", "missing user"),
    ("gaps", "text for numbers"), ("digits", "numbers for text"),
)  # fmt: skip


class Cell(NamedTuple):
    """One combination; `matter` says how the ids of the factors differ from the data's."""

    data: str
    files: str
    kind: str
    matter: str
    command: str

    def __str__(self) -> str:
        return " · ".join(self)


def all_cells() -> list[Cell]:
    """Every combination."""
    ids = [*((kind, "same") for kind in KINDS), *MATTERS]
    factors = itertools.product(DATA, FILES, ids, COMMANDS)
    ids = [*((kind, matter) for kind in KINDS for matter in ("same", "more")), *TRAINED]
    saved = itertools.product(DATA, ["saved"], ids, ["exact", "sampled"])
    return [
        Cell(data, files, kind, matter, command)
        for data, files, (kind, matter), command in itertools.chain(factors, saved)
    ]


# ---- the world: who did what, and two models ----


def names(kind: str, letter: str, n: int) -> list[Any]:
    """Ids of a kind, one for each of n users or items."""
    rng = np.random.default_rng(ord(letter))
    if kind == "rows":
        return list(range(n))
    if kind == "gaps":
        return [3 * at + 5 for at in range(n)]
    if kind == "large":  # neighbours that are one number in float64
        return [2**53 + 1 + at for at in range(n)]
    if kind == "digits":
        return [str(3 * at + 5) for at in range(n)]
    if kind == "padded":
        return [f"{at:03d}" for at in range(n)]
    if kind == "text":
        return [f"{letter}-{at:x}" for at in rng.permutation(5000)[:n]]
    found = [uuid.UUID(bytes=rng.bytes(16)) for _ in range(n)]
    return [str(one) for one in found] if kind == "uuid text" else found


def as_read(ids: Sequence[Any], suffix: str) -> list[Any]:
    """The ids that a reader finds in a file of this suffix: text files do not tell types."""
    if suffix not in ("csv", "txt"):
        return [str(one) if isinstance(one, uuid.UUID) else one for one in ids]
    words = [str(one) for one in ids]
    plain = all(word.isdigit() and str(int(word)) == word for word in words)
    return [int(word) for word in words] if plain else words


@dataclass(frozen=True, kw_only=True)
class Model:
    """Factors, and the id of each row as a program would hold them; None without ids."""

    users: np.ndarray
    items: np.ndarray
    user_ids: list[Any] | None
    item_ids: list[Any] | None


def interactions() -> list[tuple[int, int, str]]:
    """(user, item, part): every user has one test item and every item occurs."""
    rng = np.random.default_rng(1)
    found = []
    for user in range(N_USERS):
        items = rng.permutation(N_ITEMS)[:7]
        found += [
            (user, int(item), "test" if at == 0 else "train") for at, item in enumerate(items)
        ]
    seen = {item for _, item, _ in found}
    found += [(item % N_USERS, item, "train") for item in range(N_ITEMS) if item not in seen]
    return found


def model(cell: Cell, seed: int) -> Model:
    """A model whose rows come in an order of their own."""
    rng = np.random.default_rng(seed)
    n_users, n_items = N_USERS, N_ITEMS
    if cell.matter == "more":
        n_users, n_items = N_USERS + N_EXTRA, N_ITEMS + N_EXTRA
    users = rng.normal(size=(n_users, WIDTH)).astype(np.float32)
    items = rng.normal(size=(n_items, WIDTH)).astype(np.float32)
    if cell.matter == "none":
        return Model(users=users, items=items, user_ids=None, item_ids=None)
    user_ids, item_ids = names(cell.kind, "u", n_users), names(cell.kind, "i", n_items)
    if cell.matter == "text for numbers":
        user_ids, item_ids = [str(one) for one in user_ids], [str(one) for one in item_ids]
    if cell.matter == "numbers for text":
        user_ids, item_ids = [int(one) for one in user_ids], [int(one) for one in item_ids]
    by_user, by_item = rng.permutation(n_users), rng.permutation(n_items)
    by_user = by_user[:-1] if cell.matter == "missing user" else by_user
    by_item = by_item[:-1] if cell.matter == "missing item" else by_item
    found = Model(
        users=users[by_user],
        items=items[by_item],
        user_ids=[user_ids[at] for at in by_user],
        item_ids=[item_ids[at] for at in by_item],
    )
    if cell.matter == "repeated user":
        found.user_ids[0] = found.user_ids[-1]
    if cell.matter == "repeated item":
        found.item_ids[0] = found.item_ids[-1]
    return found


# ---- writing it ----


def column(ids: Sequence[Any]) -> pa.Array:
    if isinstance(ids[0], uuid.UUID):
        if not hasattr(pa, "uuid"):  # before pyarrow 18
            return pa.array(plain(ids))
        return pa.array([one.bytes for one in ids], pa.uuid())
    return pa.array(ids)


def plain(ids: Sequence[Any]) -> list[Any]:
    return [str(one) if isinstance(one, uuid.UUID) else one for one in ids]


def write_data(cell: Cell, folder: Path) -> Path:
    """The interactions, under names that nobody would guess."""
    users, items = names(cell.kind, "u", N_USERS), names(cell.kind, "i", N_ITEMS)
    return _write_rows(folder / f"data.{cell.data}", interactions(), users, items)


def _write_rows(path: Path, rows: Sequence[Any], users: list[Any], items: list[Any]) -> Path:
    ids = {"kunde": [users[u] for u, _, _ in rows], "ware": [items[i] for _, i, _ in rows]}
    parts = [part for _, _, part in rows]
    if path.suffix == ".parquet":
        columns = {name: column(values) for name, values in ids.items()}
        pq.write_table(pa.table({**columns, "teil": parts}), path)
    else:
        columns = {name: plain(values) for name, values in ids.items()}
        pa.csv.write_csv(pa.table({**columns, "teil": parts}), path)
    return path


def write_model(cell: Cell, made: Model, folder: Path, name: str) -> list[str]:
    """The files of a model, and the options that name them."""
    base = folder / name
    if cell.files in ("npz", "safetensors"):
        return ["--factors", f"{name}={_write_both(cell, made, base)}"]
    options, paths = [], []
    for side, factors, ids, role in (
        ("user", made.users, made.user_ids, "kunde"),
        ("item", made.items, made.item_ids, "ware"),
    ):
        stem = f"{base}-{side}"
        if cell.files.startswith("npy"):
            np.save(f"{stem}.npy", factors)
            paths.append(f"{stem}.npy")
            if ids is not None:
                beside = _write_ids(f"{stem}-ids", cell.files.removeprefix("npy+"), ids, role)
                options += [f"--{side}-ids", f"{name}={beside}"]
            continue
        if cell.files == "wide":
            columns = {f"f{at}": one for at, one in enumerate(factors.T)}
        else:
            columns = {"vector": pa.array(factors.tolist(), pa.list_(pa.float32()))}
        id_column = {} if ids is None else {role: column(ids)}
        pq.write_table(pa.table({**columns, **id_column}), f"{stem}.parquet")
        paths.append(f"{stem}.parquet")
    return ["--factors", f"{name}={','.join(paths)}", *options]


def _write_both(cell: Cell, made: Model, base: Path) -> Path:
    path = base.with_suffix(f".{cell.files}")
    arrays = {"user_factors": made.users, "item_factors": made.items}
    ids = {"user_ids": made.user_ids, "item_ids": made.item_ids}
    given = {key: plain(values) for key, values in ids.items() if values is not None}
    if cell.files == "npz":
        np.savez(path, **arrays, **{key: np.array(values) for key, values in given.items()})
        return path
    texts = {key: json.dumps(v) for key, v in given.items() if isinstance(v[0], str)}
    numbers = {key: np.array(v) for key, v in given.items() if key not in texts}
    save_file({k: np.ascontiguousarray(v) for k, v in (arrays | numbers).items()}, path, texts)
    return path


def _write_ids(stem: str, suffix: str, ids: Sequence[Any], role: str) -> str:
    path = f"{stem}.{suffix}"
    if suffix == "txt":
        Path(path).write_text("".join(f"{one}\n" for one in ids), encoding="utf-8")
    elif suffix == "npy":
        np.save(path, np.array(plain(ids)))
    elif suffix == "csv":
        pa.csv.write_csv(pa.table({"row": range(len(ids)), role: plain(ids)}), path)
    else:
        pq.write_table(pa.table({role: column(ids)}), path)
    return path


def write_trained(cell: Cell, folder: Path) -> Path:
    """What a saved model was trained on: the same interactions, fewer, or more of others too."""
    rows = interactions()
    n_users, n_items = N_USERS, N_ITEMS
    if cell.matter == "missing user":
        rows = [row for row in rows if row[0] != 3]
    if cell.matter == "missing item":
        rows = [row for row in rows if row[1] != 3]
    if cell.matter == "more":
        n_users, n_items = N_USERS + N_EXTRA, N_ITEMS + N_EXTRA
        rows += [
            (u, (7 * u + at) % n_items, "train") for u in range(N_USERS, n_users) for at in range(9)
        ]
        rows += [(N_USERS, item, "train") for item in range(N_ITEMS, n_items)]
        rows = list(dict.fromkeys(rows))
    users, items = names(cell.kind, "u", n_users), names(cell.kind, "i", n_items)
    if cell.matter == "text for numbers":
        users, items = [str(one) for one in users], [str(one) for one in items]
    if cell.matter == "numbers for text":
        users, items = [int(one) for one in users], [int(one) for one in items]
    return _write_rows(folder / f"trained.{cell.data}", rows, users, items)


# ---- what must come out ----


def is_expected_right(cell: Cell) -> bool:
    """Whether numbers must come out; otherwise the cell must be refused."""
    return is_right_saved(cell) if cell.files == "saved" else is_right(cell)


def is_right(cell: Cell) -> bool:
    """Whether the ids meet, as far as types and files go; otherwise it must be refused."""
    if cell.matter.startswith(("missing", "repeated")):
        return False
    if cell.matter == "none":
        return cell.kind == "rows"
    made = model(cell, 0)
    suffix = cell.files.removeprefix("npy+")
    return all(
        set(as_read(names(cell.kind, letter, n), cell.data)) <= set(as_read(ids, suffix))
        for letter, n, ids in (("u", N_USERS, made.user_ids), ("i", N_ITEMS, made.item_ids))
    )


def is_right_saved(cell: Cell) -> bool:
    if cell.matter in ("text for numbers", "numbers for text"):
        return cell.data == "csv"  # which does not tell them apart, in both files
    return cell.matter != "missing item"


def scores_by_hand(trained: Any, split: Any) -> tuple[np.ndarray, list[Any]]:
    """The scores of a saved EASE for the users of the data, and whose columns they are."""
    known = trained.interactions_.item_ids.tolist()
    row = {one: at for at, one in enumerate(known)}
    wanted = split.test.item_ids.tolist()
    wanted += sorted(set(known) - set(wanted))
    scores = np.zeros((split.test.n_users, len(known)))
    history = split.history
    for user in range(history.n_users):
        items = history.item_ids[history.indices[slice(*history.indptr[user : user + 2])]].tolist()
        for at in sorted(row[item] for item in items):
            scores[user] += trained.weights_[at].astype(np.float64)
    return scores[:, [row[one] for one in wanted]], wanted


def by_hand(cell: Cell, made: Model) -> float:
    """recall@20 of the one test item of each user, by dictionaries and sums in index order."""
    users = names(cell.kind, "u", N_USERS) if made.user_ids is None else made.user_ids
    items = names(cell.kind, "i", N_ITEMS) if made.item_ids is None else made.item_ids
    words = {"u": [str(one) for one in users], "i": [str(one) for one in items]}
    if cell.matter == "numbers for text" and cell.kind == "padded":
        raise AssertionError("this cell must be refused")
    row = {letter: {word: at for at, word in enumerate(found)} for letter, found in words.items()}
    named = {
        "u": [str(one) for one in names(cell.kind, "u", N_USERS)],
        "i": [str(one) for one in names(cell.kind, "i", N_ITEMS)],
    }
    hits = 0
    for user in range(N_USERS):
        scores = np.zeros(len(items))
        for k in range(WIDTH):
            scores += (
                made.users[row["u"][named["u"][user]], k].astype(np.float64) * made.items[:, k]
            )
        mine = [(item, part) for who, item, part in interactions() if who == user]
        target = next(row["i"][named["i"][item]] for item, part in mine if part == "test")
        seen = {row["i"][named["i"][item]] for item, part in mine if part == "train"}
        others = [at for at in range(len(items)) if at != target and at not in seen]
        hits += 1 + int((scores[others] > scores[target]).sum()) <= 20
    return hits / N_USERS


def in_order(cell: Cell, made: Model, split: Any) -> FactorScorer:
    """The same model, its rows in the order of the data and the further items behind."""
    sides = []
    for side, factors, given in (
        ("user", made.users, made.user_ids),
        ("item", made.items, made.item_ids),
    ):
        wanted = getattr(split.test, f"{side}_ids").tolist()
        own = wanted if given is None else as_read(given, cell.files.removeprefix("npy+"))
        row = {one: at for at, one in enumerate(own)}
        if side == "item":
            wanted = [*wanted, *sorted(set(own) - set(wanted))]
        sides.append((factors[[row[one] for one in wanted]], np.array(wanted)))
    (users, user_ids), (items, item_ids) = sides
    return FactorScorer(users, items, user_ids=user_ids, item_ids=item_ids)


# ---- running a cell ----


class Done(NamedTuple):
    code: int
    out: str
    err: str


def fullrank(*arguments: object) -> Done:
    """The command in this process."""
    out, err = io.StringIO(), io.StringIO()
    before, show = sys.argv, warnings.showwarning
    sys.argv = ["fullrank", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.main()
    finally:
        sys.argv, warnings.showwarning = before, show
    return Done(code, out.getvalue(), err.getvalue())


_ROLES = {"user": "kunde", "item": "ware", "split": "teil"}
_COLUMNS = [f"--column={role}={name}" for role, name in _ROLES.items()]


def check(cell: Cell, folder: Path) -> str:
    """Say "right" or "refused"; an AssertionError for anything else."""
    if cell.files == "saved":
        return _check_saved(cell, folder)
    data = write_data(cell, folder)
    first = model(cell, 0)
    options = write_model(cell, first, folder, "mine")
    common = ("evaluate", data, *_COLUMNS, *(f"-m{one}" for one in METRICS), "--json")
    if cell.command == "compare":
        done = _compared(cell, common, options, folder)
    else:
        design = {"exact": "exact", "sampled": "sampled:15"}[cell.command]
        done = fullrank(*common, *options, "--design", design)
    if not is_right(cell):
        if cell.matter == "none":
            assert "`--user-ids`" in done.err, (cell, done)
        return _check_refused(cell, done)
    assert done.code == 0, (cell, done)
    split = load_split(data, columns=_ROLES)
    _check_numbers(cell, json.loads(done.out), first, split)
    return "right"


def _check_refused(cell: Cell, done: Done) -> str:
    assert done.code == 2, (cell, done)
    assert done.out == "", (cell, done)
    assert done.err.count("\n") == 1, (cell, done)
    assert done.err.rstrip().endswith("."), (cell, done)
    return "refused"


def _check_saved(cell: Cell, folder: Path) -> str:
    """Train by one command, evaluate by another."""
    data, path = write_data(cell, folder), folder / "model.safetensors"
    source = write_trained(cell, folder)
    model = ("--model", "ease:regularization=3")
    done = fullrank("train", source, *_COLUMNS, *model, "--out", path, "--split", "given")
    assert done.code == 0, (cell, done)
    design = {"exact": "exact", "sampled": "sampled:15"}[cell.command]
    metrics = [f"-m{one}" for one in METRICS]
    saved = ("--model", f"mine={path}", "--design", design, "--json")
    done = fullrank("evaluate", data, *_COLUMNS, *metrics, *saved)
    if not is_right_saved(cell):
        return _check_refused(cell, done)
    assert done.code == 0, (cell, done)
    split = load_split(data, columns=_ROLES)
    scores, item_ids = scores_by_hand(load(path), split)
    scorer = ScoreArray(scores, user_ids=split.test.user_ids, item_ids=item_ids)
    expected = evaluate({"mine": scorer}, split, design=design, metrics=METRICS, rng=0)
    found = json.loads(done.out)["models"]
    assert found == json.loads(json.dumps(expected.to_dict()["models"])), (cell, found)
    return "right"


def _compared(cell: Cell, common: Sequence[Any], options: list[str], folder: Path) -> Done:
    """Two runs, each with its own order of rows, and then their comparison."""
    other = write_model(cell, model(cell, 1), folder, "other")
    runs = []
    for name, these in (("mine", options), ("other", other)):
        runs.append(folder / f"run-{name}")
        done = fullrank(*common, *these, "--out", runs[-1], "--no-report")
        if done.code:
            return done
    return fullrank("compare", *runs, *(f"-m{one}" for one in METRICS), "--json")


def _check_numbers(cell: Cell, found: dict[str, Any], first: Model, split: Any) -> None:
    scorer = in_order(cell, first, split)
    if cell.command == "compare":
        second = in_order(cell, model(cell, 1), split)
        ranks = {
            name: rank(one, split.test, exclude=split.history)
            for name, one in (("mine", scorer), ("other", second))
        }
        expected = compare(ranks, METRICS, rng=0).to_dict()
        found.pop("assumed", None)  # in the words of the command
        expected.pop("assumed", None)
        _check_equal(cell, found, json.loads(json.dumps(expected)))
        return
    design = {"exact": "exact", "sampled": "sampled:15"}[cell.command]
    expected = evaluate({"mine": scorer}, split, design=design, metrics=METRICS, rng=0)
    _check_equal(cell, found["models"], json.loads(json.dumps(expected.to_dict()["models"])))
    if cell.command == "exact":
        values = {one["metric"]: one["estimate"] for one in found["models"][0]["metrics"]}
        assert values["recall@20"] == by_hand(cell, first), (cell, values)


def _check_equal(cell: Cell, found: Any, expected: Any) -> None:
    assert found == expected, (cell, found, expected)


def run_all(cells: Sequence[Cell], done: Callable[[Cell], None] = lambda _: None) -> dict[str, int]:
    """How many cells are right and how many are refused."""
    totals = {"right": 0, "refused": 0}
    for cell in cells:
        with tempfile.TemporaryDirectory() as folder:
            totals[check(cell, Path(folder))] += 1
        done(cell)
    return totals


if __name__ == "__main__":
    totals = run_all(all_cells())
    cells = sum(totals.values())
    sys.stdout.write(f"{cells:,} cells: {totals['right']:,} right, {totals['refused']:,} refused\n")
