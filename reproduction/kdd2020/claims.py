"""What Li et al. 2020 say in words, and whether it holds here."""

from __future__ import annotations

import statistics
from typing import Any

from reproduction.kdd2020.outcome import FITS, Content, aligned, distances, errors_of, winners_kept
from reproduction.kdd2020.published import BETA, BETA_DATA, MAPPINGS
from reproduction.outcome import claim, holds_for

SURE = 95  # percent of the draws
# what is read from the very sample that SHR@K is of
SAME = ("beta@0.5, read between", "beta@P, read between", "MLE", "smoothed")
NEAR = 0.01  # parameters a, or hit rates, that are nearly the same


def claims(content: Content) -> list[dict[str, Any]]:
    """What the paper says in words."""
    dominance = {
        key: sum(one[key] for one in content["dominance"].values())
        for key in ("pairs", "kept", "moved", "moved_kept")
    }
    spreads, printed = _spreads(_by_data(content)), _spreads(_printed())
    shapes = list(content["shapes_of_f"].values())
    close = aligned(content)
    best = [_best(content, d, m) for d, m in close]
    over_all = [_least_as_printed(content, d, m) for d, m in close]
    small = [_closer_at_first(content, d, m) for d, m in close]
    right, of = winners_kept(content)
    percent = [one["winner_kept_percent"] for one in content["winners"]]
    schemes = _schemes(content)
    fits = [one["beta@P"] for one in distances(content)]
    steps = sorted({cell["steps"] for cell in content["beta"]})
    return [
        claim(
            "001",
            "a model whose hit rates are above another's at every K stays above it in every sample "
            "size, in expectation",
            dominance["kept"] == dominance["pairs"]
            and dominance["moved_kept"] == dominance["moved"],
            "{kept} of the {pairs} pairs of models with one nowhere below the other, and "
            "{moved_kept} of {moved} models beside themselves with worse ranks".format(**dominance),
        ),
        claim(
            "001",
            "a beta distribution can stand for the distribution of ranks",
            max(fits) <= FITS,
            f"the fitted one misses the share of targets up to some rank by "
            f"{min(fits):.2f} to {max(fits):.2f} (held to {FITS:g}, a limit of ours); the paper "
            "too says that the fit has its limits",
        ),
        claim(
            "001",
            "the parameter a of models on the same data differs by 0.01 at most, mostly",
            holds_for(*_alike(spreads)),
            f"{_told(spreads)}; in the paper's own Table 2 {_told(printed)}",
        ),
        claim(
            "001",
            "f(k; a) grows with a (remedy 3, its title and what it concludes; two sentences "
            "between say the opposite)",
            all(one["grows_with_a"] for one in shapes),
            _with_a(shapes),
        ),
        claim(
            "001",
            "the fit of a takes two or three steps",
            max(steps) <= 3,
            f"{' or '.join(map(str, steps))} steps from a = 1 until a moves by less than 0.001",
        ),
        claim(
            "001",
            "bound and beta@0.5 come closest of the four functions of Figure 7",
            _share(list(close.values())),
            f"for {sum(close.values())} of {len(close)} models and data sets both are closer "
            f"than linear and beta@1, over all k",
        ),
        claim(
            "001",
            "beta@P has the least error over all k, and beta@0.5 does better at small k",
            _share([*over_all, *small]),
            f"over all k beta@P is least, or level to the four digits printed, for {sum(over_all)} "
            f"of {len(over_all)} models and data sets (least by all digits: {_tally(best)}); at "
            f"k = 1 beta@0.5 errs less than beta@P for {sum(small)}",
        ),
        claim(
            "001",
            "samples with and without replacement give nearly the same hit rates",
            schemes["apart"] <= NEAR,
            f"at most {schemes['apart']:.4f} apart",
        ),
        claim(
            "001",
            "the error falls as k grows, and as the sample does",
            schemes["falls"] and schemes["by_size"][100] > schemes["by_size"][1000],
            f"beta@0.5 with replacement, mean over the k of the table: "
            f"{schemes['by_size'][100]:.4f} with 100 candidates, {schemes['by_size'][1000]:.4f} "
            f"with 1,000; at the first k {schemes['ends'][0]:.4f}, at the last "
            f"{schemes['ends'][1]:.4f}",
        ),
        claim(
            "001",
            "one sample is close to the average of many",
            schemes["sd"] <= NEAR,
            f"SHR@k of one draw varies by {schemes['sd']:.4f} at most",
        ),
        claim(
            "001",
            "the model that is best by SHR@k is best by HR@f(k), for every k from 1 to 50",
            holds_for(right, of),
            f"in expectation for {right} of {of} cut-offs; in one draw for "
            f"{min(percent):.0f} to {max(percent):.0f} % of them",
        ),
        claim(
            "001",
            "sampled hit rates can be used without minding the mapping",
            _agreed(
                holds_for(right, of),
                _share([share >= SURE for share in _right(content, "naive")]),
            ),
            f"for HR@f(k), which the paper means, it is the line above; for HR@K itself: "
            f"{_named(content)}",
        ),
    ]


