"""Modules wrapped, compiled, scripted, by other names, on other devices: each works or says why."""

from __future__ import annotations

import warnings
from functools import partial
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest

import fullrank as fr
from fullrank.errors import InputError
from fullrank.scorers import BlockScorer, FactorScorer, TorchScorer, as_scorer
from fullrank.testing import check_scorer

N_USERS, N_ITEMS = 6, 30
RANDOM = np.random.default_rng(2)
USERS = RANDOM.normal(size=(N_USERS, 4)).astype(np.float32)
ITEMS = RANDOM.normal(size=(N_ITEMS, 4)).astype(np.float32)
TABLE = USERS @ ITEMS.T
TARGETS = (np.arange(N_USERS), RANDOM.integers(N_ITEMS, size=N_USERS))


@pytest.fixture(scope="module", autouse=True)
def torch(need):
    return need("torch")


@pytest.fixture
def block(torch):
    """forward(users) of one argument."""

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding.from_pretrained(torch.tensor(TABLE), freeze=False)
            self.drop = torch.nn.Dropout(0.5)

        def forward(self, users):
            return self.drop(self.table(users))

    return Block()


def make_pairs(torch, wrap=lambda score: score, **attributes):
    """forward(users, items), whose answer is wrapped."""

    class Pairs(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Parameter(torch.tensor(TABLE))

        def forward(self, users, items):
            return wrap(self.table[users, items])

    module = Pairs()
    for name, value in attributes.items():
        setattr(module, name, value)
    return module


def same(model, *, close=False):
    """The ranks of the table; `close` where a module's own type rounds."""
    found, expected = fr.rank(model, TARGETS), fr.rank(TABLE, TARGETS)
    if close:
        assert np.abs(found.ranks - expected.ranks).max() <= 1
    else:
        np.testing.assert_array_equal(found.ranks, expected.ranks)


def test_forward_of_one_argument_is_a_block(block):
    assert isinstance(as_scorer(block), BlockScorer)
    assert as_scorer(block, n_items=N_ITEMS, n_users=N_USERS).n_users == N_USERS
    same(block)
    assert block.training
    assert block.drop.training


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ("users", BlockScorer),
        ("users=None", BlockScorer),
        ("users, mask=None", BlockScorer),
        ("users, *, temperature=1.0", BlockScorer),
        ("users, items", TorchScorer),
        ("users, item_rows=None", TorchScorer),
        ("users, items, more=None", TorchScorer),
        ("*arguments", TorchScorer),
    ],
)
def test_what_forward_takes_says_how_it_is_called(torch, arguments, kind):
    scope: dict = {}
    exec(f"def forward(self, {arguments}): return None", scope)
    module = type("Module", (torch.nn.Module,), {"forward": scope["forward"], "n_items": 9})()
    from fullrank.scorers.modules.torch_module import torch_scorer

    assert type(torch_scorer(module, n_items=9)) is kind


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled(torch, block, backend):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the compiler's own
        same(torch.compile(block, backend=backend))
        compiled = as_scorer(torch.compile(block, backend=backend))
        assert isinstance(compiled, BlockScorer)
        assert "Block" in repr(compiled)
        pairs = torch.compile(make_pairs(torch, n_items=N_ITEMS), backend=backend)
        assert isinstance(as_scorer(pairs), TorchScorer)
        same(pairs)
        in_place = make_pairs(torch, num_items=N_ITEMS)
        in_place.compile(backend=backend)
        same(in_place)
    assert block.training
    assert block.drop.training


@pytest.mark.parametrize("made", ["script", "trace"])
def test_scripted_and_traced(torch, block, made):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own: scripts are on their way out
        if made == "script":
            module = torch.jit.script(block)
        else:
            module = torch.jit.trace(block.eval(), torch.tensor([0, 1]))
        pairs = torch.jit.trace(
            make_pairs(torch), (torch.tensor([0, 1, 2]), torch.tensor([5, 6, 7]))
        )
        scorer = as_scorer(module)
        assert isinstance(scorer, BlockScorer)
        assert repr(scorer) == "BlockScorer(Block, 30 items)"
        same(module)
        assert isinstance(as_scorer(pairs, n_items=N_ITEMS), TorchScorer)
        same(as_scorer(pairs, n_items=N_ITEMS))


