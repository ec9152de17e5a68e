"""Sampled ranks of the device are those of the CPU, rank by rank."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, random_array

from fullrank.designs import Uniform
from fullrank.errors import InputError
from fullrank.ranking import sample_ranks
from fullrank.ranking.cuda.sampled import device_data
from fullrank.ranking.cuda.sampled import factors as sampled_factors
from fullrank.scorers import FactorScorer, ItemItemScorer, ScoreArray
from fullrank.scorers.modules.torch_module import TorchScorer

KEY = 2**63 + 12345
pytestmark = pytest.mark.slow
COLUMNS = ("rank", "sample_size", "offset", "n_items")


def same(scorer, targets, **how):
    """The sample of the device, after comparing it with the CPU's."""
    how = {"rng": KEY, "design": "sampled:30,replacement=true", **how}
    here, there = (sample_ranks(scorer, targets, device=one, **how) for one in (None, "cuda"))
    for name in COLUMNS:
        a, b = (getattr(one.rows, name) for one in (here, there))
        np.testing.assert_array_equal(a, b, err_msg=name)
    return there


def factors(seed, *, n_users=4, n_items=50, d=6, whole=False, dtype=np.float32):
    random = np.random.default_rng(seed)
    users, items = (random.standard_normal((n, d)).astype(dtype) for n in (n_users, n_items))
    if whole:  # small whole numbers: many equal scores
        users, items = np.round(users), np.round(items)
    return users, items, random


ONE = ([0, 1, 3], [7, 12, 49])
SEVERAL = ([0, 0, 0, 2, 3, 3], [7, 9, 30, 12, 0, 49])


@pytest.mark.breadth
@pytest.mark.parametrize("ties", ["best", "worst", "random"])
def test_equal_scores_stand_where_the_cpu_puts_them(ties):
    users, items, _ = factors(0, d=3, whole=True)
    same(FactorScorer(users, items), SEVERAL, ties=ties)


@pytest.mark.verify
def test_the_policies_for_ties_differ():
    flat = FactorScorer(np.zeros((1, 2)), np.zeros((50, 2)))
    best, worst, mixed = (
        same(flat, ([0], [7]), ties=ties).rows.rank[0] for ties in ("best", "worst", "random")
    )
    assert best == 1 < mixed < worst == 30


