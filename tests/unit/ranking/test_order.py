"""Orders of candidates as users pass them: by name, by id, from files, by proxies."""

from __future__ import annotations

import re

import numpy as np
import pytest

from fullrank.data import Interactions, simulate
from fullrank.errors import InputError
from fullrank.models import PureSVD
from fullrank.ranking import rank
from fullrank.scorers import CallableScorer, FactorScorer, ItemItemScorer, ScoreArray

N_USERS, N_ITEMS = 6, 400
USERS = np.array([f"u{at}" for at in range(N_USERS)])
ITEMS = np.arange(N_ITEMS) * 10 + 3  # ids that are not rows


@pytest.fixture
def table():
    """Scores by which item row j of user u is better than j + 1, from row 50·u on and around."""
    place = (np.arange(N_ITEMS) - 50 * np.arange(N_USERS)[:, None]) % N_ITEMS
    return -place.astype(float)


def scorer_of(table, **names):
    def function(users, items=None):
        return table[users] if items is None else table[users[:, None], items]

    n_users, n_items = table.shape
    return CallableScorer(function, n_users=n_users, n_items=n_items, **names)


def best(table, n):
    return np.argsort(-table, axis=1)[:, :n]


@pytest.fixture
def last():
    """As target, an item below twelve others, which only a good order soon finds."""
    return np.arange(N_USERS), (np.arange(N_USERS) * 50 + 12) % N_ITEMS


@pytest.fixture
def named(last):
    """The same targets by ids that are not rows; the data lists users in another order."""
    users, items = USERS[last[0]], ITEMS[last[1]]
    return Interactions.from_arrays(users[::-1], items[::-1], user_ids=USERS, item_ids=ITEMS)


def n_scored(table, targets, order, names=True, **arguments):
    ids = {"user_ids": USERS, "item_ids": ITEMS} if names else {}
    found = rank(scorer_of(table, **ids), targets, max_rank=10, order=order, **arguments)
    assert found.beyond.all()
    return found.n_scored


def test_the_default_needs_more_than_the_best_order(table, last):
    assert n_scored(table, last, None, names=False).mean() > 100
    assert (n_scored(table, last, best(table, 20), names=False) == 20).all()


def test_items_by_row(table, last):
    user = np.array([last[0][2]]), np.array([last[1][2]])
    assert n_scored(table, user, best(table, 40)[2], names=False) == 32
    assert n_scored(table, user, best(table, 40)[2].tolist(), names=False) == 32


def test_items_by_id_where_items_have_ids(table, named):
    target = Interactions.from_arrays(
        ["u2"], [int(ITEMS[112])], user_ids=USERS, item_ids=ITEMS
    )  # fmt: skip
    assert n_scored(table, target, ITEMS[best(table, 40)[2]]) == 32
    with pytest.raises(InputError, match=r"`order`.*first item is 4"):
        n_scored(table, target, [4, 5, 6])
    with pytest.raises(InputError, match=r"`order`.*numbers.*not text"):
        n_scored(table, target, ["3", "13"])
    # ids that nobody has are skipped
    assert n_scored(table, target, [999_999, *ITEMS[best(table, 40)[2]]]) == 32


def test_lists_of_ids(table, named, tmp_path):
    lists = {user: ITEMS[row] for user, row in zip(USERS, best(table, 20), strict=True)}
    assert (n_scored(table, named, lists) == 20).all()
    assert (
        n_scored(table, named, {u: list(map(int, one)) for u, one in lists.items()}) == 20
    ).all()
    ragged = {user: one[: 15 + at] for at, (user, one) in enumerate(lists.items())}
    assert sorted(n_scored(table, named, ragged)) == list(range(15, 21))
    some = {user: lists[user] for user in USERS[:3]} | {"nobody": [3], "u5": []}
    found = rank(scorer_of(table, user_ids=USERS, item_ids=ITEMS), named, max_rank=10, order=some)
    assert [n == 20 for n in found.n_scored] == [user in USERS[:3] for user in found.user]


def test_lists_of_ids_in_a_table(table, named, tmp_path, need):
    pd = need("pandas")
    lists = {user: ITEMS[row] for user, row in zip(USERS, best(table, 20), strict=True)}
    frame = pd.DataFrame(
        {"user": np.repeat(USERS, 20), "item": np.concatenate([lists[user] for user in USERS])}
    )
    assert (n_scored(table, named, frame) == 20).all()
    for name, save in (("a.parquet", "to_parquet"), ("a.csv", "to_csv")):
        getattr(frame, save)(tmp_path / name, index=False)
        assert (n_scored(table, named, tmp_path / name) == 20).all()
        assert (n_scored(table, named, str(tmp_path / name)) == 20).all()


