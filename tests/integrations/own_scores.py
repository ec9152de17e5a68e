"""Small data, and ranks counted over a framework's own scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import fullrank as fr
from fullrank.data import Split

ROUNDING = 2e-5  # of single precision, relative to the largest score


def made_split(*, text: bool = False, rows: bool = False, seed: int = 0) -> Split:
    """Ratings of 45 users and 80 items, one held out for each user; ids in no order.

    text : ids are words
    rows : ids are 0 … n-1, the numbers of the rows
    """
    rng = np.random.default_rng(seed)
    user, item = np.nonzero(rng.random((45, 80)) < np.linspace(0.35, 0.1, 80))
    user_ids, item_ids = (
        (np.arange(45), np.arange(80))
        if rows
        else (rng.permutation(900)[:45], rng.permutation(900)[:80])
    )
    if text:
        user_ids, item_ids = (
            np.array([f"{side}{one}" for one in ids])
            for side, ids in (("u", user_ids), ("i", item_ids))
        )
    data = fr.Interactions.from_arrays(
        user_ids[user], item_ids[item], value=rng.integers(1, 6, user.size).astype(float),
        **({"user_ids": user_ids, "item_ids": item_ids} if rows else {}),
    )  # fmt: skip
    return data.split("leave-one-out", by="random", rng=seed)


def ratings(train: fr.Interactions) -> list[tuple[Any, Any, float]]:
    """(user, item, rating) by id, in no order, so that the frameworks number them otherwise."""
    users, items = train.pairs()
    order = np.random.default_rng(5).permutation(users.size)
    return [
        (
            train.user_ids[users[at]].item(),
            train.item_ids[items[at]].item(),
            float(train.values[at]),
        )
        for at in order
    ]


def known(split: Split) -> Split:
    """The split without the items that nobody has in training."""
    trained = np.flatnonzero(split.train.item_counts())
    _, items = split.test.pairs()
    keep = np.isin(items, trained)
    item_ids = split.train.item_ids[trained]
    parts = (split.train, split.test.select(keep))
    train, test = (
        fr.Interactions.from_arrays(
            part.user_ids[part.pairs()[0]], part.item_ids[part.pairs()[1]], value=part.values,
            user_ids=split.train.user_ids, item_ids=item_ids,
        )
        for part in parts
    )  # fmt: skip
    return Split(train=train, test=test)


def table(split: Split, own: Callable[[Any], Any], item_ids: Any) -> np.ndarray:
    """A framework's scores in the rows of the data; -inf for what it cannot score.

    own : scores of a user id for the items of `item_ids`
    """
    place = {item: at for at, item in enumerate(np.asarray(item_ids).tolist())}
    columns = np.array([place.get(item, -1) for item in split.train.item_ids.tolist()])
    out = np.full((split.train.n_users, split.train.n_items), -np.inf)
    for row, user in enumerate(split.train.user_ids.tolist()):
        scores = np.asarray(own(user), np.float64).reshape(-1)
        out[row, columns >= 0] = scores[columns[columns >= 0]]
    out[np.isnan(out)] = -np.inf
    return out


def check_counts(ranks: fr.ExactRanks, split: Split, scores: np.ndarray) -> None:
    """Ranks are the counts over these scores, wherever rounding cannot decide."""
    users, items = split.test.pairs()
    assert len(ranks.above) == users.size > 20
    seen = split.train.matrix().toarray() > 0
    finite = scores[np.isfinite(scores)]
    near = ROUNDING * max(np.abs(finite).max(), np.ptp(finite))
    clear = 0
    for at, (user, item) in enumerate(zip(users, items, strict=True)):
        rest = ~seen[user]
        rest[item] = False
        with np.errstate(invalid="ignore"):
            distance = np.where(
                scores[user] == scores[user, item], 0.0, scores[user] - scores[user, item]
            )
        above = (distance[rest] > 0).sum()
        equal = (distance[rest] == 0).sum()
        assert ranks.candidates[at] == rest.sum() + 1
        if ((distance[rest] != 0) & (np.abs(distance[rest]) <= near)).any():
            continue  # rounding could have brought them here
        if equal == ranks.equal[at]:
            assert ranks.above[at] == above
            clear += 1
            continue
        # equal by the rounding of one side alone
        assert above + equal == ranks.above[at] + ranks.equal[at] or above == ranks.above[at]
    assert clear >= 0.9 * users.size
