"""Modules and functions that return (batch, n_items)."""

from __future__ import annotations

import pickle
from collections import namedtuple
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from scipy import sparse

import fullrank as fr
from fullrank.errors import InputError
from fullrank.scorers import BlockScorer, aligned, as_scorer
from fullrank.testing import check_scorer

N_USERS, N_ITEMS, LENGTH = 23, 40, 6
RANDOM = np.random.default_rng(0)
HISTORIES = RANDOM.integers(0, N_ITEMS + 1, size=(N_USERS, LENGTH))
HISTORIES[:, -1] = RANDOM.integers(1, N_ITEMS + 1, size=N_USERS)
TARGETS = (np.arange(N_USERS), RANDOM.integers(N_ITEMS, size=N_USERS))
SEEN = sparse.csr_array(RANDOM.random((N_USERS, N_ITEMS)) < 0.2)
TABLE = RANDOM.normal(size=(N_USERS, N_ITEMS)).astype(np.float32)


@pytest.fixture(scope="module", autouse=True)
def torch(need):
    return need("torch")


@pytest.fixture
def table(torch):
    """Scores from a table, which no batch can change; dropout shows the mode."""

    class Table(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scores = torch.nn.Parameter(torch.tensor(TABLE))
            self.drop = torch.nn.Dropout(0.5)
            self.sizes = []

        def forward(self, users):
            assert not torch.is_grad_enabled()
            self.sizes.append(len(users))
            return self.drop(self.scores[users])

    return Table()


@pytest.fixture
def sequence(torch):
    """A small SASRec: item 0 pads, and a score for each position."""

    class Sequence(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.items = torch.nn.Embedding(N_ITEMS + 1, 8, padding_idx=0)
            self.steps = torch.nn.GRU(8, 8, batch_first=True)

        def forward(self, histories):
            states, _ = self.steps(self.items(histories))
            return states @ self.items.weight.T

    torch.manual_seed(0)
    return Sequence()


def last(torch, module):
    """The scores of the items proper at the last position."""
    with torch.no_grad():
        return module(torch.tensor(HISTORIES))[:, -1, 1:].numpy()


def same(scorer, scores, **how):
    ours, plain = fr.rank(scorer, TARGETS, **how), fr.rank(scores, TARGETS, **how)
    for name in ("ranks", "above", "equal", "candidates"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(plain, name))


def test_rows_of_users(torch, table):
    scorer = BlockScorer(table)
    assert (scorer.n_items, scorer.n_users) == (N_ITEMS, None)
    np.testing.assert_array_equal(scorer.scores([4, 0]), TABLE[[4, 0]])
    np.testing.assert_array_equal(scorer.scores([4, 0], [7, 3]), TABLE[[4, 0]][:, [7, 3]])
    own = np.array([[7, 3], [0, 39]])
    np.testing.assert_array_equal(
        scorer.scores([4, 0], own), np.take_along_axis(TABLE[[4, 0]], own, axis=1)
    )
    assert scorer.scores([]).shape == (0, N_ITEMS)
    same(scorer, TABLE)
    same(scorer, TABLE, exclude=SEEN, ties="best")
    assert table.training
    assert table.drop.training
    rows = torch.nn.Embedding.from_pretrained(torch.tensor(TABLE))
    check_scorer(BlockScorer(rows, n_users=N_USERS))
    check_scorer(rows)


def test_users_come_in_batches(table):
    scorer = BlockScorer(table, N_ITEMS, batch_size=5)
    np.testing.assert_array_equal(scorer.scores(np.arange(N_USERS)), TABLE)
    assert table.sizes == [2, 5, 5, 5, 5, 3]  # two at first, to see what a user takes
    table.sizes.clear()
    same(scorer, TABLE, batch_size=4)
    assert table.sizes == [4, 4, 4, 4, 4, 3]


def test_so_many_users_as_their_scores_have_room(monkeypatch, torch, sequence):
    from fullrank.scorers.modules import torch_block

    monkeypatch.setattr(torch_block, "_CELLS", 3 * LENGTH * (N_ITEMS + 1))
    scorer = BlockScorer(sequence, N_ITEMS, inputs=HISTORIES, padding_item=0)
    np.testing.assert_allclose(
        scorer.scores(np.arange(N_USERS)), last(torch, sequence), rtol=1e-5, atol=1e-6
    )
    assert scorer.users_at_once == 3


def test_up_to_k_and_sampled(table):
    scorer = BlockScorer(table)
    same(scorer, TABLE, max_rank=5)
    same(scorer, TABLE, max_rank=5, exclude=SEEN)
    for design in ("sampled:10", "adaptive:5,limit=30"):
        ours, plain = (
            fr.sample_ranks(one, TARGETS, design=design, exclude=SEEN, rng=3)
            for one in (scorer, TABLE)
        )
        np.testing.assert_array_equal(ours.rows.rank, plain.rows.rank)
        np.testing.assert_array_equal(ours.rows.sample_size, plain.rows.sample_size)


def test_threads_are_those_of_the_module(torch, table):
    """BLAS keeps its threads, for the module computes in them; nobody else calls it meanwhile."""
    from threadpoolctl import threadpool_info

    def blas():
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    seen = []

    def scores(users):
        seen.append(blas())
        return table(users)

    expected = blas()
    fr.rank(BlockScorer(scores, N_ITEMS), TARGETS, n_jobs=2)
    assert seen
    assert all(one == expected for one in seen)


def test_histories_and_a_column_that_pads(torch, sequence):
    expected = last(torch, sequence)
    for inputs in (
        HISTORIES,
        HISTORIES.astype(np.int32),
        HISTORIES.tolist(),
        torch.tensor(HISTORIES),
        (HISTORIES,),
        {"histories": HISTORIES},
        lambda users: HISTORIES[users],
        lambda users: HISTORIES[users].tolist(),
        lambda users: torch.tensor(HISTORIES)[users],
        lambda users: (torch.from_numpy(HISTORIES[users]),),
        lambda users: {"histories": torch.tensor(HISTORIES[users])},
    ):
        scorer = BlockScorer(sequence, inputs=inputs, padding_item=0)
        assert scorer.n_items == N_ITEMS
        np.testing.assert_allclose(scorer.scores(np.arange(N_USERS)), expected, rtol=1e-5)
        assert scorer.n_users == (None if callable(inputs) else N_USERS)
    items = torch.nn.Embedding.from_pretrained(torch.randn(N_ITEMS + 1, 8))
    own = torch.nn.Sequential(items, torch.nn.Linear(8, N_ITEMS + 1))
    check_scorer(BlockScorer(own, inputs=HISTORIES, padding_item=0))


def test_a_method_that_scores_given_items(torch, sequence):
    """As the usual SASRec in PyTorch: predict(users, histories, items), of arrays."""

    class WithPredict(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net, self.drop = sequence, torch.nn.Dropout(0.5)

        def forward(self, users, histories, positive, negative):
            raise AssertionError("this is for training")

        def predict(self, users, histories, items):
            states, _ = self.net.steps(self.net.items(torch.LongTensor(histories)))
            vectors = self.net.items(torch.LongTensor(items))
            return (vectors @ self.drop(states[:, -1])[:, :, None]).squeeze(-1)

    model, items = WithPredict(), np.arange(1, N_ITEMS + 1)
    scorer = BlockScorer(
        lambda seqs: model.predict(None, seqs.cpu().numpy(), items), inputs=HISTORIES
    )
    np.testing.assert_allclose(
        scorer.scores(np.arange(N_USERS)), last(torch, sequence), rtol=1e-5, atol=1e-6
    )
    assert model.drop.training
    with pytest.raises(InputError, match=r"WithPredict\(users, items\).*TypeError.*BlockScorer"):
        as_scorer(model, n_items=N_ITEMS).scores([0])


def test_ids_and_rows_in_another_order(torch, sequence):
    """`fr.rank(BlockScorer(...), test, exclude=train)` with ids of text."""
    users = np.array([f"u{at:02}" for at in range(N_USERS)])
    items = np.array([f"i{at:02}" for at in range(N_ITEMS)])
    train = fr.Interactions.from_arrays(
        users[SEEN.nonzero()[0]], items[SEEN.nonzero()[1]], user_ids=users, item_ids=items
    )
    test = fr.Interactions.from_arrays(
        users[TARGETS[0]], items[TARGETS[1]], user_ids=users, item_ids=items
    )
    scores = last(torch, sequence)
    shuffled, columns = RANDOM.permutation(N_USERS), RANDOM.permutation(N_ITEMS)

    class Other(torch.nn.Module):
        def forward(self, histories):
            block = sequence(histories)[:, -1]
            return torch.cat([block[:, :1], block[:, 1:][:, torch.tensor(columns)]], dim=1)

    scorer = BlockScorer(
        Other(),
        inputs=HISTORIES[shuffled],
        padding_item=0,
        user_ids=users[shuffled],
        item_ids=items[columns],
    )
    assert "with ids" in repr(scorer)
    found = fr.rank(scorer, test, exclude=train)
    plain = fr.rank(scores, TARGETS, exclude=SEEN)
    np.testing.assert_array_equal(found.ranks, plain.ranks)
    order = aligned(scorer, user_ids=users, item_ids=items)
    assert isinstance(order, BlockScorer)
    np.testing.assert_allclose(order.scores([3, 1], [5, 2]), scores[[3, 1]][:, [5, 2]], rtol=1e-5)
    np.testing.assert_allclose(
        order.reordered(np.array([2, 0]), np.array([9, 1])).scores([0]),
        scores[2:3, [9, 1]],
        rtol=1e-5,
    )
    sample = fr.sample_ranks(scorer, test, exclude=train, design="sampled:9", rng=1)
    other = fr.sample_ranks(scores, TARGETS, exclude=SEEN, design="sampled:9", rng=1)
    np.testing.assert_array_equal(sample.rows.rank, other.rows.rank)


Named = namedtuple("Named", ["loss", "logits"])


@dataclass
class Output:
    logits: object
    hidden: object = None


@pytest.mark.parametrize(
    "made",
    [
        lambda torch, s: (s,),
        lambda torch, s: [torch.tensor(0.0), s],
        lambda torch, s: (s, torch.zeros(len(s), 7, 3)),
        lambda torch, s: {"loss": torch.tensor(1.0), "logits": s, "other": s + 1},
        lambda torch, s: {"scores": s, "hidden": torch.zeros(len(s), 3)},
        lambda torch, s: {"prediction": s, "loss": None},
        lambda torch, s: Named(torch.tensor(0.0), s),
        lambda torch, s: Output(s, torch.zeros(len(s), 3)),
        lambda torch, s: s[:, None, :],
        lambda torch, s: s[:, :, None],
        lambda torch, s: torch.stack([s * 0, s], dim=1),
        lambda torch, s: s.clone().requires_grad_(),
        lambda torch, s: s.double(),
        lambda torch, s: s.numpy(),
        lambda torch, s: s.numpy()[:, ::-1].copy()[:, ::-1],
        lambda torch, s: np.asfortranarray(s.numpy()),
        lambda torch, s: s.numpy().astype(">f4"),
        lambda torch, s: s.numpy().astype(np.longdouble),
        lambda torch, s: np.broadcast_to(s.numpy(), s.shape),
        lambda torch, s: s.to_sparse(),
    ],
)
def test_outputs(torch, made):
    scorer = BlockScorer(lambda users: made(torch, torch.tensor(TABLE)[users]))
    np.testing.assert_array_equal(scorer.scores([3, 0, 22]), TABLE[[3, 0, 22]])
    same(scorer, TABLE)


def test_a_model_output(torch, need):
    output = need("transformers").modeling_outputs.SequenceClassifierOutput
    scorer = BlockScorer(lambda users: output(logits=torch.tensor(TABLE)[users]))
    same(scorer, TABLE)


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "float32", "float64", "int64"])
def test_types(torch, kind):
    scores = torch.tensor(TABLE * 10).to(getattr(torch, kind))
    found = BlockScorer(lambda users: scores[users]).scores(np.arange(N_USERS))
    assert found.dtype == (np.float64 if kind in ("float64", "int64") else np.float32)
    np.testing.assert_array_equal(found, scores.double().numpy())


def test_a_position(torch):
    scores = torch.tensor(RANDOM.normal(size=(N_USERS, LENGTH, N_ITEMS)).astype(np.float32))
    at = RANDOM.integers(LENGTH, size=N_USERS)
    for position, expected in (
        (-1, scores[:, -1]),
        (2, scores[:, 2]),
        (at, scores[torch.arange(N_USERS), torch.tensor(at)]),
        (at - LENGTH, scores[torch.arange(N_USERS), torch.tensor(at)]),
    ):
        scorer = BlockScorer(lambda users: scores[users], position=position, n_users=N_USERS)
        np.testing.assert_array_equal(scorer.scores(np.arange(N_USERS)), expected)
        order = scorer.reordered(np.array([5, 3]), None)
        np.testing.assert_array_equal(order.scores([0, 1]), expected[[5, 3]])
    with pytest.raises(InputError, match=r"`position`.*-6..5.*6"):
        BlockScorer(lambda users: scores[users], position=6).scores([0])
    with pytest.raises(InputError, match=r"`position`.*23 users.*2 numbers"):
        BlockScorer(lambda users: scores[users], position=[1, 2], n_users=N_USERS)


def test_columns_that_are_no_items(torch):
    wide = torch.tensor(np.pad(TABLE, ((0, 0), (1, 1)), constant_values=np.nan))
    for n_items in (None, N_ITEMS):
        for padding in ([0, -1], (N_ITEMS + 1, 0)):
            scorer = BlockScorer(lambda users: wide[users], n_items, padding_item=padding)
            same(scorer, TABLE)
            same(scorer, TABLE, items=np.union1d(TARGETS[1], [3, 4]))
    with pytest.raises(InputError, match=r"40\).*\(2, 42\).*`padding_item`"):
        BlockScorer(lambda users: wide[users], N_ITEMS).scores([1, 2, 3])
    with pytest.raises(InputError, match=r"`padding_item`.*42.*\[50\]"):
        BlockScorer(lambda users: wide[users], padding_item=50).scores([1])
    with pytest.raises(InputError, match=r"`padding_item`.*each at most once.*\[0, -42\]"):
        BlockScorer(lambda users: wide[users], padding_item=[0, -42]).scores([1])


def test_a_history_as_a_sparse_matrix(torch):
    """An autoencoder: what it is given is what each user has seen."""
    layer = torch.nn.Linear(N_ITEMS, N_ITEMS).double()
    expected = layer(torch.tensor(SEEN.toarray().astype(np.float64))).detach().numpy()
    users, items = SEEN.nonzero()
    ids = {"user_ids": np.arange(N_USERS), "item_ids": np.arange(N_ITEMS)}
    for inputs in (
        SEEN,
        SEEN.toarray().astype(np.float32),
        fr.Interactions.from_arrays(users, items, **ids),
    ):
        scorer = as_scorer(BlockScorer(layer, inputs=inputs), n_users=N_USERS, n_items=N_ITEMS)
        np.testing.assert_allclose(scorer.scores(np.arange(N_USERS)), expected)


def test_several_inputs(torch):
    def score(first, second, scale):
        return (first.float() + second)[:, :, None].expand(-1, -1, N_ITEMS).sum(1) * scale

    inputs = (HISTORIES, HISTORIES.astype(np.float16))
    scorer = BlockScorer(partial(score, scale=0.5), inputs=inputs)
    np.testing.assert_array_equal(scorer.scores([3])[0], np.full(N_ITEMS, HISTORIES[3].sum()))
    with pytest.raises(InputError, match=r"`inputs`.*each user.*have 22 and 23"):
        BlockScorer(score, inputs=(HISTORIES, HISTORIES[1:]))
    with pytest.raises(InputError, match=r"`inputs`.*each user, 20 in all, not 23"):
        BlockScorer(score, inputs=HISTORIES, n_users=20)
    with pytest.raises(InputError, match=r"`inputs`.*same length"):
        BlockScorer(score, inputs=[[1], [1, 2]])


def test_functions_use_their_modules_in_evaluation_mode(torch, table):
    class Holder:
        def __init__(self):
            self.model = table

        def predict(self, users):
            return self.model(users)

        __call__ = predict

    class WithMethod(type(table)):
        def predict_all(self, users):
            return self.forward(users)

    for function in (
        lambda users: table(users),
        partial(lambda scale, users: table(users) * scale, 1),
        Holder().predict,
        Holder(),
        WithMethod().predict_all,
    ):
        scorer = BlockScorer(function)
        same(scorer, TABLE)
        assert scorer.device.type == "cpu"
    assert table.training


def test_copies(table):
    scorer = BlockScorer(torch_linear(), inputs=TABLE)
    before = pickle.dumps(scorer)
    scores = scorer.scores([1, 2])
    np.testing.assert_array_equal(pickle.loads(before).scores([1, 2]), scores)
    from fullrank._lib.fingerprints import fingerprint

    other = BlockScorer(torch_linear(), inputs=TABLE)
    first = fingerprint(other)
    other.scores([1])
    assert fingerprint(other) == first  # what was seen is no part of it


def torch_linear():
    import torch

    torch.manual_seed(1)
    return torch.nn.Linear(N_ITEMS, N_ITEMS)


def test_what_fails_is_told_in_a_sentence(torch, table):
    beyond = r"Table\(users\), for 1 user, raised IndexError.* User row 23 may be out of range"
    with pytest.raises(InputError, match=beyond) as caught:
        BlockScorer(table, N_ITEMS).scores([N_USERS])
    assert isinstance(caught.value.__cause__, IndexError)
    with pytest.raises(InputError, match=r"\(users\), for 2 users, .*IndexError.*BlockScorer"):
        BlockScorer(lambda users: users[:, -1], N_ITEMS).scores([1, 2])  # it wants histories
    with pytest.raises(InputError, match=r"IndexError.*`inputs` may be out of range"):
        BlockScorer(table, inputs=HISTORIES[:, 0] + 100).scores([0])
    with pytest.raises(
        InputError, match=r"called with its `inputs`.*KeyError.*`inputs` must hold .*Table"
    ):
        BlockScorer(table, inputs=lambda users: {}[int(users[0])]).scores([1])
    with pytest.raises(InputError, match=r"\(1, 40\).*\(1, 7\).*`padding_item`"):
        BlockScorer(lambda users: torch.zeros(1, 7), N_ITEMS).scores([1])
    for nothing in (None, [[1.0, 2.0]], np.array([["a"]])):
        with pytest.raises(
            InputError, match=r"\(1, n_items\).*returned .* Return a tensor or an a"
        ):
            BlockScorer(lambda users, nothing=nothing: nothing).scores([1])
    varying = BlockScorer(lambda users: torch.zeros(len(users), len(users)))
    with pytest.raises(InputError, match=r"\(5, 5\)\. The first block had 2 columns"):
        varying.scores(np.arange(5))
    with pytest.raises(InputError, match=r"shapes 0: \(2, 9\); 1: \(2, 4\).*`n_items`"):
        BlockScorer(lambda users: (torch.zeros(len(users), 9), torch.zeros(len(users), 4))).scores(
            [1, 2]
        )
    both = BlockScorer(lambda users: (torch.zeros(len(users), 9), torch.zeros(len(users), 4)), 4)
    assert both.scores([1, 2]).shape == (2, 4)
    with pytest.raises(InputError, match=r"`module`.*function.*not 'sasrec'"):
        BlockScorer("sasrec")

    def heavy(users):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    with pytest.raises(InputError, match=r"OutOfMemoryError.*`batch_size`"):
        BlockScorer(heavy, 5).scores([1])
    nan = torch.tensor(TABLE)
    nan[3, 5] = float("nan")
    with pytest.raises(InputError, match=r"user row 3 and item row 5 is NaN"):
        fr.rank(BlockScorer(lambda users: nan[users]), TARGETS)


def test_sizes_must_agree(table):
    with pytest.raises(InputError, match=r"`n_items`.*40, not 7"):
        as_scorer(BlockScorer(table), n_items=7)
    with pytest.raises(InputError, match=r"`item_ids`.*40.*3"):
        BlockScorer(table, N_ITEMS, item_ids=[1, 2, 3])
    with pytest.raises(InputError, match=r"\(2, 3\).*\(2, 40\)"):
        BlockScorer(table, item_ids=[1, 2, 3]).scores([0, 1])


@pytest.mark.parametrize("design", ["exact", "sampled:10", "adaptive:5,limit=30"])
def test_evaluate(design):
    users, items = np.nonzero(RANDOM.random((N_USERS, N_ITEMS)) < 0.3)
    ids = {"user_ids": np.arange(N_USERS), "item_ids": np.arange(N_ITEMS)}
    split = fr.Interactions.from_arrays(users, items, **ids).split("leave-one-out", rng=0)
    scorer = BlockScorer(torch_linear(), inputs=TABLE, **ids)
    plain = as_scorer(scorer.scores(np.arange(N_USERS)), **ids)
    found, expected = (
        fr.evaluate({"m": one}, split, "recall@5, ndcg", design=design, rng=0, report=False)
        for one in (scorer, plain)
    )
    assert str(found) == str(expected)