def test_an_array_has_rows_of_users_who_have_no_other_names(table, last, named, tmp_path):
    array = np.full((N_USERS, 30), -1)
    array[:, :20] = best(table, 20)  # as an index of nearest neighbours fills up its answers
    assert (n_scored(table, last, array, names=False) == 20).all()
    assert (n_scored(table, last, array.tolist(), names=False) == 20).all()
    assert (n_scored(table, last, [row[:20] for row in array.tolist()], names=False) == 20).all()
    np.save(tmp_path / "a.npy", array.astype(np.int32))
    assert (n_scored(table, last, tmp_path / "a.npy", names=False) == 20).all()
    rows = Interactions.from_arrays(*last, user_ids=range(N_USERS), item_ids=range(N_ITEMS))
    assert (n_scored(table, rows, array, names=False) == 20).all()
    numbered = Interactions.from_arrays(
        last[0], ITEMS[last[1]], user_ids=range(N_USERS), item_ids=ITEMS
    )
    by_id = np.where(array < 0, -1, ITEMS[array])
    scorer = scorer_of(table, user_ids=range(N_USERS), item_ids=ITEMS)
    found = rank(scorer, numbered, max_rank=10, order=by_id)
    assert (found.n_scored == 20).all()
    with pytest.raises(InputError, match=r"`order` must have user ids.*0 … 5"):
        n_scored(table, named, by_id)
    with pytest.raises(InputError, match="`order` must have user ids"):
        n_scored(table, named, by_id.tolist())


@pytest.mark.parametrize("kind", ["array", "npy", "function", "scorer", "factors", "module"])
def test_proxies_in_the_rows_of_the_scorer(table, last, tmp_path, kind, need):
    if kind == "module":
        torch = need("torch")

        class Module(torch.nn.Module):
            def forward(self, users, items):
                return torch.from_numpy(table)[users, items]

        order = Module()
    elif kind == "factors":
        angle = 2 * np.pi * np.arange(N_ITEMS) / N_ITEMS
        items = np.stack([np.cos(angle), np.sin(angle)], 1)
        order = FactorScorer(items[50 * np.arange(N_USERS) + 5], items)
    else:
        np.save(tmp_path / "a.npy", table)
        order = {
            "array": table,
            "npy": tmp_path / "a.npy",
            "function": lambda users, items=None: scorer_of(table).scores(users, items),
            "scorer": scorer_of(table),
        }[kind]
    assert (n_scored(table, last, order, names=False) == 33).all()


def test_a_proxy_is_matched_by_id_and_may_be_of_last_week(table, named):
    users, items = np.array([4, 0, 2, 1]), np.random.default_rng(0).permutation(N_ITEMS)[:390]
    proxy = ScoreArray(table[np.ix_(users, items)], user_ids=USERS[users], item_ids=ITEMS[items])
    found = rank(scorer_of(table, user_ids=USERS, item_ids=ITEMS), named, max_rank=10, order=proxy)
    known = np.isin(found.user, USERS[users])
    assert (found.n_scored[known] == 33).all()
    assert (found.n_scored[~known] > 33).any()
    assert found.beyond.all()
    plain = ScoreArray(table)
    with pytest.raises(InputError, match="`order` must have ids for its users"):
        n_scored(table, named, plain)
    other = ScoreArray(table, user_ids=np.arange(N_USERS), item_ids=ITEMS)
    with pytest.raises(InputError, match=r"`order`.*text"):
        n_scored(table, named, other)
    strangers = ScoreArray(table, user_ids=[f"v{at}" for at in range(N_USERS)], item_ids=ITEMS)
    with pytest.raises(InputError, match=r"`order` must cover users.*v0"):
        n_scored(table, named, strangers)


def test_a_proxy_shows_no_excluded_items_first_and_none_without_a_score(table, last):
    seen = Interactions.from_arrays(
        np.repeat(np.arange(N_USERS), 100),
        np.concatenate(best(table, 100)),
        user_ids=range(N_USERS),
        item_ids=range(N_ITEMS),
    )
    last = last[0], (last[1] + 100) % N_ITEMS
    assert (n_scored(table, last, table, names=False, exclude=seen) == 33).all()
    holes = table.copy()
    np.put_along_axis(holes, best(table, 100), np.nan, axis=1)
    assert (n_scored(table, last, holes, names=False, exclude=seen) == 33).all()


def test_a_proxy_that_lacks_the_whole_catalogue(table, named):
    proxy = ScoreArray(table[:, :9], user_ids=USERS, item_ids=ITEMS[:9])
    arguments = {"items": ITEMS[12:], "max_rank": 10}
    scorer = scorer_of(table, user_ids=USERS, item_ids=ITEMS)
    found = rank(scorer, named, order=proxy, **arguments)
    np.testing.assert_array_equal(found.ranks, rank(scorer, named, **arguments).ranks)