@pytest.mark.verify
@pytest.mark.parametrize("d", [1, 12, 17, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_factors_of_any_width_and_type(d, dtype):
    users, items, random = factors(d, d=d, dtype=dtype)
    same(FactorScorer(users, items, item_bias=random.standard_normal(50)), ONE)


def test_without_replacement():
    users, items, _ = factors(1, n_items=1025)
    same(FactorScorer(users, items), ONE, design="sampled:30")


@pytest.mark.verify
def test_a_whole_pool_gives_the_exact_rank():
    users, items, _ = factors(2, n_items=9)
    scorer = FactorScorer(users, items)
    sample = same(scorer, ([1], [3]), design="sampled:9")
    scores = scorer.scores([1])[0]
    assert sample.rows.rank[0] == 1 + np.count_nonzero(scores > scores[3])


@pytest.mark.verify
@pytest.mark.parametrize("pool", ["all", "unseen"])
@pytest.mark.parametrize("catalogue", [None, np.arange(0, 50)[np.arange(50) % 6 != 5]])
def test_excluded_items_and_a_smaller_catalogue(pool, catalogue):
    users, items, random = factors(3, whole=True)
    exclude = csr_array(random.random((3, 50)) < 0.3)  # user 3 is beyond its last row
    targets = SEVERAL if catalogue is None else ([0, 0, 3], [7, 9, 0])
    design = Uniform(30, replacement=True, pool=pool)
    same(FactorScorer(users, items), targets, design=design, exclude=exclude, items=catalogue)


@pytest.mark.verify
@pytest.mark.parametrize("scale", [1.0, 1e30])
def test_scores_that_float32_cannot_tell_apart(scale):
    """Differences far below the rounding of a float32 sum, and equal scores among them."""
    random = np.random.default_rng(4)
    items = np.tile(random.standard_normal(40).astype(np.float32), (50, 1))
    items[:, 7] += np.float32(2.0**-23) * random.integers(-2, 3, 50).astype(np.float32)
    users = random.standard_normal((4, 40))
    users -= np.outer(users @ items[0], items[0]) / (items[0] @ items[0])  # scores near zero
    users = users.astype(np.float32)
    scorer = FactorScorer(users / np.float32(scale), items * np.float32(scale))
    sample = same(scorer, SEVERAL)
    assert np.unique(sample.rows.rank).size > 2


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numpy, in the interpreter
@pytest.mark.parametrize("scale", [1e-25, 3e-23, 1e-20, 1e18, 1e30])
def test_scores_beyond_the_range_of_float32(scale):
    users, items, _ = factors(5)
    same(FactorScorer(users * np.float32(scale), items * np.float32(scale)), ONE)


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_sums_that_overflow_on_the_way():
    """3e38 + 3e38 - 5e38 is below 2e38, but float32 makes it infinite."""
    items = np.tile(np.array([[3e38, 3e38, -5e38]], np.float32), (50, 1))
    items[7] = [2e38, 0, 0]
    sample = same(FactorScorer(np.ones((1, 3), np.float32), items), ([0], [7]))
    assert sample.rows.rank[0] == 1


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_infinite_scores_are_scores():
    users, items, _ = factors(6)
    bias = np.zeros(50)
    bias[[3, 7, 12]], bias[[5, 49]] = np.inf, -np.inf
    same(FactorScorer(users, items, item_bias=bias), ONE)
    items[20] = np.inf * np.sign(users[0])
    same(FactorScorer(users[:1], items), ([0], [7]), design="sampled:60,replacement=true")


@pytest.mark.verify
def test_many_targets_make_smaller_blocks_of_users(monkeypatch):
    users, items, random = factors(21, n_users=6, d=4)
    targets = np.repeat(np.arange(6), 5), np.tile(random.permutation(50)[:5], 6)
    monkeypatch.setattr(sampled_factors, "BYTES", 6 * (4 * 4 + 4 * 29 + 128))
    seen = []
    same(FactorScorer(users, items), targets, progress=lambda *at: seen.append(at))
    assert seen[-6:] == [(done, 6) for done in range(1, 7)]


@pytest.mark.verify
def test_small_blocks_and_progress():
    users, items, _ = factors(7)
    told = []
    same(FactorScorer(users, items), ONE, batch_size=2, progress=lambda *one: told.append(one))
    assert told[-2:] == [(2, 3), (3, 3)]


def test_given_negatives():
    users, items, random = factors(8, whole=True)
    given = random.integers(10, 49, (3, 11))
    given[1, 8:] = -1
    how = {"negatives": given, "design": "sampled:replacement=true"}
    same(FactorScorer(users, items), ([3, 1, 0], [7, 8, 9]), **how)


@pytest.mark.breadth
@pytest.mark.parametrize("weights", [np.float32, np.float64])
def test_item_item_models(weights):
    random = np.random.default_rng(10)
    history = random_array((4, 50), density=0.2, rng=1, format="csr", dtype=np.float64)
    matrix = np.round(random.standard_normal((50, 50)), 1).astype(weights)
    history.data = history.data.astype(np.float32) if weights is np.float32 else history.data
    same(ItemItemScorer(history, matrix), SEVERAL, exclude=history)


class Distance(torch.nn.Module):
    def __init__(self, n_users, n_items):
        super().__init__()
        self.n_users, self.n_items = n_users, n_items
        self.place = torch.nn.Embedding(n_users + n_items, 3)

    def forward(self, users, items):
        gap = self.place(users) - self.place(items + self.n_users)
        return -gap.abs().sum(-1).round(decimals=0)


def module(device="cuda"):
    torch.manual_seed(0)
    there = "cpu" if not torch.cuda.is_available() else device
    return Distance(4, 50).to(there)


def test_modules():
    scorer = TorchScorer(module())
    random = np.random.default_rng(11)
    exclude = csr_array(random.random((4, 50)) < 0.3)
    same(scorer, SEVERAL, exclude=exclude)
    assert scorer.module.training


@pytest.mark.parametrize("part", ["parameters", "a buffer"])
def test_a_module_must_be_on_the_device(part):
    scorer = TorchScorer(module())
    if part == "parameters":
        scorer.module.to("meta")
    else:
        scorer.module.register_buffer("mean", torch.zeros(3, device="meta"))
    with pytest.raises(InputError, match=r'`device`.*"meta"'):
        sample_ranks(scorer, ONE, design="sampled:20", device="cuda")


class Shapeless(Distance):
    def forward(self, users, items):
        return super().forward(users, items)[1:]


def test_a_module_must_score_every_pair():
    scorer = TorchScorer(Shapeless(4, 50).to(module().place.weight.device))
    with pytest.raises(InputError, match=r"`module`.*\b3\b"):
        sample_ranks(scorer, ONE, design="sampled:20", device="cuda")


@pytest.mark.breadth
@pytest.mark.parametrize("where", ["target", "draw", "both"])
def test_nan_is_the_error_of_the_cpu(where):
    users, items, _ = factors(12)
    if where != "draw":
        items[12] = np.nan
    if where != "target":
        items[20] = np.nan
    scorer = FactorScorer(users, items)
    errors = []
    for device in (None, "cuda"):
        with pytest.raises(InputError, match="is NaN") as caught:
            sample_ranks(
                scorer, ONE, design="sampled:120,replacement=true", n_jobs=1, rng=1, device=device
            )
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


@pytest.mark.verify
def test_nan_of_given_items_and_of_modules():
    users, items, _ = factors(13)
    items[20] = np.nan
    with pytest.raises(InputError, match=r"user row 3\b.*item row 20\b.*NaN"):
        sample_ranks(
            FactorScorer(users, items),
            ([0, 3], [1, 2]),
            negatives=[[4, 5], [6, 20]],
            design="sampled:replacement=true",
            device="cuda",
        )
    scorer = TorchScorer(module())
    scorer.module.place.weight.data[4 + 20] = np.nan
    with pytest.raises(InputError, match=r"item row 20\b.*NaN"):
        sample_ranks(scorer, ONE, design="sampled:120,replacement=true", rng=1, device="cuda")


@pytest.mark.verify
def test_nan_of_an_excluded_item_is_no_error():
    users, items, _ = factors(12)
    items[20] = np.nan
    exclude = csr_array((np.ones(4), ([0, 1, 2, 3], [20] * 4)), shape=(4, 50))
    design = "sampled:120,replacement=true"
    same(FactorScorer(users, items), ONE, exclude=exclude, design=design)


@pytest.mark.parametrize(
    ("scorer", "told"),
    [
        (ScoreArray(np.zeros((4, 50))), "ScoreArray"),
        (
            ItemItemScorer(csr_array((4, 50)), csr_array((50, 50))),
            "sparse",
        ),
    ],
)
def test_scorers_that_a_gpu_cannot_rank(scorer, told):
    with pytest.raises(InputError, match=rf'`device`.*None.*"cpu".*{told}'):
        sample_ranks(scorer, ONE, design="sampled:20", device="cuda")


def test_a_catalogue_that_does_not_fit(monkeypatch):
    users, items, _ = factors(14)
    monkeypatch.setattr(device_data, "free_memory", lambda torch, device: 2**29)
    with pytest.raises(InputError, match=r"1\.2 KiB.*512\.0 MiB"):
        sample_ranks(FactorScorer(users, items), ONE, design="sampled:20", device="cuda")


def test_the_device_is_one_that_is_known():
    users, items, _ = factors(15)
    with pytest.raises(InputError, match=r"`device`.*None, \"cpu\", \"cuda\".*'tpu'"):
        sample_ranks(FactorScorer(users, items), ONE, device="tpu")


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("n_items", "d", "dtype", "whole"),
    [
        (500, 4, np.float32, True),
        (40, 8, np.float32, True),
        (5_000, 100, np.float32, False),
        (3_000, 300, np.float32, False),
        (5_000, 33, np.float64, False),
        (200_000, 64, np.float32, False),
    ],
)
@pytest.mark.parametrize(
    ("design", "how"),
    [
        (Uniform(), {}),
        (Uniform(replacement=True), {}),
        (Uniform(replacement=True), {"exclude": 0.05}),
        (Uniform(pool="unseen"), {"exclude": 0.05}),
        (Uniform(replacement=True), {"ties": "worst"}),
    ],
)
def test_larger_worlds(n_items, d, dtype, whole, design, how):
    users, items, random = factors(1, n_users=2_000, n_items=n_items, d=d, whole=whole, dtype=dtype)
    if "exclude" in how:
        exclude = random_array((2_000, n_items), density=how["exclude"], rng=1, format="csr")
        how = {**how, "exclude": exclude}
    targets = np.divmod(np.unique(random.integers(0, 2_000 * n_items, 4_000)), n_items)
    design = design.with_(sample_size=min(n_items, 150))
    same(FactorScorer(users, items), targets, design=design, **how)
