"""Designs before anything is drawn."""

import json

import numpy as np
import pytest

from fullrank.designs import Adaptive, Design, Exact, RankGrid, Uniform
from fullrank.errors import InputError
from fullrank.inference import estimate, plan
from fullrank.inference.planning.predicted import Predictor
from fullrank.metrics import parse
from fullrank.samples import RankDistribution, RankSample, simulate

N_ITEMS = 2000
RANKS = np.minimum(np.random.default_rng(0).geometric(0.01, 3000), N_ITEMS)
LEVELS = Adaptive(levels=(25, 50, 100, 200, 400))
PILOT = simulate(RANKS, n_items=N_ITEMS, design=LEVELS, user=np.arange(3000), rng=0)
OTHER = simulate(
    np.minimum(RANKS * 2, N_ITEMS),
    n_items=N_ITEMS,
    design=LEVELS,
    user=np.arange(3000),
    rng=1,
)


def truth() -> RankDistribution:
    grid = RankGrid.default(N_ITEMS)
    return RankDistribution.from_ranks(RANKS, n_items=N_ITEMS, grid=grid)


def predictor(design: Design, metric: str = "recall@20") -> Predictor:
    known = truth()
    return Predictor(design, known, known.grid.averages(parse(metric)))


def test_exact_ranks_of_some_users_have_the_variance_of_sampling_without_replacement() -> None:
    share = float((RANKS <= 20).mean())
    found = predictor(Exact())(100)
    assert found.size == N_ITEMS
    assert found.bias == 0.0
    one = share * (1 - share)
    assert found.variance(100, None) == pytest.approx(one / 100)
    assert found.variance(100, 3000) == pytest.approx(one * (1 / 100 - 1 / 3000))
    assert found.variance(3000, 3000) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
def test_sampling_every_item_predicts_what_exact_ranks_give() -> None:
    every = predictor(Uniform(N_ITEMS), "recall@20")(500)
    assert every.size == pytest.approx(N_ITEMS)
    assert every.variance(500, None) == pytest.approx(
        predictor(Exact())(500).variance(500, None), rel=0.25
    )


@pytest.mark.slow
def test_the_predicted_size_and_error_are_those_that_come_out() -> None:
    """Against a hundred samples: their mean size, and their errors about these users."""
    found = predictor(LEVELS)(RANKS.size)
    exact = float((RANKS <= 20).mean())
    sizes, errors = [], []
    for seed in range(60):
        sample = simulate(RANKS, n_items=N_ITEMS, design=LEVELS, rng=seed)
        sizes.append(sample.average_size)
        result = estimate(sample, metrics="recall@20", confidence_level=None)
        errors.append(result["recall@20"] - exact)
    assert found.size == pytest.approx(np.mean(sizes), rel=0.01)
    predicted = np.hypot(found.bias, np.sqrt(found.variance(RANKS.size, RANKS.size)))
    # the root mean square of 60 errors is known to a tenth
    assert predicted == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=0.3)


def test_the_cheapest_that_reaches_the_margin_is_recommended() -> None:
    some = ["sampled:100", "sampled:400", LEVELS, "adaptive:25,limit=800", "exact"]
    found = plan("recall@20", pilot=PILOT, n_users=100_000, margin="5%", designs=some)
    reached = [option for option in found.options if option.n_users is not None]
    assert found.recommended is reached[0]
    assert [option.scored for option in reached] == sorted(option.scored for option in reached)
    assert all(option.n_users is None for option in found.options[len(reached) :])
    for option in reached:
        assert option.half_width <= 0.05 * found.value
        assert 1.959964 * option.standard_error <= option.half_width * 1.001
        assert option.scored == pytest.approx(option.n_users * option.items_per_user)
    assert "◀ recommended" in str(found).splitlines()[3]


