"""The study of Li et al. 2020: its numbers computed a second way, and its outcomes."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, lgamma
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from fullrank.designs import Uniform
from fullrank.errors import InputError
from fullrank.estimators import Mapping, alignment_errors
from fullrank.samples import simulate
from reproduction.common.bank import bank
from reproduction.common.exact import Ranks
from reproduction.kdd2020 import books, curves, outcome, published, repeats, schemes

N_ITEMS, SIZE = 3_000, 100
RANKS = np.minimum(np.random.default_rng(0).geometric(0.005, 500), N_ITEMS)
KNOWN = Ranks(RANKS, N_ITEMS)


def test_published_tables_are_whole() -> None:
    assert {len(row) for row in published.BETA.values()} == {len(published.BETA_DATA)}
    for by_scheme in published.SCHEMES.values():
        assert {len(row) for rows in by_scheme.values() for row in rows} == {5}
        # the global hit rates are those of the same ranks, however candidates are drawn
        first, second = (
            [row[2:] for row in by_scheme[f"{how} replacement"]] for how in ("with", "without")
        )
        assert first == second
    # k of 100 and 10 k of 1,000 are mapped to the same cut-off by beta@1
    for few, many in zip(
        published.SCHEMES[100]["unseen items"], published.SCHEMES[1000]["unseen items"], strict=True
    ):
        assert (10 * few[0], few[3]) == (many[0], pytest.approx(many[3], abs=0.001))
    for functions in published.MAPPINGS.values():
        assert {len(row) for row in functions.values()} == {len(published.ERRORS)}


def test_expected_curve_is_the_mean_of_the_kernel() -> None:
    ks = np.arange(1, SIZE + 1)
    for replacement, chance in (
        (True, binom.cdf(ks - 1, SIZE - 1, (RANKS[:, None] - 1) / (N_ITEMS - 1))),
        (False, hypergeom.cdf(ks - 1, N_ITEMS - 1, RANKS[:, None] - 1, SIZE - 1)),
    ):
        found = curves.expected_curve(KNOWN, replacement=replacement)
        np.testing.assert_allclose(found, chance.mean(axis=0), rtol=1e-9)


def test_closest_places_are_those_of_a_search() -> None:
    found = curves.best_places(KNOWN, (1, 5, 60))
    wanted = curves.expected_curve(KNOWN)
    every = np.array([np.mean(cut >= RANKS) for cut in range(1, N_ITEMS + 1)])
    for k, place in found["places"].items():
        distance = np.abs(every - wanted[int(k) - 1])
        assert distance[place - 1] == pytest.approx(distance.min())
    largest = max(np.abs(every - one).min() for one in wanted)
    assert found["largest_distance"] == pytest.approx(largest, abs=1e-5)


def test_dominance_is_looked_for_in_both_directions() -> None:
    worse = Ranks(np.minimum(RANKS + 7, N_ITEMS), N_ITEMS)
    crossing = Ranks(np.where(RANKS < 50, 1, N_ITEMS), N_ITEMS)
    found = curves.dominance({"a": worse, "b": KNOWN, "c": crossing})
    assert found == {"pairs": 1, "kept": 1, "of": 3, "moved": 3, "moved_kept": 3}


def test_errors_of_estimators_have_the_columns_of_the_functions() -> None:
    sample = simulate(RANKS, n_items=N_ITEMS, design=Uniform(SIZE, replacement=True), rng=3)
    mapping = repeats.functions(N_ITEMS)["beta@0.5"]
    exact = repeats.hit_rates(RANKS, repeats.places(mapping))
    found = repeats.error_columns(mapping.curve(sample)[1], exact)
    expected = alignment_errors(mapping, sample, RANKS)
    np.testing.assert_allclose(found, list(expected.values()), rtol=1e-12)


def test_a_sample_is_read_between_its_places() -> None:
    sample = simulate(RANKS, n_items=N_ITEMS, design=Uniform(SIZE, replacement=True), rng=3)
    mapping = Mapping(kind="bound", sample_size=SIZE, n_items=N_ITEMS)
    found = repeats.read_between(mapping, sample)
    first = np.mean(sample.rows.rank == 1)
    place = mapping(1)
    assert place == 15.0
    np.testing.assert_allclose(found[:15], first * np.arange(1, 16) / place)
    assert found[44] == pytest.approx(np.mean(sample.rows.rank <= 2))  # f(2) = 45


def test_candidates_that_the_user_has_not_seen() -> None:
    draw = schemes.unseen_sample
    ranks, pools = np.full(4_000, 30), np.full(4_000, 400)
    ranks[2_000:], pools[2_000:] = 60, 900
    sample = draw(ranks, pools, 50, seed=0)
    assert sample.design.pool == "unseen"
    for part in (slice(0, 2_000), slice(2_000, None)):
        law = hypergeom(pools[part][0] - 1, ranks[part][0] - 1, 49)
        mean = sample.rows.rank[part].mean() - 1
        assert abs(mean - law.mean()) < 4 * law.std() / np.sqrt(2_000)


def test_counts_of_other_users_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    above = Ranks(np.maximum(RANKS - 5, 1), N_ITEMS)
    monkeypatch.setattr(schemes, "_read", lambda name: np.full(RANKS.size, 5))
    assert schemes.seen("x", KNOWN, above).tolist() == [5] * RANKS.size
    monkeypatch.setattr(schemes, "_read", lambda name: np.full(RANKS.size, 4))
    with pytest.raises(InputError) as error:
        schemes.seen("x", KNOWN, above)
    assert str(error.value) == "`ranks` of x must be of the users that kdd2020-seen.npz counts."


def test_repeats_are_kept_for_the_ranks_they_were_drawn_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = repeats.drawn("x", KNOWN, 1, jobs=1, cache=tmp_path)
    again = repeats.drawn("x", KNOWN, 1, jobs=1, cache=tmp_path)
    assert capsys.readouterr().out == f"x-1: {first.seconds:.0f} s\n"  # once
    assert again.seconds == first.seconds
    np.testing.assert_array_equal(first.top, again.top)
    other = Ranks(RANKS + 1, N_ITEMS)
    assert repeats.drawn("x", other, 1, jobs=1, cache=tmp_path).a[0] != first.a[0]
    sample = simulate(RANKS, n_items=N_ITEMS, design=Uniform(SIZE, replacement=True), rng=0)
    np.testing.assert_allclose(first.sampled[0, 4], np.mean(sample.rows.rank <= 5))
    assert first.a[0] == pytest.approx(_fitted(sample.rows.rank), rel=1e-6)


def _fitted(ranks: np.ndarray) -> float:
    """Equation 19 with f summed from equations 16 and 17, term by term."""
    a = 0.5
    for _ in range(60):
        terms = [
            a * comb(SIZE - 1, i) * np.exp(lgamma(a + i) + lgamma(SIZE - i) - lgamma(a + SIZE))
            for i in range(SIZE)
        ]
        share = np.cumsum(terms) ** (1 / a)
        a = -ranks.size / np.log(share[ranks - 1]).sum()
    return float(a)


@pytest.mark.slow
def test_books_only_where_a_user_has_them(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    need: Callable[[str], ModuleType],
) -> None:
    need("torch")
    monkeypatch.setenv("FULLRANK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path / "none"))
    assert books.books(tmp_path) is None
    folder = tmp_path / "data" / "book-crossing"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    lines = [
        f'"{user}";"{item:010}";"0"'
        for user in range(30)
        for item in rng.choice(40, 15, replace=False)
    ]
    text = "\n".join(['"User-ID";"ISBN";"Book-Rating"', *lines]) + "\n"
    (folder / "BX-Book-Ratings.csv").write_text(text, encoding="latin1")
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path / "data"))
    found = books.books(tmp_path, epochs=1)
    assert (found.ranks.size, found.n_items) == (30, 40)
    assert found.ranks.min() >= 1
    (folder / "BX-Book-Ratings.csv").unlink()
    np.testing.assert_array_equal(books.books(tmp_path, epochs=1).ranks, found.ranks)  # kept
    books.books(tmp_path, epochs=2)  # other ranks, which do not take their place
    kept = sorted(path.name for path in (tmp_path / "kdd2020").iterdir())
    assert kept == [f"book-crossing-ranks-{epochs}.npz" for epochs in (1, 2)]


def test_a_figure_fails_however_small_the_excess(stored: Any) -> None:
    content = stored("kdd2020")

    def states() -> tuple[str, str]:
        found = {one["item"]: one["state"] for one in outcome.tables(content)}
        return found["001 Figure 3"], found["001 Figure 5"]

    apart = content["shapes_of_f"]["shown"]["apart"]
    assert 1 < max(abs(one) for row in apart.values() for one in row) < 1.15
    assert states() == ("not reproduced", "not reproduced")
    for a, row in apart.items():
        apart[a] = [0.9 * one for one in row]
    for by in content["beta_fit"].values():
        for one in by.values():
            one["distance"]["beta@P"] = 0.04
    assert states() == ("reproduced", "reproduced")


def test_a_single_draw_is_not_a_mean() -> None:
    """A cell may be two spreads of one draw off, not two of a mean of 100 and not more."""
    cell = {"row": "x", "column": "y", "published": 1.0, "measured_sd": 0.2}
    for measured, near in ((1.0 + 2 * 0.2 * 1.004, 1), (1.0 + 2 * 0.2 * 1.006, 0)):
        made = outcome._one_draw(cell | {"measured": measured}, {"repeats": 100})
        assert outcome._compared("001 Table 2", [made], "")["within"] == near


def test_numbers_of_users_are_those_of_the_data() -> None:
    part = outcome._part
    data = [
        {"data": "ml-1m", "n_users": 6_040},
        {"data": "pinterest-20-part", "n_users": 50_000},
        {"data": "yelp-diffnet", "n_users": 10},
    ]
    assert part({"data": data}) == "pinterest-20-part has 50,000 of 55,187 users; "


def test_outcomes_follow_from_the_numbers(stored: Any) -> None:
    content = stored("kdd2020")
    assert outcome.tables(content) == content["tables"]
    for row in content["mappings"]:
        row["mean"]["bound"]["abs"] = 1.0
    content["sizes"]["data"] = "book-crossing"
    content["sizes"]["rows"][0]["mean_error"] = 0.0
    changed = {one["item"]: one["state"] for one in outcome.tables(content)}
    assert changed["001 Figure 7"] == changed["003 Figure 10"] == "not reproduced"
    assert changed["001 Figure 8"] == "not reproduced"


@pytest.mark.slow
@pytest.mark.verify
def test_quick(quick: Any, tmp_path: Path) -> None:
    content = quick("kdd2020", FULLRANK_DATA=str(tmp_path))
    known = bank("ml-latest-small")
    states = {one["item"]: one["state"] for one in content["tables"]}
    assert {f"001 Table {n}" for n in (2, 3, 5, 6, 7)} <= set(states)
    assert {f"001 Figure {n}" for n in (1, 2, 3, 4, 5, 7, 8)} <= set(states)
    assert states["001 Figure 8"] == states["003 Figure 2"] == "on other data"
    for cell in content["schemes"]:
        if cell["column"] == "bound" and cell["scheme"] != "unseen items":
            one = known["MultiVAE"]
            place = Mapping(kind="bound", sample_size=cell["size"], n_items=one.n_items)(cell["k"])
            assert cell["measured"] == pytest.approx(np.mean(one.ranks <= place), abs=5e-5)
    for world in content["winners"]:
        for row in world["named"]:
            exact = {m: np.mean(one.ranks <= row["K"]) for m, one in known.items()}
            assert exact[row["best"]] == max(exact.values())
