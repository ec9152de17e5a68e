"""What must hold for every sample and every estimator."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.designs import Adaptive, RankGrid, Uniform
from fullrank.estimators import METHODS, Mapping
from fullrank.estimators.system import observed_system, possible_system
from fullrank.estimators.uniform import likelihood
from fullrank.inference import estimate
from fullrank.samples import RankSample

QUICK = sorted(set(METHODS) - {"exact", "smoothed", "CLS"})  # the others: tests/contract


@st.composite
def samples(draw: st.DrawFn) -> RankSample:
    n_items = draw(st.integers(3, 60))
    replacement = draw(st.booleans())
    if draw(st.booleans()):
        sizes = sorted(draw(st.sets(st.integers(2, n_items), min_size=1, max_size=3)))
    else:
        sizes = []
    size = draw(st.integers(2, n_items))
    ranks = draw(st.lists(st.integers(1, size), min_size=1, max_size=20))
    if not sizes:
        return RankSample.from_ranks(
            ranks, sample_size=size, n_items=n_items, design=Uniform(replacement=replacement)
        )
    ranks = (
        [min(max(rank, 2), sizes[0]) for rank in ranks]
        if len(sizes) > 1
        else [min(rank, sizes[0]) for rank in ranks]
    )
    return RankSample.from_ranks(
        ranks,
        sample_size=sizes[0],
        n_items=n_items,
        design=Adaptive(replacement=replacement, levels=sizes),
    )


@settings(deadline=None, max_examples=60)
@given(samples(), st.sampled_from(QUICK))
def test_every_estimate_sums_to_one_and_is_finite(sample: RankSample, name: str) -> None:
    result = estimate(sample, method=name, metrics="recall@5, ndcg")
    assert result.distribution is not None
    mass = result.distribution.mass
    np.testing.assert_allclose(mass.sum(), 1.0, atol=1e-9)
    assert METHODS[name].signed or (mass >= 0.0).all()


@settings(deadline=None, max_examples=60)
@given(samples(), st.integers(1, 6))
def test_a_system_is_one_of_probabilities(sample: RankSample, extra: int) -> None:
    """Its rows sum to 1, and on a grid that reaches beyond the catalogue as well."""
    for n_items in (int(sample.pool.max()), int(sample.pool.max()) + extra):
        system = possible_system(sample, RankGrid.dense(n_items))
        np.testing.assert_allclose(system.table.sum(axis=1), 1.0, atol=1e-10)
        np.testing.assert_allclose(system.observed.sum(), 1.0, atol=1e-12)
        assert (system.table >= 0.0).all()


@settings(deadline=None, max_examples=60)
@given(samples())
def test_em_never_loses_likelihood(sample: RankSample) -> None:
    system = observed_system(sample)
    mass = likelihood.uniform(system)
    value = likelihood.log_likelihood(system, mass)
    for _ in range(10):
        mass = likelihood.step(system, mass)
        new = likelihood.log_likelihood(system, mass)
        assert new >= value - 1e-12
        assert likelihood.gap(system, mass) >= -1e-12
        value = new


@given(
    st.integers(2, 300),
    st.integers(2, 10**6),
    st.floats(0.05, 20.0),
    st.sampled_from(["linear", "beta"]),
)
def test_mappings_grow_from_the_top_to_the_end(n: int, n_items: int, a: float, kind: str) -> None:
    values = Mapping(kind=kind, sample_size=n, n_items=n_items, a=a).values()
    assert values[0] >= 1.0
    assert (np.diff(values) >= 0.0).all()
    np.testing.assert_allclose(values[-1], n_items, rtol=1e-9)
