import numpy as np
import pytest

from fullrank import metrics
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.estimators import (
    METHODS,
    bv,
    cls,
    mes,
    mle,
    mn,
    smoothed,
    unbiased_rank_metric,
    unbiased_ranks,
    weighted_mle,
)
from fullrank.estimators.uniform import likelihood
from fullrank.inference import estimate
from fullrank.samples import RankDistribution, RankSample, simulate

SAMPLE = simulate(np.arange(1, 201), n_items=200, design="sampled:20,replacement=true", rng=0)
ADAPTIVE = simulate(np.arange(1, 201), n_items=200, design="adaptive:levels=10/20/40", rng=0)
COARSE = simulate(np.arange(1, 201), n_items=200, design="sampled:2", rng=0)
FULL = simulate(np.arange(1, 201), n_items=200, design="sampled:200")
TWO = RankSample.from_ranks(
    [1, 4], sample_size=10, n_items=50, user=["a", "a"], n_targets=2, offset=[0, 1]
)


@pytest.mark.parametrize(
    ("sample", "method", "reason"),
    [
        (FULL, "exact", "every target was ranked among all items in its user's pool"),
        (ADAPTIVE, "smoothed", "adaptive sample"),
        (SAMPLE, "smoothed", "fixed sample"),
        (COARSE, "smoothed", "fixed sample"),
    ],
)
def test_auto_says_what_it_picked_and_why(sample: RankSample, method: str, reason: str) -> None:
    result = estimate(sample)
    assert result.method.startswith(method)
    assert result.reason.startswith(reason)
    assert result.recovers_exact is METHODS[method].recovers
    assert reason in str(result)


def test_a_plain_array_is_a_sample_with_its_sizes_beside_it() -> None:
    assert SAMPLE.rows is not None
    plain = estimate(SAMPLE.rows.rank, n_items=200, design="sampled:20,replacement=true")
    assert dict(plain.values) == dict(estimate(SAMPLE).values)


def test_one_fit_serves_every_metric() -> None:
    result = estimate(SAMPLE, method="mle", metrics=["recall@10", "NDCG@5"])
    assert result.distribution is not None
    grid = result.distribution.grid
    assert result["recall@10"] == mle(SAMPLE, grid=grid).metric("recall@10")
    assert result["ndcg@5"] == result.distribution.metric("ndcg@5")
    assert result.naive is not None
    assert result.naive["recall@10"] == SAMPLE.naive("recall@10")
    assert estimate(ADAPTIVE).naive is None


def test_what_a_result_shows() -> None:
    result = estimate(SAMPLE, metrics="recall@10")
    assert (result.n_targets, result.n_users, result.n_items) == (200, 200, 200)
    assert (result.average_size, result.resolution) == (20.0, 10.0)
    assert result.blind_share == SAMPLE.count[SAMPLE.rank == 1].sum() / 200
    row = {
        "metric": "recall@10",
        "naive": result.naive["recall@10"],
        "estimate": result["recall@10"],
        "low": result.confidence_interval["recall@10"].low,
        "high": result.confidence_interval["recall@10"].high,
        "standard_error": result.standard_error["recall@10"],
    }
    assert result.to_dict()["metrics"] == [row]
    assert result.to_arrow().to_pylist() == [row]
    assert result.to_markdown().splitlines()[0].startswith("| metric | naive | full catalogue |")
    assert f"{result['recall@10']:.4f}" in result.to_markdown()
    assert f"{result['recall@10']:.4f}" in str(result)


def test_a_result_draws_its_recall_curve(need) -> None:
    need("matplotlib")
    assert estimate(SAMPLE).plot().get_xlabel() == "rank K"


def test_samples_of_two_targets_have_no_distribution() -> None:
    result = estimate(TWO, metrics="recall@10")
    assert result.distribution is None
    assert result.naive is None
    assert (result.n_users, result.n_targets) == (1, 2)


def test_samples_of_two_targets_draw_their_metrics(need) -> None:
    need("matplotlib")
    result = estimate(TWO, metrics="recall@10, ndcg@5")
    ax = result.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["recall@10", "ndcg@5"]
    assert "metric" in ax.get_xlabel()


