"""Outcomes of the tables and figures of Li et al. 2020."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from reproduction.kdd2020.curves import ALIGNED
from reproduction.kdd2020.published import BETA, BETA_DATA, ERRORS, MAPPINGS, SIZES
from reproduction.kdd2020.tables import printed_as
from reproduction.outcome import ENOUGH, compare, elsewhere, missing, shown

Content = dict[str, Any]

BOOKS = "book-crossing"
_YELP = "the Yelp of the paper is not here; "
_USERS = "models that we trained and chose with training items among the candidates"
_ORDER = "sampled hit rates keep the order that models have at f(k), nine times in ten or more"
FITS = 0.05  # the largest distance between shares of targets at which a distribution fits


def tables(content: Content) -> list[dict[str, Any]]:
    """One entry for each table and figure that has a result."""
    part, draws = _part(content), _draws(content)
    data, model = content["shown"]
    sized, close = content["sizes"], aligned(content)
    curve, later = content["orders"][data], content["orders"][sized_data(content)]
    far = max(
        one["largest_distance"] for by in content["best_places"].values() for one in by.values()
    )
    grows = _falls([row["mean_error"] for row in sized["rows"]])
    return [
        _compared("001 Table 2", list(_beta(content)), f"{_YELP}{part}{draws}; {_USERS}"),
        missing(
            "001 Table 3",
            "the table is missing from our copy; the page has one in its style, where the best "
            "model by SHR@k is the best by HR@f(k) at {} of {} cut-offs".format(
                *winners_kept(content)
            ),
        ),
        *(
            _compared(
                f"001 Table {number}",
                [
                    _one_draw(cell, content) | {"row": f"{cell['scheme']} {cell['k']}"}
                    for cell in content["schemes"]
                    if cell["size"] == size and cell["published"] is not None
                ],
                f"{draws}; {_USERS}",
            )
            for number, size in ((5, 100), (6, 1000))
        ),
        _compared("001 Table 7", list(_mapped(content)), f"{_YELP}{draws}; {_USERS}"),
        shown(
            "001 Figure 1",
            _ORDER,
            curve["orders_kept"] >= ENOUGH * curve["orders"],
            differs=f"{_USERS}; five models, without NGCF",
        ),
        shown(
            "001 Figure 2",
            "for each k there is a K with HR@K = E SHR@k, to 0.01",
            far < 0.01,
            differs="all data sets and models",
        ),
        _figure_3(content),
        shown(
            "001 Figure 4",
            "the functions f(k; a) near f(k; 1) as k grows",
            _nears(content, "shown"),
        ),
        _figure_5(content),
        shown(
            "001 Figure 7",
            "of four functions bound and beta@0.5 come closest",
            close[data, model],
            differs=_USERS,
        ),
        _figure_8(sized, grows),
        elsewhere(
            "003 Figure 2",
            _ORDER,
            later["orders_kept"] >= ENOUGH * later["orders"],
            data=sized_data(content),
            differs=f"{_YELP}{_USERS}",
        ),
        shown(
            "003 Figure 5", "the functions f(k; a) near f(k; 1) as k grows", _nears(content, "yelp")
        ),
        shown(
            "003 Figure 10",
            "of four functions bound and beta@0.5 come closest",
            close[tuple(content["shown_later"])],
            differs=part.removesuffix("; "),
        ),
    ]


def sized_data(content: Content) -> str:
    """The largest catalogue whose curves are there."""
    return str(list(content["curves"])[-1])


def _figure_8(sized: dict[str, Any], grows: bool) -> dict[str, Any]:
    says = "the mapped curve nears the global one as the sample grows"
    if sized["data"] == BOOKS:
        return shown("001 Figure 8", says, grows, differs="other users and books: how is not said")
    differs = f"Book-Crossing is not here; {sized['model']} as in the figure"
    return elsewhere("001 Figure 8", says, grows, data=sized["data"], differs=differs)


def _compared(item: str, cells: list[dict[str, Any]], differs: str) -> dict[str, Any]:
    """Single draws: their spread is ours, so that no cell lies within a published one."""
    return compare(item, cells, differs=differs, repeats=1) | {"two_sd": None}


def _figure_3(content: Content) -> dict[str, Any]:
    """Whether the fitted distribution is close enough to the ranks to fit them."""
    found = distances(content)
    fits = [one["beta@P"] for one in found]
    nearer = sum(one["beta@P"] < one["beta@1"] for one in found)
    return shown(
        "001 Figure 3",
        f"a beta distribution with a < 1 fits the ranks: no share of targets up to some rank is "
        f"missed by more than {FITS:g} (a limit of ours)",
        max(fits) <= FITS,
        differs=f"missed by {min(fits):.2f} to {max(fits):.2f} here; that is nearer than ranks "
        f"spread evenly for {nearer} of {len(found)} models and data sets",
    )


def _figure_5(content: Content) -> dict[str, Any]:
    apart = _apart(content)
    beyond = f", {apart - 1:.2f} too many" if apart >= 1 else ""
    return shown(
        "001 Figure 5",
        "for a from 0.24 to 0.34, f(k; a) is less than one rank from f(k; 0.3)",
        apart < 1,
        differs=f"at most {apart:.2f} ranks here{beyond}",
    )


def distances(content: Content) -> list[dict[str, float]]:
    """How far each power law is from the distribution of ranks, by data set and model."""
    return [one["distance"] for by in content["beta_fit"].values() for one in by.values()]


def _part(content: Content) -> str:
    """Whose users are a part of the published ones."""
    found = [
        f"{one['data']} has {one['n_users']:,} of {SIZES[one['data']][0]:,} users; "
        for one in content["data"]
        if one["data"] in SIZES and one["n_users"] < SIZES[one["data"]][0]
    ]
    return "".join(found)


def _draws(content: Content) -> str:
    return (
        f"means of {content['repeats']} draws where the paper has one draw, whose spread is taken "
        "to be that of ours"
    )


def _one_draw(cell: dict[str, Any], content: Content) -> dict[str, Any]:
    """The paper has one draw, as far from the truth as one of ours; ours is the mean of many."""
    if "measured_sd" not in cell:
        return cell
    return cell | _spreads(cell["measured_sd"], content)


def _spreads(sd: float, content: Content) -> dict[str, float]:
    return {"published_sd": sd, "measured_sd": sd / math.sqrt(content["repeats"])}


def _beta(content: Content) -> Iterator[dict[str, Any]]:
    for cell in content["beta"]:
        if cell["published"] is not None:
            yield _one_draw(cell, content)
    for model, values in BETA.items():
        yield {
            "row": "yelp",
            "column": model,
            "published": values[BETA_DATA.index("yelp")],
            "measured": None,
        }


def _mapped(content: Content) -> Iterator[dict[str, Any]]:
    for row in content["mappings"]:
        for name, printed in MAPPINGS.get((printed_as(row["data"]), row["model"]), {}).items():
            for error, value in zip(ERRORS, printed, strict=True):
                yield {
                    "row": error,
                    "column": name,
                    "published": value,
                    "measured": row["mean"][name][error],
                } | _spreads(row["sd"][name][error], content)
    for values in MAPPINGS["yelp", "NeuMF"].values():
        for value in values:
            yield {"row": "yelp", "column": "", "published": value, "measured": None}


def _apart(content: Content) -> float:
    values = content["shapes_of_f"]["shown"]["apart"].values()
    return max(abs(float(one)) for row in values for one in row)


def _nears(content: Content, which: str) -> bool:
    """Each curve rises to nothing, and has done most of it by k = 10."""
    rows = content["shapes_of_f"][which]["relative"].values()
    return all(
        _falls([abs(one) for one in row]) and abs(row[9]) < 0.2 * abs(row[0]) for row in rows
    )


def _falls(values: list[float]) -> bool:
    return all(b <= a + 1e-9 for a, b in pairwise(values))


def errors_of(content: Content, data: str, model: str, column: str) -> dict[str, float]:
    """One column of Table 7 for each function and estimator."""
    row = next(r for r in content["mappings"] if (r["data"], r["model"]) == (data, model))
    return {name: errors[column] for name, errors in row["mean"].items()}


def aligned(content: Content) -> dict[Any, bool]:
    """Whether bound and beta@0.5 are both closer than linear and beta@1."""
    found = {}
    for one in content["data"]:
        for model in one["models"]:
            errors = errors_of(content, one["data"], model, "abs")
            two = {name for name in ALIGNED if errors[name] <= _second(errors)}
            found[one["data"], model] = two == {"bound", "beta@0.5"}
    return found


def _second(errors: dict[str, float]) -> float:
    return sorted(errors[name] for name in ALIGNED)[1]


def winners_kept(content: Content) -> tuple[int, int]:
    found = content["winners"]
    return sum(one["winner_kept_in_expectation"] for one in found), sum(one["of"] for one in found)
