"""What Li et al. 2020 say in words, and whether it holds here."""

from __future__ import annotations

import statistics
from typing import Any

from _outcome import claim

from _kdd2020.outcome import Content, aligned, errors_of, winners_kept
from _kdd2020.published import MAPPINGS


def claims(content: Content) -> list[dict[str, Any]]:
    """What the paper says in words."""
    dominance = {
        key: sum(one[key] for one in content["dominance"].values())
        for key in ("pairs", "kept", "moved", "moved_kept")
    }
    spreads = {data: max(values) - min(values) for data, values in _by_data(content).items()}
    alike = [data for data, value in spreads.items() if value <= 0.01]
    shapes = list(content["shapes_of_f"].values())
    close = aligned(content)
    best = [_best(content, d, m, "abs") for d, m in close]
    small = [_best(content, d, m, "abs@1") for d, m in close]
    right, of = winners_kept(content)
    percent = [one["winner_kept_percent"] for one in content["winners"]]
    naive = [row["right_percent"]["naive"] for one in content["winners"] for row in one["named"]]
    ours = [
        row["right_percent"]["smoothed, adaptive 25"]
        for one in content["winners"]
        for row in one["named"]
    ]
    schemes = _schemes(content)
    fits = [one["distance"]["beta@P"] for by in content["beta_fit"].values() for one in by.values()]
    steps = [cell["steps"] for cell in content["beta"]]
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
            max(fits) <= 0.05,
            f"the fitted one misses the share of targets up to some rank by "
            f"{min(fits):.2f} to {max(fits):.2f}",
        ),
        claim(
            "001",
            "the parameter a of models on the same data differs by 0.01 at most, mostly",
            len(alike) > len(spreads) / 2,
            "; ".join(f"{data} {value:.3f}" for data, value in spreads.items()),
        ),
        claim(
            "001",
            "the larger a, the smaller f(k; a) (remedy 3, which also says the opposite)",
            all(one["falls_with_a"] for one in shapes),
            "it grows with a at every k"
            if all(one["grows_with_a"] for one in shapes)
            else "it does neither at every k",
        ),
        claim(
            "001",
            "the fit of a takes two or three steps",
            max(steps) <= 3,
            f"{min(steps)} to {max(steps)} steps from a = 1 until a moves by less than 0.001",
        ),
        claim(
            "001",
            "bound and beta@0.5 are the best of the functions that need no fit",
            _verdict(list(close.values())),
            f"for {sum(close.values())} of {len(close)} models and data sets both are closer "
            f"than linear and beta@1, over all k",
        ),
        claim(
            "001",
            "beta@P has the least error over all k, and beta@0.5 does better at small k",
            _verdict([one == "beta@P" for one in best] + [one == "beta@0.5" for one in small]),
            f"least over all k: {_tally(best)}; at k = 1: {_tally(small)}",
        ),
        claim(
            "001",
            "samples with and without replacement give nearly the same hit rates",
            schemes["apart"] <= 0.01,
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
            schemes["sd"] <= 0.01,
            f"SHR@k of one draw varies by {schemes['sd']:.4f} at most",
        ),
        claim(
            "001",
            "the model that is best by SHR@k is best by HR@f(k), for every k from 1 to 50",
            _verdict([True] * right + [False] * (of - right)),
            f"in expectation for {right} of {of} cut-offs; in one draw for "
            f"{min(percent):.0f} to {max(percent):.0f} % of them",
        ),
        claim(
            "001",
            "sampled hit rates can be used without minding the mapping",
            _verdict([share >= 95 for share in naive]),
            f"SHR@K of 100 candidates names the model that is best by HR@K in "
            f"{statistics.fmean(naive):.0f} % of the draws on average, {min(naive):.0f} to "
            f"{max(naive):.0f} % by data set and K; smoothed adaptive samples in "
            f"{statistics.fmean(ours):.0f} %, {min(ours):.0f} to {max(ours):.0f} %",
        ),
    ]


def _by_data(content: Content) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for cell in content["beta"]:
        found.setdefault(cell["row"], []).append(cell["measured"])
    return found


def _best(content: Content, data: str, model: str, column: str) -> str:
    errors = {
        name: value
        for name, value in errors_of(content, data, model, column).items()
        if name in MAPPINGS["yelp", "NeuMF"]
    }
    return min(errors, key=lambda name: errors[name])


def _tally(names: list[str]) -> str:
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items(), key=lambda kv: -kv[1]))


def _verdict(held: list[bool]) -> bool | None:
    """True where it always holds, False where it seldom does."""
    share = sum(held) / len(held)
    return True if share == 1 else (None if share >= 0.5 else False)


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