def test_the_names_of_the_papers() -> None:
    assert mle(SAMPLE).method == "MLE, 100 steps"
    assert mle(ADAPTIVE).method == "adaptive MLE, 50 steps"
    assert mle(SAMPLE, tol=1e-4).method == "MLE, converged"
    assert bv(SAMPLE, prior="mes").method == "BV_MES 0.01"
    assert mn(SAMPLE, prior="mle").method == "MN_MLE"
    assert mes(SAMPLE, weighting="weighted", eta=1e-4).method == "MES, weighted 0.0001"
    assert cls(SAMPLE).method == "CLS"
    assert weighted_mle(SAMPLE, form="literal").method == "WMLE literal, 100 steps"
    assert smoothed(SAMPLE, penalty=3.0).method == "smoothed, λ = 3"


def test_a_given_prior_is_used() -> None:
    grid = RankGrid.default(200)
    prior = mle(SAMPLE, grid=grid)
    given = mn(SAMPLE, prior=prior, grid=grid)
    assert given.method == "MN_given"
    np.testing.assert_array_equal(given.mass, mn(SAMPLE, prior="mle", grid=grid).mass)


@pytest.mark.parametrize("grid", [None, RankGrid(np.array([0, 1, 2, 5, 20, 90, 200]))])
def test_mn_with_a_uniform_prior_is_bv_with_gamma_n_over_m(grid: RankGrid | None) -> None:
    """γ_R = 1/(M P(R)) is the same for every rank, N/M, where the prior is uniform."""
    ours = mn(SAMPLE, n_users=2000, grid=grid).mass
    np.testing.assert_allclose(ours, bv(SAMPLE, gamma=0.1, grid=grid).mass, atol=1e-9)


def test_unbiased_ranks() -> None:
    sample = RankSample.from_ranks(
        [1, 3, 5], sample_size=5, n_items=101, design="sampled:replacement=true"
    )
    assert unbiased_ranks(sample).tolist() == [1.0, 51.0, 101.0]
    assert unbiased_rank_metric(sample, "recall@60") == pytest.approx(2 / 3)
    # the expectation over r is R itself
    true = np.full(20_000, 37)
    drawn = simulate(true, n_items=101, design="sampled:11", rng=0)
    assert abs(np.average(unbiased_ranks(drawn), weights=drawn.count) - 37) < 0.5


