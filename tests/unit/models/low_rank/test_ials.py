from pathlib import Path

import numpy as np
import pytest

from fullrank._lib import threads
from fullrank.data import Interactions, simulate
from fullrank.errors import InputError, NotFittedError
from fullrank.models import IALS, DebiasedIALS, Popularity
from fullrank.models.low_rank import alternating
from fullrank.ranking import rank


def random_data(n_users: int, n_items: int, density: float, seed: int = 0) -> Interactions:
    pairs = np.argwhere(np.random.default_rng(seed).random((n_users, n_items)) < density)
    return Interactions.from_arrays(*pairs.T, user_ids=range(n_users), item_ids=range(n_items))


def in_line(work, blocks) -> None:
    for block in blocks:
        work(block)


def dense(data: Interactions) -> np.ndarray:
    return data.matrix(np.float64).toarray()


def best_rows(
    seen: np.ndarray, other: np.ndarray, loss: alternating.Loss, penalty: np.ndarray
) -> np.ndarray:
    """Every row by its own normal equations, in double precision."""
    every = other.T @ other
    rows = np.zeros((seen.shape[0], other.shape[1]))
    for row, mask in enumerate(seen > 0):
        own = other[mask]
        left = loss.observed * own.T @ own + loss.unobserved * every
        left += penalty[row] * np.eye(other.shape[1])
        rows[row] = np.linalg.solve(left, loss.pull * own.sum(0))
    return rows


def best_alternation(
    data: Interactions, model: IALS, start: np.ndarray, epochs: int
) -> tuple[np.ndarray, np.ndarray]:
    seen, loss, h = dense(data), model._loss(), start.astype(np.float64)
    user_penalty = model._penalty(data.user_counts(), data.n_items)
    item_penalty = model._penalty(data.item_counts(), data.n_users)
    for _ in range(epochs):
        w = best_rows(seen, h, loss, user_penalty)
        h = best_rows(seen.T, w, loss, item_penalty)
    return best_rows(seen, h, loss, user_penalty), h


def test_users_solve_their_normal_equations() -> None:
    data = random_data(50, 30, 0.2)
    model = IALS(n_factors=6, regularization=0.02, unobserved_weight=0.3).fit(data)
    h = model.item_factors_.astype(np.float64)
    penalty = 0.02 * (dense(data).sum(1) + 0.3 * 30)
    expected = best_rows(dense(data), h, alternating.Loss(unobserved=0.3), penalty)
    np.testing.assert_allclose(
        model.user_factors_, expected, rtol=0, atol=2e-5 * np.abs(expected).max()
    )


@pytest.mark.parametrize("kind", [IALS, DebiasedIALS])
def test_objective_by_its_formula(kind: type[IALS]) -> None:
    data = random_data(40, 25, 0.2)
    model = kind(n_factors=3, regularization=0.05, unobserved_weight=0.2, frequency_scaling=0.5)
    model.fit(data)
    w, h = model.user_factors_.astype(np.float64), model.item_factors_.astype(np.float64)
    seen, scores = dense(data) > 0, w @ h.T
    loss = np.sum((scores[seen] - 1) ** 2) + 0.2 * np.sum(scores**2)
    if kind is DebiasedIALS:
        loss -= 0.2 * np.sum(scores[seen] ** 2)
    user_sizes, item_sizes = seen.sum(1) + 0.2 * 25, seen.sum(0) + 0.2 * 40
    loss += 0.05 * np.sum(np.sqrt(user_sizes) * (w**2).sum(1))
    loss += 0.05 * np.sum(np.sqrt(item_sizes) * (h**2).sum(1))
    # the penalties are kept as float32
    assert model.objective() == pytest.approx(loss, rel=1e-7)


def test_few_steps_reach_what_exact_solutions_reach() -> None:
    """The same start, alternated in double precision with a solution for every row."""
    data = simulate(n_users=150, n_items=90, mean_interactions=15)
    model = IALS(n_factors=8, regularization=0.01, unobserved_weight=0.1, epochs=60).fit(data)
    users, items = model._sides(data)
    start = alternating.start(users, items, 8, seed=0, crew=in_line)
    w, h = best_alternation(data, model, start, 60)
    exact = alternating.objective(
        data, w.astype(np.float32), h.astype(np.float32), users, items, model._loss()
    )
    assert model.objective() == pytest.approx(exact, rel=1e-4)
    short = IALS(n_factors=8, regularization=0.01, unobserved_weight=0.1, epochs=2).fit(data)
    assert short.objective() > 1.001 * exact


def test_both_sides_are_stationary_in_the_end() -> None:
    data = random_data(80, 40, 0.15, seed=3)
    model = IALS(n_factors=4, regularization=0.05, epochs=300, frequency_scaling=0).fit(data)
    w, h = model.user_factors_.astype(np.float64), model.item_factors_.astype(np.float64)
    again = best_rows(dense(data).T, w, model._loss(), np.full(40, 0.05))
    np.testing.assert_allclose(h, again, rtol=0, atol=1e-3 * np.abs(h).max())