@pytest.mark.parametrize("design", ["sampled:100", LEVELS])
def test_the_interval_of_a_planned_study_is_as_wide_as_planned(design: str) -> None:
    """Samples of as many users as planned, whose intervals `estimate` gives."""
    found = plan("recall@20", pilot=PILOT, margin="12%", designs=[design])
    users = found.options[0].n_users
    assert users is not None
    widths = []
    for seed in range(5):
        drawn = np.random.default_rng(seed).choice(RANKS, users)
        sample = simulate(drawn, n_items=N_ITEMS, design=design, rng=seed)
        low, high = estimate(sample, metrics="recall@20").confidence_interval["recall@20"]
        widths.append((high - low) / 2)
    assert np.mean(widths) == pytest.approx(0.12 * found.value, rel=0.12)
    assert found.options[0].half_width == pytest.approx(0.12 * found.value, rel=0.03)


def test_users_without_a_limit() -> None:
    """For a population as many as it takes; of these users there are those of the pilot."""
    share = plan("recall@20", pilot=PILOT, margin=0.01, designs=["exact"])
    assert share.n_users is None
    expected = share.value * (1 - share.value) * (1.959964 / 0.01) ** 2
    assert share.options[0].n_users == int(np.ceil(expected))
    here = plan("recall@20", pilot=PILOT, margin="20%", designs=["exact"], interval_for="users")
    assert here.n_users == PILOT.n_targets
    assert f"for the metric of these {PILOT.n_targets:,} users" in here.goal
    assert "for the population of users" in share.goal
    with pytest.raises(InputError, match=r"`n_users` must be given"):
        plan("recall@20", shape=0.3, n_items=100, margin=0.1, interval_for="users")


def test_a_smaller_margin_needs_more_users() -> None:
    users = [
        plan("recall@20", pilot=PILOT, n_users=10**6, margin=margin, designs=["exact"])
        .options[0]
        .n_users
        for margin in ("10%", "5%", "2.5%")
    ]
    # four times as many for half the margin, but for the finite number of users
    assert users[0] * 3.9 < users[1] < users[0] * 4.1
    assert users[1] * 3.9 < users[2] < users[1] * 4.1


def test_a_population_needs_more_than_these_users() -> None:
    here, everywhere = (
        plan(
            "recall@20",
            pilot=PILOT,
            n_users=3000,
            margin="12%",
            designs=["exact"],
            interval_for=whom,
        ).options[0]
        for whom in ("users", "population")
    )
    assert here.n_users < everywhere.n_users


def test_at_equal_cost_the_least_error_comes_first() -> None:
    found = plan(
        "ndcg@20",
        pilot=PILOT,
        n_users=3000,
        budget=300_000,
        designs=["sampled:50", LEVELS, "exact"],
    )
    reached = [option for option in found.options if option.n_users is not None]
    assert [option.error for option in reached] == sorted(option.error for option in reached)
    for option in reached:
        assert option.scored <= 300_000
        assert option.n_users == min(3000, int(300_000 / option.items_per_user))


def test_what_a_blind_sample_cannot_reach_is_told() -> None:
    found = plan(
        "recall@1", shape=0.3, n_items=10**6, n_users=10**6, margin="2%", designs=["sampled:100"]
    )
    assert found.recommended is None
    assert found.options[0].n_users is None
    assert "rank 1 covers 10,000 ranks" in found.options[0].note
    assert json.dumps(found.to_dict())


def test_too_few_users_and_too_small_a_budget_are_told() -> None:
    few = plan(
        "recall@20",
        pilot=PILOT,
        n_users=50,
        margin="1%",
        designs=["exact"],
        interval_for="users",
    )
    assert few.options[0].n_users == 50  # exact ranks of all of them are exact
    poor = plan("recall@20", pilot=PILOT, n_users=500, budget=1000, designs=["exact"])
    assert poor.options[0].note == "the budget covers fewer than 30 users"
    poor = plan("recall@20", pilot=PILOT, n_users=20, budget=1000, designs=["exact"])
    assert poor.options[0].note == "the budget covers fewer than 20 users"
    none = plan(
        "recall@20",
        pilot=PILOT,
        n_users=50,
        margin="1%",
        designs=["exact"],
        interval_for="population",
    )
    assert none.options[0].note == "even all 50 users are too few"