ONE = RankSample.from_ranks([1, 1], sample_size=1, n_items=9)
COARSE = RankDistribution(grid=RankGrid(np.array([0, 100, 200])), mass=np.array([0.5, 0.5]))
ERRORS = [
    (
        lambda: mle(SAMPLE, iterations=5, tol=1e-3),
        r"`iterations`.*`tol`",
    ),
    (lambda: mle(SAMPLE, iterations=0), r"`iterations`.*\b0\b"),
    (lambda: mle(SAMPLE, tol=0.0), r"`tol`.*not 0\b"),
    (lambda: mle([1, 2]), r"`sample`.*RankSample.*\blist\b"),
    (lambda: mle(TWO), r"`sample`.*one target.*`estimate`"),
    (
        lambda: mle(SAMPLE, grid=RankGrid.dense(100)),
        r"`grid`.*\b200\b",
    ),
    (lambda: weighted_mle(SAMPLE, form="x"), r"`form`.*'tilted', 'literal'.*'x'"),
    (lambda: weighted_mle(SAMPLE, scale=0.0), r"`scale`.*\b0\b"),
    (lambda: mes(SAMPLE, eta=0.0), r"`eta`.*not 0\b"),
    (
        lambda: mes(SAMPLE, eta=1e-30),
        r"`eta`.*\b1e-30\b",
    ),
    (
        lambda: mes(SAMPLE, weighting="x"),
        r"`weighting`.*'unweighted', 'weighted'.*'x'",
    ),
    (lambda: bv(SAMPLE, gamma=1.1), r"`gamma`.*\b1\.1\b"),
    (lambda: bv(SAMPLE, prior="x"), r"`prior`.*'uniform', 'mle', 'mes'.*'x'"),
    (
        lambda: mn(SAMPLE, prior=COARSE),
        r"`prior`.*`grid`",
    ),
    (lambda: mn(SAMPLE, n_users=0), r"`n_users`.*\b0\b"),
    (lambda: smoothed(SAMPLE, penalty=0.0), r"`penalty`.*not 0\b"),
    (
        lambda: unbiased_ranks(ADAPTIVE),
        r"`sample`.*fixed",
    ),
    (lambda: unbiased_ranks(ONE), r"`sample`.*candidates"),
    (lambda: estimate(SAMPLE, method="exact"), r"`method`.*\"exact\""),
    (lambda: estimate(SAMPLE, method=lambda sample: sample), r"`method`.*function of a sample and"),
    (lambda: estimate(SAMPLE, method=int), r"`method`.*; int cannot be called with them"),
    (
        lambda: estimate(SAMPLE, method="x"),
        r"`method`.*'auto', 'exact'.*'CLS'.*'x'",
    ),
    (lambda: estimate(SAMPLE, method=["x"]), r"`method`.*'auto'.*\['x'\]"),
    (
        lambda: estimate(SAMPLE, n_items=200),
        r"`n_items`.*RankSample",
    ),
    (
        lambda: estimate(SAMPLE, design="sampled:20,replacement=true"),
        r"`design`.*RankSample",
    ),
    (lambda: estimate([1], design="sampled:20,replacement=true"), r"`n_items`.*plain"),
    (lambda: estimate([1], n_items=20), r"`design`.*plain"),
    (
        lambda: estimate(SAMPLE, method="MLE", gamma=0.1),
        r"`gamma`.*MLE.*iterations, tol",
    ),
    (lambda: estimate(FULL, tol=0.1), r"`tol`.*exact"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors(call, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_a_likelihood_too_flat_for_its_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(likelihood, "_LIMIT", 2)
    with pytest.raises(InputError, match=r"`tol`.*\b1e-12\b"):
        mle(SAMPLE, tol=1e-12)


@pytest.mark.parametrize("method", ["auto", "MLE", "BV", "CLS"])
@pytest.mark.parametrize("metric", ["auc", "auc@20", "precision", "recall@20"])
def test_catalogues_of_the_users_own(method, metric):
    n_items = np.repeat([20, 40, 80], 20)
    ranks = np.tile(np.arange(1, 21), 3)
    sample = RankSample.from_ranks(ranks, sample_size=n_items, n_items=n_items)
    exact = np.mean(metrics.parse(metric).weights(ranks, n_items))
    for one in (sample, sample.without_rows()):
        assert estimate(one, method=method, metrics=metric)[metric] == pytest.approx(exact)


def test_a_grid_beyond_the_catalogue_changes_no_metric():
    wide = estimate(FULL, metrics="auc, recall@10", grid=RankGrid.default(500))
    assert dict(wide.values) == pytest.approx(dict(estimate(FULL, metrics="auc, recall@10").values))


@pytest.mark.parametrize("method", ["BV_MLE", "BV_MES", "MN_MLE", "MN_MES"])
def test_a_name_fixes_its_setting(method: str) -> None:
    prior = method.partition("_")[2].lower()
    for given in ("uniform", prior):
        with pytest.raises(InputError, match=rf'^`prior`.*{method}.*"{prior}"\.$'):
            estimate(SAMPLE, method=method, prior=given)


@pytest.mark.parametrize(
    ("sample", "settings", "message"),
    [
        (SAMPLE, {"design": "sampled"}, r"`design`.*RankSample"),
        (SAMPLE, {"grid": 200}, r"`grid`.*RankGrid.*\bint\b"),
        (TWO.without_rows(), {}, r"`sample`.*rows"),
    ],
)
def test_arguments_that_do_not_fit(sample, settings, message):
    with pytest.raises(InputError, match=message):
        estimate(sample, **settings)


def test_a_metric_that_was_not_asked_for():
    with pytest.raises(InputError, match=r"`metric`.*'recall@10'.*'auc'"):
        estimate(SAMPLE, metrics="recall@10")["auc"]


def test_tables_for_papers_and_notebooks() -> None:
    pytest.importorskip("pandas")
    result = estimate(SAMPLE, metrics="hit_rate@5, recall@10")
    assert result.to_frame()["metric"].tolist() == ["hit_rate@5", "recall@10"]
    latex = result.to_latex(caption="").splitlines()
    assert latex[0] == r"\begin{tabular}{lrrr}"
    assert latex[4].startswith(r"hit\_rate@5 & ")
    assert latex[-1] == r"\end{tabular}"
    assert "<td>hit_rate@5</td>" in result._repr_html_()
    assert result.to_dict()["reason"] == result.reason