def test_more_epochs_lower_the_objective() -> None:
    data = simulate(n_users=150, n_items=90, mean_interactions=15)
    values = [IALS(n_factors=8, epochs=epochs).fit(data).objective() for epochs in (1, 2, 4, 8)]
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.999 * values[0]


def test_threads_change_nothing() -> None:
    data = simulate(n_users=300, n_items=200, mean_interactions=15)
    one = IALS(n_factors=7, epochs=2, n_jobs=1).fit(data)
    three = IALS(n_factors=7, epochs=2, n_jobs=3).fit(data)
    np.testing.assert_array_equal(one.user_factors_, three.user_factors_)
    np.testing.assert_array_equal(one.item_factors_, three.item_factors_)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_thread_is_raised(n_jobs: int) -> None:
    with threads.crew(n_jobs) as crew, pytest.raises(ZeroDivisionError):
        crew(lambda block: 1 // block, [1, 0, 2])


def test_the_seed_decides_the_start() -> None:
    data = random_data(60, 40, 0.2)
    first, again, other = (IALS(n_factors=4, epochs=1, seed=s).fit(data) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.item_factors_, again.item_factors_)
    assert not np.array_equal(first.item_factors_, other.item_factors_)


def test_new_users_are_folded_in() -> None:
    data = random_data(60, 40, 0.2)
    model = IALS(n_factors=5, epochs=3).fit(data)
    some = Interactions.from_arrays(
        *(column[data.pairs()[0] >= 50] for column in data.pairs()), item_ids=range(40)
    )
    np.testing.assert_array_equal(model.fold_in(some), model.user_factors_[50:])
    np.testing.assert_array_equal(
        model.scorer(some).scores([0, 3]), model.scorer().scores([50, 53])
    )


def test_rows_without_interactions_have_zeros() -> None:
    data = Interactions.from_arrays([0, 0, 1], [0, 2, 0], user_ids=range(3), item_ids=range(4))
    model = IALS(n_factors=2).fit(data)
    assert not model.user_factors_[2].any()
    assert not model.item_factors_[[1, 3]].any()
    assert model.scorer().scores([0])[0, 0] > 0.5


def test_more_factors_than_items() -> None:
    data = random_data(12, 5, 0.5)
    scores = IALS(n_factors=20, regularization=1e-4, epochs=30).fit(data).scorer().scores([0, 1])
    seen = dense(data)[:2] > 0
    assert scores[seen].min() > scores[~seen].max()


def test_it_beats_popularity_where_there_are_tastes() -> None:
    split = simulate().split("leave-one-out", rng=0)
    gains = [
        rank(model.fit(split.train), split.test, exclude=split.train).gains("recall@20")
        for model in (IALS(n_factors=16), Popularity())
    ]
    gain = gains[0] - gains[1]
    assert gain.mean() > 3 * gain.std() / np.sqrt(gain.size)


# ---- Theorem 2: the debiased loss is the plain one at other settings ----

ALPHA, WEIGHT, LAMBDA = 0.3, 2.5, 0.4
PLAIN_ALPHA = ALPHA / ((1 - ALPHA) * WEIGHT)


def debiased(**settings: float) -> DebiasedIALS:
    return DebiasedIALS(
        n_factors=5,
        regularization=LAMBDA,
        unobserved_weight=ALPHA,
        positive_weight=WEIGHT,
        **settings,
    )


def test_theorem_2_for_given_items() -> None:
    data = random_data(50, 30, 0.2)
    model = debiased(frequency_scaling=0.0, epochs=2).fit(data)
    plain = IALS(
        n_factors=5,
        regularization=LAMBDA / ((1 - ALPHA) * WEIGHT),
        unobserved_weight=PLAIN_ALPHA,
        frequency_scaling=0.0,
    )
    plain.item_factors_, plain.interactions_ = model.item_factors_, data
    np.testing.assert_allclose(
        model.user_factors_, plain.fold_in(data) / (1 - ALPHA), rtol=0, atol=3e-6
    )
    assert np.abs(model.user_factors_).max() > 0.5


def test_theorem_2_over_both_sides() -> None:
    """Started alike, both stay alike, epoch after epoch: factors and scores."""
    data = random_data(60, 40, 0.2, seed=1)
    model = debiased(frequency_scaling=0.0)
    plain = IALS(
        n_factors=5,
        regularization=LAMBDA / WEIGHT,
        unobserved_weight=PLAIN_ALPHA,
        frequency_scaling=0.0,
    )
    start = alternating.start(*plain._sides(data), 5, seed=0, crew=in_line)
    scale = np.float32(1 / np.sqrt(1 - ALPHA))
    scores = []
    for one, first in ((model, start * scale), (plain, start)):
        users, items = one._sides(data)
        h = alternating.alternate(
            users, items, first, one._loss(), epochs=4, steps=40, crew=in_line
        )
        w = alternating.solve(users, h, one._loss(), crew=in_line)
        scores.append(w.astype(np.float64) @ h.T)
    np.testing.assert_allclose((1 - ALPHA) * scores[0], scores[1], rtol=0, atol=1e-5)
    assert np.abs(scores[1]).max() > 0.5


def test_theorem_2_with_frequencies_holds_for_equal_penalties() -> None:
    """With ν > 0 the penalties contain α₀; given the same ones, the solutions agree again."""
    data = random_data(50, 30, 0.2, seed=2)
    model = debiased(frequency_scaling=1.0, epochs=2).fit(data)
    penalty = model._penalty(data.user_counts(), data.n_items) / ((1 - ALPHA) * WEIGHT)
    rows = alternating.Rows(
        indptr=data.indptr, indices=data.indices, penalty=penalty.astype(np.float32)
    )
    loss = alternating.Loss(unobserved=PLAIN_ALPHA)
    plain = alternating.solve(rows, model.item_factors_, loss, crew=in_line)
    np.testing.assert_allclose(model.user_factors_, plain / (1 - ALPHA), rtol=0, atol=3e-6)


# ---- errors ----


def test_repr_shows_the_settings_only() -> None:
    assert repr(IALS(n_factors=3).fit(random_data(5, 5, 0.9))) == (
        "IALS(n_factors=3, regularization=0.003, unobserved_weight=0.1, frequency_scaling=1.0, "
        "epochs=10, steps=3, seed=0)"
    )


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_factors", 0, r"`n_factors`.*\b0\b"),
        ("regularization", 0, r"`regularization`.*\b0\b"),
        ("unobserved_weight", -1, r"`unobserved_weight`.*-1\b"),
        ("frequency_scaling", 3, r"`frequency_scaling`.*\b3\b"),
        ("epochs", 0, r"`epochs`.*\b0\b"),
        ("steps", 1.5, r"`steps`.*\b1\.5\b"),
        ("seed", -1, r"`seed`.*-1\b"),
        ("n_jobs", 0, r"`n_jobs`.*\b0\b"),
    ],
)
def test_bad_settings(name: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        IALS(**{name: value})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("unobserved_weight", 1, r"`unobserved_weight`.*not 1\b"),
        ("positive_weight", 0, r"`positive_weight`.*not 0\b"),
    ],
)
def test_bad_settings_of_the_debiased(name: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        DebiasedIALS(**{name: value})


def test_as_little_regularization_as_is_allowed() -> None:
    """One user with one item and α₀ = 0: nothing but λ keeps the score from 1."""
    data = Interactions.from_arrays([0], [0])
    model = IALS(n_factors=1, regularization=1e-9, unobserved_weight=0).fit(data)
    assert model.scorer().scores([0])[0, 0] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("regularization", [1e300, 1e308])
def test_an_infinite_penalty_leaves_factors_of_zero(regularization: float) -> None:
    model = IALS(regularization=regularization, n_factors=2, epochs=2)
    assert not model.fit(random_data(5, 5, 0.5)).scorer().user_factors.any()


@pytest.mark.parametrize(
    ("regularization", "weight"),
    [(r, w) for r in (1e10, 1e17, 1e18, 3e32, 1e36) for w in (1e-3, 1e3, 1e30)] + [(1.0, 1e38)],
)
def test_weights_beyond_float32_give_finite_factors(
    regularization: float, weight: float, tmp_path: Path
) -> None:
    data = random_data(60, 40, 0.3)
    model = IALS(regularization=regularization, unobserved_weight=weight, n_factors=8, epochs=3)
    model.fit(data).save(tmp_path / "model.safetensors")
    factors = model.user_factors_, model.item_factors_, model.fold_in(data)
    assert all(np.isfinite(one).all() for one in factors)
    assert np.isfinite(model.scorer(data).scores([0])).all()
    if regularization >= 1e18:
        assert not any(one.any() for one in factors)


def test_it_must_be_fitted_first() -> None:
    for call in (IALS().scorer, IALS().objective):
        with pytest.raises(NotFittedError, match=r"IALS.*not fitted.*`fit"):
            call()
    with pytest.raises(NotFittedError, match=r"IALS.*not fitted.*`fit"):
        IALS().fold_in(random_data(5, 5, 0.5))


def test_a_split_is_not_interactions() -> None:
    data = Interactions.from_arrays([0, 0], [0, 1])
    with pytest.raises(InputError, match=r"`interactions`.*\bSplit\b"):
        IALS().fit(data.split(rng=0))


def test_other_items_cannot_be_folded_in() -> None:
    model = IALS(n_factors=2).fit(random_data(9, 6, 0.5))
    with pytest.raises(InputError, match=r"`history`.*\b6\b.*\b5\b"):
        model.fold_in(random_data(9, 5, 0.5))