def test_within_data_parallel(torch, block):
    same(torch.nn.DataParallel(block))
    pairs = torch.nn.DataParallel(make_pairs(torch, n_items=N_ITEMS))
    assert as_scorer(pairs).n_items == N_ITEMS
    same(pairs)
    factors = make_pairs(torch, user_factors=torch.tensor(USERS), item_factors=torch.tensor(ITEMS))
    assert isinstance(as_scorer(torch.nn.DataParallel(factors)), FactorScorer)

    class DistributedDataParallel(torch.nn.Module):  # the name says what it is
        def __init__(self, module):
            super().__init__()
            self.module = module

        def forward(self, *inputs, **kwargs):
            raise AssertionError("processes are only needed for training")

    same(DistributedDataParallel(block))
    assert BlockScorer(DistributedDataParallel(block)).module is block


def test_lightning(need, torch, block):
    lightning = need("lightning")

    class WithForward(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = block

        def forward(self, users):
            return self.net(users)

        def training_step(self, batch, batch_idx):
            return self(batch).sum()

    class Without(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = block

        def training_step(self, batch, batch_idx):
            return self.net(batch).sum()

        def predict(self, users):
            return self.net(users)

    same(WithForward())
    with pytest.raises(InputError, match=r"`module`.*forward.*Without.*BlockScorer"):
        as_scorer(Without())
    same(BlockScorer(Without().predict))
    assert block.training


def test_no_forward(torch):
    class Nothing(torch.nn.Module):
        pass

    for make in (as_scorer, BlockScorer):
        with pytest.raises(InputError, match=r"`module`.*forward.*Nothing.*BlockScorer"):
            make(Nothing())


@pytest.mark.parametrize(
    ("wrap", "close"),
    [
        (lambda score: score[:, None], False),
        (lambda score: (score,), False),
        (lambda score: (score[:, None], score[:, None].expand(-1, 7)), False),
        (lambda score: {"loss": None, "scores": score}, False),
        (lambda score: {"prediction": score}, False),
        (lambda score: score.double(), False),
        (lambda score: np.flip(score.detach().numpy())[::-1], False),
        (lambda score: score.detach().numpy(), False),
        (lambda score: score.bfloat16(), True),
        (lambda score: score.half(), True),
    ],
)
def test_what_pairs_return(torch, wrap, close):
    module = make_pairs(torch, wrap, n_items=N_ITEMS)
    if close:
        scores = as_scorer(module).scores(np.arange(N_USERS))
        np.testing.assert_allclose(scores, TABLE, rtol=1e-2)
    else:
        same(module)


def test_a_gradient_that_is_kept(torch):
    """no_grad does not reach what was computed before."""
    scores = torch.tensor(TABLE, requires_grad=True) * 1
    module = make_pairs(torch, n_items=N_ITEMS)
    module.forward = lambda users, items: scores[users, items]
    same(module)
    same(BlockScorer(lambda users: scores[users]))


@pytest.mark.parametrize("name", ["n_items", "num_items", "item_num"])
def test_names_of_sizes(torch, name):
    users = {"n_items": "n_users", "num_items": "num_users", "item_num": "user_num"}[name]
    module = make_pairs(torch, **{name: N_ITEMS, users: N_USERS})
    scorer = as_scorer(module)
    assert (scorer.n_users, scorer.n_items) == (N_USERS, N_ITEMS)
    same(module)


def test_what_cannot_be_called_names_the_block(torch, block):
    def broken(users, items):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied (4x1 and 8x8)")

    module = make_pairs(torch, n_items=2)
    module.forward = broken
    with pytest.raises(InputError, match=r"Pairs\(users, items\).*mat1.*BlockScorer") as caught:
        as_scorer(module).scores([0, 1])
    assert isinstance(caught.value.__cause__, RuntimeError)
    wide = make_pairs(torch, lambda score: score[:, None].expand(-1, 3), n_items=2)
    with pytest.raises(InputError, match=r"4 pairs.*\(4, 3\).*BlockScorer"):
        as_scorer(wide).scores([0, 1])
    for nothing, shown in ((lambda score: None, "None"), (lambda score: score.tolist(), r"\[")):
        module = make_pairs(torch, nothing, n_items=2)
        with pytest.raises(InputError, match=rf"4 pairs.*{shown}.* Return a tensor or an array"):
            as_scorer(module).scores([0, 1])
    with pytest.raises(InputError, match=r"IndexError.* A user row .* may be out of range"):
        as_scorer(make_pairs(torch, n_items=N_ITEMS)).scores([N_USERS])
    with pytest.raises(InputError, match=r"`n_items`.*BlockScorer"):
        as_scorer(make_pairs(torch))
    histories = torch.nn.GRU(3, 4)  # forward(input, hx=None)
    with pytest.raises(InputError, match=r"GRU\(users\).*BlockScorer\(module, inputs=") as caught:
        as_scorer(histories)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_another_device_than_asked(monkeypatch, torch, block, device):
    """The sentence for a module on the processor, without a GPU to say it on."""
    from fullrank.ranking.cuda.modules import check_place, refuse_elsewhere

    gpu = torch.device(device)
    for check in (
        lambda: check_place(block, gpu),
        lambda: refuse_elsewhere([BlockScorer(block).device], gpu),
    ):
        with pytest.raises(InputError, match=rf'`device`.*"cpu".*not "{device}".*\.to\("{device}"'):
            check()


def test_buffers_say_where_a_module_is(torch):
    class Frozen(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", torch.tensor(TABLE).to("meta"))

        def forward(self, users):
            return self.table[users]

    assert BlockScorer(Frozen(), N_ITEMS).device.type == "meta"


KINDS = {
    "tensor": lambda torch, one: torch.tensor(one),
    "gradient": lambda torch, one: torch.tensor(one, requires_grad=True) * 1,
    "parameter": lambda torch, one: torch.nn.Parameter(torch.tensor(one)),
    "embedding": lambda torch, one: torch.nn.Embedding.from_pretrained(torch.tensor(one)),
    "bfloat16": lambda torch, one: torch.tensor(one).bfloat16().requires_grad_(),
    "half": lambda torch, one: torch.nn.Embedding.from_pretrained(torch.tensor(one)).half(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_factors_of_any_kind(torch, kind, similarity):
    """Two towers by their embeddings, as attributes of a module or by themselves."""
    users, items = (KINDS[kind](torch, one) for one in (USERS, ITEMS))
    numbers = [getattr(one, "weight", one).detach().double().numpy() for one in (users, items)]
    numbers = [one.astype(np.float32) for one in numbers]
    expected = fr.rank(FactorScorer(*numbers, similarity=similarity), TARGETS).ranks
    found = fr.rank(FactorScorer(users, items, similarity=similarity), TARGETS).ranks
    np.testing.assert_array_equal(found, expected)
    if similarity == "dot":
        module = torch.nn.Module()
        module.user_factors, module.item_factors = users, items
        np.testing.assert_array_equal(fr.rank(module, TARGETS).ranks, expected)


def test_two_towers(torch):
    towers = {
        side: torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
        for side in ("user", "item")
    }
    features = {"user": torch.randn(N_USERS, 5), "item": torch.randn(N_ITEMS, 5)}
    users, items = (towers[side](features[side]) for side in ("user", "item"))
    assert users.requires_grad
    cosine = torch.nn.functional.normalize(users) @ torch.nn.functional.normalize(items).T
    found = fr.rank(FactorScorer(users, items, similarity="cosine"), TARGETS)
    own = cosine[torch.arange(N_USERS), torch.tensor(TARGETS[1])]
    np.testing.assert_array_equal(found.above, (cosine > own[:, None]).sum(1))


def test_check_scorer_takes_both(torch):
    rows = torch.nn.Embedding.from_pretrained(torch.tensor(TABLE))
    check_scorer(as_scorer(rows, n_users=N_USERS))
    module = product_of_rows(torch)
    check_scorer(as_scorer(module, n_users=N_USERS))


def product_of_rows(torch):
    module = torch.nn.CosineSimilarity()  # forward(x1, x2), and can be copied to another process
    module.forward = _product
    module.n_items = N_ITEMS
    return module


def _product(users, items):
    import torch

    return torch.tensor(TABLE)[users, items]


class Predicts:
    """A class of one's own with a trainer, which holds the module."""

    def __init__(self, trainer):
        self.trainer = trainer

    def __call__(self, users):
        return self.trainer.model(users)

    def predict(self, users):
        return self.trainer.model(users)


class Slots:
    """An object without a `__dict__`."""

    __slots__ = ("model", "other")

    def __init__(self, module):
        self.model = module

    def __call__(self, users):
        return self.model(users)


class Deep:
    """An object with its modules in a list within a dict."""

    def __init__(self, module):
        self.kept = {"networks": [[[[module]]]]}

    def predict(self, users):
        return self.kept["networks"][0][0][0][0](users)


class HasProperty:
    """Lightning's Trainer has its model as a property."""

    def __init__(self, module):
        self._kept = [module]

    @property
    def model(self):
        return self._kept[0]


GLOBALS = {"model": None}


def in_a_comprehension(users):
    import torch

    return torch.cat([GLOBALS["model"](some) for some in users.split(2)])


def in_a_lambda(users):
    by_name = lambda u: GLOBALS["model"](u)  # noqa: E731
    return by_name(users)


def of_all_users(module):
    import torch

    return torch.nn.Sequential(module)


def refers(module):
    """Functions that reach a module in the ways that people write them."""
    trainer = SimpleNamespace(model=module)
    lightning = HasProperty(module)
    networks = {"best": module}

    def helper(users):
        return module(users)

    def by_default(users, model=module):
        return model(users)

    def by_name(users, *, model=module):
        return model(users)

    def built(users):
        return of_all_users(module)(users)

    GLOBALS["model"] = module
    return {
        "a global in a lambda within": in_a_lambda,
        "a global in a comprehension": in_a_comprehension,
        "a default": by_default,
        "a default by name": by_name,
        "slots": Slots(module),
        "deep within an object": Deep(module).predict,
        "made by each call": built,
        "an attribute": lambda users: trainer.model(users),
        "a property": lambda users: lightning.model(users),
        "another function": lambda users: helper(users),
        "a dict": lambda users: networks["best"](users),
        "an object": Predicts(trainer),
        "a method": Predicts(trainer).predict,
        "a partial": partial(lambda given, users: given.model(users), trainer),
    }


@pytest.mark.parametrize("way", sorted(refers(None)))
def test_a_module_that_a_function_reaches_is_evaluated(torch, way):
    """Otherwise dropout would be active, and batch normalization would learn from the test data."""
    module = torch.nn.Sequential(
        torch.nn.Embedding.from_pretrained(torch.tensor(TABLE)),
        torch.nn.Dropout(0.5),
        torch.nn.BatchNorm1d(N_ITEMS, affine=False, eps=0.0),
    )
    before = module[2].running_mean.clone()
    module[0].eval()
    same(BlockScorer(refers(module)[way], N_ITEMS))
    assert torch.equal(module[2].running_mean, before)
    assert [part.training for part in module.modules()] == [True, False, True, True]


def held(module):
    """A function that holds a module where nobody looks."""
    return Deep(module).predict


def test_modes_come_back_after_an_error(torch, block):
    def broken(users):
        held(block)(users)
        raise RuntimeError("out of luck")

    with pytest.raises(InputError, match="out of luck"):
        BlockScorer(broken, N_ITEMS).scores([0])
    assert block.training
    assert block.drop.training
    assert not torch.nn.modules.module._global_forward_pre_hooks


def test_a_module_in_training_in_another_thread_keeps_its_mode(torch, block):
    seen = []

    class Other(torch.nn.Module):
        def forward(self, users):
            seen.append(self.training)

    train = held(Other())

    def score(users):
        thread = Thread(target=train, args=(users,))
        thread.start()
        thread.join()
        return block(users)

    same(BlockScorer(score, N_ITEMS))
    assert seen
    assert all(seen)


def test_one_scorer_within_another(block):
    inner = BlockScorer(held(block), N_ITEMS)
    same(BlockScorer(lambda users: inner.scores(users.numpy()), N_ITEMS))
    assert block.training


def test_a_compiled_module_in_a_function_is_compiled_once(torch, block):
    from torch._dynamo.testing import CompileCounter

    torch._dynamo.reset()
    counter = CompileCounter()
    compiled = torch.compile(block, backend=counter, fullgraph=True)
    scorer = BlockScorer(lambda users: compiled(users), N_ITEMS)
    for _ in range(3):
        scorer.scores([0, 1])
    assert counter.frame_count == 1
    same(BlockScorer(torch.compile(lambda users: block(users), backend="eager"), N_ITEMS))
    assert block.training


def test_a_method_that_asks_for_the_mode_itself(torch):
    """It is not called as a module, and no hook sees it."""

    class Model(torch.nn.Module):
        def predict(self, users):
            scores = torch.tensor(TABLE)[users]
            return torch.nn.functional.dropout(scores, 0.5, self.training)

    model = Model()
    same(BlockScorer(lambda users: torch.cat([m.predict(users) for m in (model,)]), N_ITEMS))
    assert model.training


def test_data_that_a_function_refers_to_are_not_searched(torch, block):
    """A table's properties may copy it, and a list of data may be long."""

    class Frame:
        def __len__(self):
            return N_USERS

        @property
        def values(self):
            raise AssertionError

    frame, histories = Frame(), [block] * 1_000

    def score(users):
        assert frame or frame.values
        return block(users) if histories else None

    from fullrank.scorers.modules.module_calls import modules_in

    assert modules_in(score) == [block]
    assert modules_in(Slots(block)) == [block]
    assert modules_in(lambda users: histories[0](users)) == []


def test_hidden_states_are_not_taken_for_scores(torch):
    """A block narrower than what else is returned is hardly that of all items."""
    table = torch.tensor(TABLE)

    def both(users):
        return table[users][:, None].expand(-1, 5, -1), table[users][:, :8]

    with pytest.raises(InputError, match=r"ambiguous.*`n_items`"):
        fr.rank(BlockScorer(both), (np.arange(3), np.arange(3)))
    same(BlockScorer(both, N_ITEMS))