def test_nan_is_named_by_id_where_it_is_met(table, named):
    table[3, 77] = np.nan
    scorer = scorer_of(table, user_ids=USERS, item_ids=ITEMS)
    order = {user: ITEMS[[77]] for user in USERS}
    with pytest.raises(InputError, match="user u3 and item 773 is NaN"):
        rank(scorer, named, max_rank=10, order=order)
    assert rank(scorer, named, max_rank=10, order=ITEMS[150:173]).beyond[USERS.tolist().index("u3")]


def test_a_model_as_proxy():
    data = simulate(n_users=80, n_items=600, mean_interactions=20, rng=0)
    split = data.split("leave-one-out", rng=0)
    proxy = PureSVD(n_factors=4).fit(split.train)
    vectors = PureSVD(n_factors=16).fit(split.train).scorer()
    costly = CallableScorer(
        vectors.scores, n_users=80, n_items=600, user_ids=data.user_ids, item_ids=data.item_ids
    )
    arguments = {"exclude": split.train, "max_rank": 5}
    full = rank(costly, split.test, exclude=split.train)
    shares = {}
    for name, order in (("proxy", proxy), ("random", "random")):
        found = rank(costly, split.test, order=order, **arguments)
        np.testing.assert_array_equal(found.ranks, full.up_to(5).ranks)
        shares[name] = found.n_scored.mean()
    assert shares["proxy"] < 0.7 * shares["random"]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("norm", "'norms', 'popularity', 'random'.*'norm'"),
        ("norms", "not be 'norms' for CallableScorer"),
        ("popularity", "not be 'popularity' without `exclude`"),
        (7, "scorer, not 7"),
        ([1, 2, 400], "400"),
        ([[1, 2], [3, 400]], "row for each user, 6 in all"),
        (np.zeros((6, 2, 2), int), r"shape \(6, 2, 2\)"),
        (np.full((6, 2), 400), "400"),
        (np.full((6, 2), -2), "-2"),
        ({9: [1]}, "users of the data.*9"),
        ({0: [400]}, "first item is 400"),
        ({0: 3}, r"`order` must have a list of items.*user 0 it is 3"),
        ({0: "abc"}, "list of items.*user 0 it is .abc."),
        ([[1], 2, [3], [4], [5], [6]], "list of items.*row 1 it is 2"),
        ({"0": [1]}, "numbers, like the known ids|not text"),
        ("nothing.npy", "`order` must name a file; nothing.npy"),
        ("nothing.csv", "`order` must name a file; nothing.csv"),
        (ScoreArray(np.zeros((6, 399))), "items.*400.*399"),
        (ScoreArray(np.zeros((5, 400))), "users.*6.*5"),
    ],
)
def test_what_is_refused(table, last, order, message):
    with pytest.raises((InputError, FileNotFoundError), match=message) as caught:
        n_scored(table, last, order, names=False)
    assert "`order`" in str(caught.value)
    assert not re.search(r"\.\s+\w.*\.\s+\w", str(caught.value))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user,item\n", "`order` must hold at least one"),
        (
            "hello\nworld\n",
            "The `user` column must be in .*lists.csv.*: if .* another name, rename it to 'user'.",
        ),
    ],
)
def test_a_file_of_lists_that_cannot_be_read(tmp_path, table, last, text, message):
    path = tmp_path / "lists.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        n_scored(table, last, path, names=False)


def test_an_order_comes_with_max_rank(table, last):
    with pytest.raises(InputError, match=r"`order` must.*without `max_rank`"):
        rank(table, last, order="random")


def test_scorers_of_whole_rows_are_asked_once_for_all(table, last):
    calls = []

    def rows(users):
        calls.append(users.size)
        return table[users]

    for scorer in (CallableScorer(rows, n_users=N_USERS, n_items=N_ITEMS), ScoreArray(table)):
        found = rank(scorer, last, max_rank=10)
        assert found.beyond.all()
        assert (found.n_scored == N_ITEMS).all()
    assert sum(calls) == N_USERS


def test_factor_models_take_any_named_order():
    random = np.random.default_rng(0)
    scorer = FactorScorer(random.normal(size=(20, 4)), random.normal(size=(90, 4)))
    at = np.arange(20), random.integers(0, 90, 20)
    full = rank(scorer, at).up_to(7)
    for order in (None, "norms", "random"):
        np.testing.assert_array_equal(rank(scorer, at, max_rank=7, order=order).ranks, full.ranks)


def test_copied_columns_give_the_same_scores_as_gathered_ones():
    random = np.random.default_rng(0)
    history = (random.random((50, 30)) < 0.3).astype(np.float32)
    scorer = ItemItemScorer(history, random.normal(size=(30, 30)).astype(np.float32))
    items, users = random.permutation(30)[:11], np.arange(50)
    copied = scorer.scores(users, items)  # of many histories
    assert history.sum() > 60
    gathered = np.concatenate([scorer.scores([user], items) for user in users])
    np.testing.assert_array_equal(copied, gathered)
    np.testing.assert_array_equal(copied, scorer.scores(users)[:, items])
