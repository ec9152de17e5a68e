"""The repeats behind the reproductions: batched estimators, kept files, draws."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from fullrank.designs import Adaptive, Design, RankGrid, Uniform
from fullrank.errors import InputError
from fullrank.estimators import bv, cls, mes, mle, mn, smoothed, weighted_mle
from fullrank.inference.bounding.bounds import bounds
from fullrank.metrics import parse
from fullrank.samples import RankDistribution, simulate

N_ITEMS = 600
RANKS = np.minimum(1 + np.random.default_rng(0).geometric(0.01, 400), N_ITEMS)
SAMPLES: list[Design] = [
    Uniform(40, replacement=True),
    Uniform(40),
    Adaptive(levels=(20, 40, 80, 160), replacement=True),
    Adaptive(levels=(10, 20, 40, 80, 160)),
]


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, ModuleType]:
    """`_repeats` and `_repeats_fit`, with ranks of two models instead of the kept ones."""
    from reproduction.common import bank as _bank
    from reproduction.common import repeats as _repeats
    from reproduction.common import repeats_fit as _repeats_fit
    from reproduction.common.exact import Ranks

    worse = np.minimum(2 * RANKS, N_ITEMS)
    known = {"EASE": Ranks(RANKS, N_ITEMS), "itemKNN": Ranks(worse, N_ITEMS)}
    monkeypatch.setattr(_bank, "bank", lambda data, excluded=False: known)
    small = {"fixed 100": SAMPLES[0], "adaptive 25": Adaptive(25)}
    monkeypatch.setattr(_repeats, "DESIGNS", small)
    monkeypatch.setattr(_repeats, "LIMIT", 300)
    return _repeats, _repeats_fit


def repeated(module: ModuleType, names: tuple[str, ...], **options: Any) -> Any:
    """The repeats of one cell."""
    cell = module.Cell(*names)
    return module.computed([cell], **options)[cell]


@pytest.mark.parametrize("design", SAMPLES, ids=str)
def test_all_samples_at_once_give_what_each_gives_alone(
    scripts: tuple[ModuleType, ModuleType], design: Design
) -> None:
    grid = RankGrid.default(N_ITEMS)
    each = [simulate(RANKS, n_items=N_ITEMS, design=design, rng=seed) for seed in range(3)]
    drawn = scripts[1].Samples(each, grid)
    prior = RankDistribution(grid=grid, mass=drawn.mle().mean(axis=1), method="mean")
    alone = {
        "mle": (drawn.mle(), lambda one: mle(one, grid=grid)),
        "wmle": (drawn.weighted_mle(), lambda one: weighted_mle(one, grid=grid)),
        "mes": (drawn.mes(), lambda one: mes(one, grid=grid)),
        "smoothed": (drawn.smoothed(), lambda one: smoothed(one, grid=grid)),
        "bv 0.1": (drawn.bv(gamma=0.1), lambda one: bv(one, gamma=0.1, grid=grid)),
        "bv own": (drawn.bv(drawn.mes()), lambda one: bv(one, prior="mes", grid=grid)),
        "mn own": (drawn.mn(drawn.mle()), lambda one: mn(one, prior="mle", grid=grid)),
        "bv given": (drawn.bv(prior.mass), lambda one: bv(one, prior=prior, grid=grid)),
        "mn given": (drawn.mn(prior.mass), lambda one: mn(one, prior=prior, grid=grid)),
    }
    for name, (together, estimator) in alone.items():
        for column, sample in zip(together.T, each, strict=True):
            expected = estimator(sample).mass
            assert np.abs(column - expected).max() < 1e-6 * np.abs(expected).max(), name
    metrics = ["recall@5", "ap@20"]
    expected = [[cls(sample, metric, grid=grid) for sample in each] for metric in metrics]
    np.testing.assert_allclose(drawn.cls(metrics), expected, rtol=1e-9)


def test_a_cell_is_what_the_estimators_make_of_its_samples(
    scripts: tuple[ModuleType, ModuleType], tmp_path: Path
) -> None:
    repeats, _ = scripts
    found = repeated(repeats, ("ml-1m", "EASE", "fixed 100"), repeats=4, cache=tmp_path)
    cell = repeats.Cell("ml-1m", "EASE", "fixed 100")
    known = repeats.Ranks(RANKS, N_ITEMS)
    assert found.values.shape == (4, len(found.estimators), 3, 50)
    assert found.estimators[:2] == ("naive", "CLS")
    assert set(found.estimators[2:]) == set(repeats.DISTRIBUTIONS)
    assert (found.sizes == 40).all()
    for seed in range(4):
        sample = repeats._draw(cell, known, seed)
        for metric, k in (("recall", 1), ("ndcg", 10), ("ap", 50)):
            name = f"{metric}@{k}"
            expected = {
                "naive": sample.naive(name),
                "CLS": cls(sample, name),
                "MLE": mle(sample).metric(name),
                "smoothed": smoothed(sample).metric(name),
            }
            for estimator, value in expected.items():
                got = found.of(estimator, metric, k)[seed]
                assert got == pytest.approx(value, rel=1e-5), estimator
    exact = parse("ndcg@10").weights(RANKS, N_ITEMS).mean()
    assert found.exact[1, 9] == pytest.approx(exact, rel=1e-12)
    assert found.truth.sum() == pytest.approx(1.0)
    first = bounds(repeats._draw(cell, known, 0), ["recall@10"], interval_for="users")["recall@10"]
    assert found.bounds.shape == (2, 3, 5, 2)
    # the region covers the cut-offs asked for together, so that it is wider than for one
    low, high = found.bounds[0, 0, 2]
    assert low <= found.exact[0, 9] <= high
    assert high - low == pytest.approx(first.high - first.low, rel=0.5)


def test_averaged_priors_are_the_mean_over_the_repeats(
    scripts: tuple[ModuleType, ModuleType], tmp_path: Path
) -> None:
    repeats, _ = scripts
    found = repeated(repeats, ("ml-1m", "EASE", "fixed 100"), repeats=3, cache=tmp_path)
    cell, known = repeats.Cell("ml-1m", "EASE", "fixed 100"), repeats.Ranks(RANKS, N_ITEMS)
    samples = [repeats._draw(cell, known, seed) for seed in range(3)]
    mass = np.mean([mle(sample).mass for sample in samples], axis=0)
    prior = RankDistribution(grid=RankGrid.default(N_ITEMS), mass=mass, method="mean")
    expected = [mn(sample, prior=prior).metric("ndcg@20") for sample in samples]
    np.testing.assert_allclose(found.of("MN_MLE, averaged", "ndcg", 20), expected, rtol=1e-5)
    assert not np.allclose(found.of("MN_MLE", "ndcg", 20), expected, rtol=1e-3)


def test_errors_are_the_papers(scripts: tuple[ModuleType, ModuleType], tmp_path: Path) -> None:
    from reproduction.common.exact import Judge

    repeats, _ = scripts
    found = repeated(repeats, ("ml-1m", "itemKNN", "adaptive 25"), repeats=2, cache=tmp_path)
    assert "naive" not in found.estimators
    known = repeats.Ranks(np.minimum(2 * RANKS, N_ITEMS), N_ITEMS)
    sample = repeats._draw(repeats.Cell("ml-1m", "itemKNN", "adaptive 25"), known, 1)
    assert sample.design.rounds(N_ITEMS).sizes == (25, 50, 100, 200, 300)
    expected = Judge(known).errors(mle(sample).mass)
    np.testing.assert_allclose(found.errors("MLE")[1], expected, rtol=1e-4)


def test_cells_are_kept_and_computed_anew_only_when_they_must(
    scripts: tuple[ModuleType, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repeats, _ = scripts
    cells = [repeats.Cell("ml-1m", model, "fixed 100") for model in ("EASE", "itemKNN")]
    first = repeats.computed(cells, repeats=2, cache=tmp_path)
    assert capsys.readouterr().out.count("2 repeats in") == 2
    again = repeats.computed(cells, repeats=2, cache=tmp_path)
    assert capsys.readouterr().out == ""
    for cell in cells:
        np.testing.assert_array_equal(first[cell].values, again[cell].values)
    repeats.computed(cells[:1], repeats=3, cache=tmp_path)
    assert "3 repeats in" in capsys.readouterr().out


def test_another_model_has_other_draws_from_the_same_ranks(
    scripts: tuple[ModuleType, ModuleType],
) -> None:
    repeats, _ = scripts
    known = repeats.Ranks(RANKS, N_ITEMS)
    one, again, other = (
        repeats._draw(repeats.Cell("ml-1m", model, "fixed 100"), known, 0)
        for model in ("EASE", "EASE", "itemKNN")
    )
    np.testing.assert_array_equal(one.count, again.count)
    assert one.count.sum() == other.count.sum()
    assert not np.array_equal(one.count, other.count)


def test_what_is_kept_of_other_ranks_or_settings_is_not_read(
    scripts: tuple[ModuleType, ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repeats, _ = scripts
    cell = repeats.Cell("ml-1m", "EASE", "adaptive 25")
    repeats.computed([cell], repeats=1, cache=tmp_path)

    def kept(ranks: np.ndarray = RANKS, n_items: int = N_ITEMS, count: int = 1) -> bool:
        return bool(repeats._kept(cell, repeats.Ranks(ranks, n_items), count, tmp_path))

    assert kept()
    swapped = np.concatenate([RANKS[1:], RANKS[:1]])  # the same ranks of other users
    assert not kept(ranks=swapped)
    assert not kept(n_items=N_ITEMS + 1)
    assert not kept(count=2)
    other = {
        "ETA": 0.01,
        "GAMMA": 0.1,
        "LIMIT": 200,
        "STEPS_ADAPTIVE": 60,
        "DISTRIBUTIONS": repeats.DISTRIBUTIONS[1:],
        "DESIGNS": {cell.design: Adaptive(50)},
    }
    for name, value in other.items():
        with monkeypatch.context() as changed:
            changed.setattr(repeats, name, value)
            assert not kept(), name
    assert kept()


def test_the_best_model_is_named_by_hand(scripts: tuple[ModuleType, ModuleType]) -> None:
    """Three repeats of two models: right, level, wrong; and a metric by which they tie."""
    values = np.array([[[3.0, 1.0], [2.0, 1.0], [1.0, 1.0]], [[2.0, 0.0], [2.0, 0.0], [2.0, 1.0]]])
    found = scripts[0].right(values, np.array([[0.5, 0.3], [0.4, 0.3]]))
    np.testing.assert_allclose(found, [50.0, 100.0])


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On the ranks that come with the repository; a new process does not see what tests replace."""
    from reproduction.common import repeats as _repeats

    cells = [_repeats.Cell("ml-latest-small", m, "fixed 100") for m in ("EASE", "itemKNN")]
    one = _repeats.computed(cells, repeats=2, cache=tmp_path / "one", jobs=1)
    two = _repeats.computed(cells, repeats=2, cache=tmp_path / "two", jobs=2)
    for cell in cells:
        np.testing.assert_array_equal(one[cell].values, two[cell].values)
        np.testing.assert_array_equal(one[cell].bounds, two[cell].bounds)


def test_a_design_must_be_known(scripts: tuple[ModuleType, ModuleType], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`design` must be one of"):
        repeated(scripts[0], ("ml-1m", "EASE", "fixed 7"), repeats=1, cache=tmp_path)
