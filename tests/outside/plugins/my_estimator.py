"""An estimator: a few steps of EM from the uniform distribution."""

from fullrank import estimators


def short_em(sample, grid, steps=20):
    """EM from the uniform distribution, stopped early."""
    likelihood = sample.design.likelihood(
        sample.rank, sample.sample_size, n_items=sample.pool, grid=grid
    )
    share = sample.weight / sample.weight.sum()
    mass = grid.widths / grid.n_items
    for _ in range(steps):
        seen = mass @ likelihood
        mass = mass * (likelihood @ (share / seen))
    return mass / mass.sum()


estimators.register("short_em", short_em)
