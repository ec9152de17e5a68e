import numpy as np
import pytest
from scipy import special

from fullrank.designs import Uniform
from fullrank.errors import InputError
from fullrank.estimators import Mapping, alignment_errors, fit_beta, unbiased_ranks
from fullrank.samples import RankSample, simulate

N, SIZE = 3706, 100
K = np.arange(1, SIZE + 1)


def test_linear_is_equation_9() -> None:
    f = Mapping(kind="linear", sample_size=SIZE, n_items=N)
    np.testing.assert_allclose(f(K), (K - 1) / (SIZE - 1) * (N - 1) + 1)


def test_bound_is_equation_13() -> None:
    f = Mapping(kind="bound", sample_size=SIZE, n_items=N)
    assert f.values()[[0, 1, 9, 98]].tolist() == [19, 56, 356, 3686]
    assert f(SIZE) == N  # the formula would point beyond the catalogue


@pytest.mark.parametrize("a", [0.2, 0.5, 1.0, 1.7])
def test_beta_is_the_recurrence_of_equations_15_to_17(a: float) -> None:
    f = Mapping(sample_size=SIZE, n_items=N, a=a).values()
    np.testing.assert_allclose(f[0], (N - 1) * (a * special.beta(a, SIZE)) ** (1 / a) + 1)
    k = K[:-1]
    step = a * (N - 1.0) ** a * special.binom(SIZE - 1, k) * special.beta(a + k, SIZE - k)
    np.testing.assert_allclose((f[1:] - 1) ** a, (f[:-1] - 1) ** a + step, rtol=1e-9)
    np.testing.assert_allclose(f[-1], N, rtol=1e-12)  # lemma 3.1


def test_beta_at_1_is_equation_18() -> None:
    np.testing.assert_allclose(
        Mapping(sample_size=SIZE, n_items=N, a=1.0).values(), K * (N - 1) / SIZE + 1, rtol=1e-12
    )


@pytest.mark.parametrize("kind", ["linear", "bound", "beta"])
def test_the_inverse_undoes_it(kind: str) -> None:
    f = Mapping(kind=kind, sample_size=SIZE, n_items=N)
    np.testing.assert_allclose(f.inverse(f(K)), K, rtol=1e-12)
    assert isinstance(f(3), float)
    assert isinstance(f.inverse(3), float)


def test_beta_fitted_stands_still_at_equation_19_above_the_truth() -> None:
    rng = np.random.default_rng(0)
    true = 1 + np.floor((N - 1) * rng.random(40_000) ** (1 / 0.4)).astype(int)
    sample = simulate(true, n_items=N, design=Uniform(SIZE, replacement=True), rng=1)
    fitted = fit_beta(sample)
    share = (fitted(sample.rows.rank) - 1) / (N - 1)
    np.testing.assert_allclose(fitted.a, -40_000 / np.log(share).sum(), rtol=1e-8)
    # f(r) is the far end of the ranks that r stands for: a comes out a little large
    assert 0.4 < fitted.a < 0.5
    assert str(fitted) == f"beta@{fitted.a:.2g}"


def test_curve_and_alignment_errors() -> None:
    """Table 7 of Li et al. 2020: its measures, on a sample of four."""
    sample = RankSample.from_ranks(
        [1, 2, 2, 4], sample_size=4, n_items=13, design="sampled:replacement=true"
    )
    f = Mapping(kind="linear", sample_size=4, n_items=13)  # f = 1, 5, 9, 13
    places, rates = f.curve(sample)
    assert places.tolist() == [1, 5, 9, 13]
    assert rates.tolist() == [0.25, 0.75, 0.75, 1.0]
    errors = alignment_errors(f, sample, [2, 4, 9, 13])  # HR@f = 0, 0.5, 0.75, 1
    assert errors == pytest.approx(
        {
            "abs": 0.125,
            "rel": (1 + 1 / 3) / 4,
            "abs@1": 0.25,
            "rel@1": 1.0,
            "abs@2-10": 0.25 / 3,
            "rel@2-10": (1 / 3) / 3,
        }
    )


def test_the_curve_is_drawn(need) -> None:
    need("matplotlib")
    sample = RankSample.from_ranks(
        [1, 2], sample_size=4, n_items=13, design="sampled:replacement=true"
    )
    axes = Mapping(sample_size=4, n_items=13).plot(sample)
    assert axes.get_xlabel() == "cut-off K in the catalogue"
    assert axes.lines[0].get_label() == "sampled, mapped by beta@0.5"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "cubic"}, r"`kind`.*'linear', 'bound', 'beta'.*'cubic'"),
        ({"a": 0.0}, r"`a`.*not 0\b"),
        ({"sample_size": 1}, r"`sample_size`.*\b1\b"),
        ({"n_items": 1}, r"`n_items`.*\b1\b"),
    ],
)
def test_bad_mappings(settings: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Mapping(**{"sample_size": 10, "n_items": 50, **settings})


def test_bad_samples_for_mappings() -> None:
    f = Mapping(sample_size=10, n_items=50)
    adaptive = RankSample.from_ranks(
        [5], sample_size=10, n_items=50, design="adaptive:replacement=true,levels=10/20"
    )
    with pytest.raises(InputError, match=r"`sample`.*fixed.*it is adaptive"):
        f.curve(adaptive)
    mixed = RankSample.from_ranks(
        [5, 5], sample_size=[10, 20], n_items=50, design="sampled:replacement=true"
    )
    with pytest.raises(InputError, match=r"`sample`.*fixed.*\b10 to 20 candidates"):
        f.curve(mixed)
    other = RankSample.from_ranks(
        [5], sample_size=11, n_items=50, design="sampled:replacement=true"
    )
    with pytest.raises(InputError, match=r"`sample`.*\b10\b.*\b11\b"):
        f.curve(other)
    own = RankSample.from_ranks(
        [5, 5], sample_size=11, n_items=[50, 60], design="sampled:replacement=true"
    )
    with pytest.raises(InputError, match=r"`sample`.*catalogue"):
        fit_beta(own)
    with pytest.raises(InputError, match=r"`k`.*1\.\.10.*1 of 1.*k\[0\] = 11\b"):
        f(11)
    with pytest.raises(InputError, match=r"`global_k`.*1 of 1.*global_k\[0\] = 0\.5"):
        f.inverse(0.5)
    with pytest.raises(InputError, match=r"`exact_ranks`.*1\.\.50.*exact_ranks\[0\] = 51\b"):
        alignment_errors(f, own, [51])
    two = RankSample.from_ranks(
        [5, 5],
        sample_size=10,
        n_items=50,
        design="sampled:replacement=true",
        user=["a", "a"],
        n_targets=2,
        offset=[0, 1],
    )
    for asked in (f.curve, fit_beta, unbiased_ranks):
        with pytest.raises(InputError, match=r"`sample`.*one target"):
            asked(two)
    wide = RankSample.from_ranks([5], sample_size=10, n_items=60, design="sampled:replacement=true")
    with pytest.raises(InputError, match=r"`sample`.*\b50\b.*\b60\b"):
        f.curve(wide)
    with pytest.raises(InputError, match=r"`exact_ranks`.*empty"):
        alignment_errors(f, wide, [])