def test_two_models_are_told_apart_by_their_difference() -> None:
    found = plan("recall@20", pilot=[PILOT, OTHER], n_users=10**6, designs=["exact", LEVELS])
    assert "with power 0.8" in found.goal
    larger = plan(
        "recall@20",
        pilot=[PILOT, OTHER],
        n_users=10**6,
        difference=0.2,
        designs=["exact", LEVELS],
    )
    by = {option.name: option.n_users for option in found.options}
    for option in larger.options:
        assert option.n_users < by[option.name] or by[option.name] == 30
    alike = plan(
        "recall@20", pilot=PILOT, n_users=10**6, difference=0.01, correlation=0.9, designs=["exact"]
    )
    apart = plan(
        "recall@20", pilot=PILOT, n_users=10**6, difference=0.01, correlation=0.0, designs=["exact"]
    )
    assert apart.options[0].n_users > 5 * alike.options[0].n_users


def test_the_number_of_users_for_a_difference_is_the_textbooks() -> None:
    """(1.96 + 0.8416)² · 2 p(1-p)(1-ρ) / δ², for a share p and a population without end."""
    found = plan(
        "recall@20",
        pilot=simulate(RANKS, n_items=N_ITEMS, design=Uniform(N_ITEMS)),
        n_users=10**7,
        difference=0.02,
        correlation=0.4,
        designs=["exact"],
        interval_for="population",
    )
    share = float((RANKS <= 20).mean())
    needed = (1.959964 + 0.841621) ** 2 * 2 * share * (1 - share) * 0.6 / 0.02**2
    assert found.options[0].n_users == int(np.ceil(needed))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"`margin`.*`budget`.*`difference`"),
        ({"margin": 0.1, "budget": 9}, r"`margin`.*`budget`.*`difference`"),
        ({"margin": "2"}, r"""`margin`.*"2%".*'2'"""),
        ({"margin": 0.0}, r"`margin`.*not 0\b"),
        ({"budget": 0}, r"`budget`.*not 0\b"),
        ({"difference": 0.0}, r"`difference`.*not be 0\b"),
        ({"difference": 0.1, "power": 1.5}, r"`power`.*\b1\.5\b"),
        ({"difference": 0.1, "correlation": 1.0}, r"`correlation`.*not 1\b"),
        ({"margin": "nan%"}, r"`margin`.*'nan%'"),
        ({"margin": "2%", "designs": "exact"}, r"`designs`.*list.*'exact'"),
        ({"margin": "2%", "designs": 100}, r"`designs`.*list.*not 100\b"),
        ({"margin": "2%", "designs": []}, r"`designs`.*empty"),
        ({"margin": "2%", "designs": ["best"]}, r"`designs`.*'exact'.*'best'"),
        ({"margin": "2%", "designs": ["sampled:9999"]}, r"`sample_size`.*\b9999\b"),
        ({"margin": "2%", "shape": 0.3}, r"`pilot`.*`shape`"),
        ({"margin": "2%", "n_items": 9}, r"`n_items`.*pilot"),
        ({"margin": "2%", "interval_for": "me"}, r"`interval_for`.*'users', 'population'.*'me'"),
    ],
)
def test_what_a_plan_needs_is_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan("recall@20", **{"pilot": PILOT, "n_users": 1000, **settings})