def _by_data(content: Content) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for cell in content["beta"]:
        found.setdefault(cell["row"], []).append(cell["measured"])
    return found


def _errors(content: Content, data: str, model: str) -> dict[str, float]:
    """Over all k, of the functions of Table 7."""
    return {
        name: value
        for name, value in errors_of(content, data, model, "abs").items()
        if name in MAPPINGS["yelp", "NeuMF"]
    }


def _best(content: Content, data: str, model: str) -> str:
    errors = _errors(content, data, model)
    return min(errors, key=lambda name: errors[name])


def _least_as_printed(content: Content, data: str, model: str) -> bool:
    """In Table 7 itself beta@P is level with beta@0.2 to the four digits it has."""
    errors = {name: round(one, 4) for name, one in _errors(content, data, model).items()}
    return errors["beta@P"] == min(errors.values())


def _closer_at_first(content: Content, data: str, model: str) -> bool:
    """At k = 1, where Table 7 has it so for both of its models."""
    errors = errors_of(content, data, model, "abs@1")
    return errors["beta@0.5"] < errors["beta@P"]


def _with_a(shapes: list[dict[str, Any]]) -> str:
    for key, words in (("grows_with_a", "grows"), ("falls_with_a", "falls")):
        if all(one[key] for one in shapes):
            return f"it {words} with a at every k"
    return "it does neither at every k"


def _agreed(one: bool | None, other: bool | None) -> bool | None:
    """Of a statement that was tested in two ways."""
    return one if one == other else None


def _tally(names: list[str]) -> str:
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items(), key=lambda kv: -kv[1]))


def _share(held: list[bool]) -> bool | None:
    return holds_for(sum(held), len(held))


def _printed() -> dict[str, list[float]]:
    """By the paper's names of the data sets."""
    return {
        data.removesuffix("-part").removesuffix("-a"): [row[at] for row in BETA.values()]
        for at, data in enumerate(BETA_DATA)
    }


def _spreads(values: dict[str, list[float]]) -> dict[str, float]:
    return {data: max(row) - min(row) for data, row in values.items()}


def _alike(spreads: dict[str, float]) -> tuple[int, int]:
    return sum(value <= NEAR for value in spreads.values()), len(spreads)


def _told(spreads: dict[str, float]) -> str:
    n, of = _alike(spreads)
    return f"{n} of {of} ({', '.join(f'{data} {v:.3f}' for data, v in spreads.items())})"


def _right(content: Content, way: str) -> list[float]:
    """In what share of draws a way to read HR@K names the best model, by data set and K."""
    return [row["right_percent"][way] for one in content["winners"] for row in one["named"]]


def _named(content: Content) -> str:
    """From the same candidates as the sampled hit rate, and then from samples of another cost."""
    naive, deeper = (_right(content, way) for way in ("naive", "smoothed, adaptive 25"))
    same = ", ".join(
        f"{way.replace(',', '')} {statistics.fmean(_right(content, way)):.0f} %" for way in SAME
    )
    sizes = [size for by in content["adaptive_size"].values() for size in by.values()]
    return (
        f"SHR@K of 100 candidates names the model that is best by HR@K in "
        f"{statistics.fmean(naive):.0f} % of the draws on average, {min(naive):.0f} to "
        f"{max(naive):.0f} % by data set and K; from the same candidates {same}; smoothed from "
        f"adaptive samples of {min(sizes):,.0f} to {max(sizes):,.0f} items a user in "
        f"{statistics.fmean(deeper):.0f} %, {min(deeper):.0f} to {max(deeper):.0f} %"
    )


def _schemes(content: Content) -> dict[str, Any]:
    by = {(c["size"], c["scheme"], c["k"], c["column"]): c for c in content["schemes"]}
    both = [
        abs(cell["measured"] - by[size, "without replacement", k, column]["measured"])
        for (size, scheme, k, column), cell in by.items()
        if scheme == "with replacement" and column == "SHR"
    ]
    errors: dict[int, list[float]] = {}
    for (size, scheme, k, column), cell in by.items():
        if scheme == "with replacement" and column == "beta@0.5":
            drawn = by[size, scheme, k, "SHR"]["measured"]
            errors.setdefault(size, []).append(abs(cell["measured"] - drawn))
    return {
        "apart": max(both),
        "by_size": {size: sum(values) / len(values) for size, values in errors.items()},
        "ends": (errors[100][0], errors[100][-1]),
        "falls": errors[100][-1] < errors[100][0],
        "sd": max(cell["measured_sd"] for cell in by.values() if cell["column"] == "SHR"),
    }