def test_pilots_are_checked() -> None:
    with pytest.raises(InputError, match=r"`n_items`.*`shape`"):
        plan("recall@20", shape=0.3, n_users=10, margin=0.1)
    with pytest.raises(InputError, match=r"`shape`.*-1\b"):
        plan("recall@20", shape=-1.0, n_items=10, n_users=10, margin=0.1)
    with pytest.raises(InputError, match=r"`pilot`.*RankSample"):
        plan("recall@20", pilot=[PILOT] * 3, n_users=10, margin=0.1)
    nobody = simulate(RANKS, n_items=N_ITEMS, design="sampled:50", rng=0)
    with pytest.raises(InputError, match=r"`pilot`.*user ids"):
        plan("recall@20", pilot=[nobody, nobody], n_users=10)
    strangers = simulate(
        RANKS, n_items=N_ITEMS, design="sampled:50", user=np.arange(9000, 12_000), rng=0
    )
    with pytest.raises(InputError, match=r"`pilot`.*\b30\b"):
        plan("recall@20", pilot=[PILOT, strangers], n_users=10)
    last = RankSample.from_ranks([N_ITEMS] * 50, sample_size=N_ITEMS, n_items=N_ITEMS)
    with pytest.raises(InputError, match=r"`pilot`.*recall@20.*\b0\b"):
        plan("recall@20", pilot=last, n_users=10, margin=0.1)


def test_what_a_plan_gives_out(need) -> None:
    need("matplotlib")
    found = plan("recall@20", pilot=PILOT, n_users=3000, margin="20%", designs=["exact", LEVELS])
    assert found.to_dict()["options"][0]["design"] == found.options[0].name
    assert found.to_arrow().num_rows == 2
    assert found.to_markdown().splitlines()[0].startswith("| design | users |")
    assert r"\begin{tabular}" in found.to_latex()
    assert "<table>" in found._repr_html_()
    assert found.plot().get_xlabel() == "items scored"


@pytest.mark.slow
def test_every_kind_of_design_is_compared_by_default() -> None:
    found = plan("recall@20", pilot=PILOT, n_users=3000, margin="20%")
    kinds = {option.design.name for option in found.options}
    assert kinds == {"exact", "sampled", "adaptive"}
    assert len(found.options) > 8


def test_no_more_users_than_there_are() -> None:
    few = plan("recall@20", pilot=PILOT, n_users=10, margin=0.5, designs=["exact"])
    assert few.options[0].n_users == 10
    rich = plan("recall@20", pilot=PILOT, n_users=10, budget=1e9, designs=["exact"])
    assert rich.options[0].n_users == 10


def test_a_correlation_of_a_half_is_one_like_others() -> None:
    users = [
        plan(
            "recall@20",
            pilot=PILOT,
            n_users=10**6,
            difference=0.01,
            correlation=together,
            designs=[LEVELS],
        )
        .options[0]
        .n_users
        for together in (0.49, 0.5, 0.51)
    ]
    assert users == sorted(users, reverse=True)
    assert users[0] < 1.1 * users[2]


def test_telling_models_apart_takes_no_fewer_users_than_with_exact_ranks() -> None:
    found = plan(
        "recall@20", pilot=[PILOT, OTHER], n_users=10**6, difference=0.02, designs=["exact", LEVELS]
    )
    by = {option.name: option.n_users for option in found.options}
    assert by["adaptive:25,limit=400"] > by["exact"]


@pytest.mark.parametrize("margin", ["5%", 0.05])
def test_an_estimate_lies_within_the_planned_interval(margin: float | str) -> None:
    """With the predicted bias and standard error, at the confidence level at least."""
    from scipy.special import ndtr

    designs = ["sampled:3000", "sampled:10000", "adaptive:25,limit=10000", "exact"]
    found = plan(
        "recall@10", shape=0.35, n_items=20_000, n_users=50_000, margin=margin, designs=designs
    )
    assert found.recommended is not None
    assert all(option.n_users is not None for option in found.options)
    for option in found.options:
        ends = (np.array([-1.0, 1.0]) * option.half_width - option.bias) / option.standard_error
        below, above = ndtr(ends)
        assert above - below >= 0.95 - 1e-4
        assert option.half_width <= (0.0500001 if margin == 0.05 else 0.0500001 * found.value)
