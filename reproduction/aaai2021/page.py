"""The page of `aaai2021`, from nothing but its JSON."""

from __future__ import annotations

from typing import Any

from reproduction.aaai2021.published import NAMES, USERS, label, over_mle
from reproduction.study import table as markdown

Content = dict[str, Any]

LABELS = {"recall": "Recall", "ndcg": "NDCG", "ap": "AP"}


def page(content: Content) -> str:
    outcomes = {one["item"]: one for one in content["tables"]}
    parts = [_head(content), _glance(content)]
    for estimates, own in zip(content["estimates"], content["ours_beside"], strict=True):
        parts.append(_estimates(estimates, own, outcomes[f"004 Table {estimates['table']}"]))
    parts.append(_WINNERS)
    parts += [_winners(one, outcomes[f"004 Table {one['table']}"])
              for one in content["winner_tables"]]  # fmt: skip
    parts.append(_figures(content, outcomes))
    parts.append(_claims(content))
    parts.append(_differs(content))
    return "\n".join(parts)


def _head(content: Content) -> str:
    names = ", ".join(dict.fromkeys(one["data"] for one in content["estimates"]))
    sizes: dict[str, list[str]] = {}
    for one in content["sizes"]:
        sizes.setdefault(one["design"], []).append(f"{one['size']:,.0f} on {one['data']}")
    adaptive = "; ".join(
        f"{design.replace('adaptive', 'from')}: {', '.join(each)}"
        for design, each in sizes.items()
        if design.startswith("adaptive")
    )
    return f"""# Six estimators from 100 sampled items

Jin et al., *On Estimating Recommendation Evaluation Metrics under Sampling* (AAAI 2021), on
{names}: five models, training items kept as candidates, 99 items sampled with replacement and the
target, {content["repeats"]} repeats. In thousandths, mean ± standard deviation over the repeats;
what was published stands in brackets. Our own estimators and designs stand in a second table below
each: `smoothed`, samples without replacement, adaptive samples (their average sizes: {adaptive}),
and [bounds](../studies/bounds.md), which assume nothing and show what 100 items leave open.
"""


def _glance(content: Content) -> str:
    """Every table and figure that was repeated, in a line."""
    rows = []
    for one in content["tables"]:
        if one["state"] == "nothing to reproduce":
            continue
        found = _within(one) if "cells" in one else one.get("why") or one["says"]
        if one["state"] == "on other data":
            found += f": {_holds(one['holds'])} on {one['data']} ({one['differs']})"
        elif "exact" in one:
            found += f"; {one['exact']}"
        elif "says" in one:
            found += f" ({one['differs']})"
        rows.append((one["item"].removeprefix("004 "), one["state"], found))
    return f"""{markdown(["", "here", "found"], rows)}

A cell counts as within where it lies no further from the published one than {_ALLOWED}. A table is
reproduced when nine in ten cells are within (published standard deviations are those of a single
repeat, of a count of winners the binomial, and wide), and in order when nine in ten pairs of a row
are. Of Tables 2, 3 and 6 only rows are counted whose exact value is near the paper's; how many
these are is said, and how the counts stand with the published estimates as they are.
"""


_ALLOWED = "15 % or two standard errors of the two means, where those are wider"


def _estimates(estimates: Content, own: Content, outcome: Content) -> str:
    rows: dict[tuple[str, str], list[Content]] = {}
    for cell in estimates["cells"]:
        rows.setdefault((cell["model"], cell["metric"]), []).append(cell)
    names = list(dict.fromkeys(cell["estimator"] for cell in estimates["cells"]))
    lines = [
        (
            model,
            LABELS[metric],
            f"{cells[0]['exact']:.2f} ({cells[0]['published_exact']:.2f})",
            *(f"{_pair(cell['measured'])} ({_pair(cell['published'])})" for cell in cells),
        )
        for (model, metric), cells in rows.items()
    ]
    users = f"{estimates['n_users']:,} users, {estimates['n_items']:,} items"
    if estimates["n_users"] != estimates["published_users"]:
        users += f"; {estimates['published_users']:,} users in the paper"
    return f"""## Table {estimates["table"]}: {estimates["data"]}

{users}. {_stated(outcome)}

{markdown(["model", "metric", "exact", *map(label, names)], lines)}

{_held(estimates, outcome)}

{_own(own)}
"""


def _held(estimates: Content, outcome: Content) -> str:
    """How spreads stand to the published ones, of models that are like the paper's."""
    held = [cell for cell in estimates["cells"] if cell["held_to"] and cell["model_is_like"]]
    if "cells" not in outcome or not held:
        return "Means and spreads are not counted against the published ones."
    first = [cell for cell in held if cell["model"] == "EASE"]
    return (
        f"Of models whose exact values are near the paper's, spreads{_width(estimates)} lie within "
        f"25 % of the published in {_count(held, first, 'spread_within_quarter')}; {label('WMLE')} "
        "is left out of this count."
    )


def _width(estimates: Content) -> str:
    """How much wider a spread must come out over fewer users."""
    wider = (estimates["published_users"] / estimates["n_users"]) ** 0.5
    return "" if abs(wider - 1) < 0.005 else f" (which fewer users widen by {wider:.2f})"


def _own(own: Content) -> str:
    first = own["rows"][0]
    lines = [
        (
            row["model"],
            LABELS[row["metric"]],
            f"{row['exact']:.2f}",
            *(_pair(one) for one in row["estimates"].values()),
            *(f"{one['low']:.1f} to {one['high']:.1f}" for one in row["bounds"].values()),
        )
        for row in own["rows"]
    ]
    cells = [one for row in own["rows"] for one in row["bounds"].values()]
    held, runs = sum(one["held"] for one in cells), sum(one["of"] for one in cells)
    head = ["model", "metric", "exact", *first["estimates"], *first["bounds"]]
    return f"""Ours on the same data, "naive" being the sampled metric as it is:

{markdown(head, lines)}

Bounds are mean ends over the first {first["bounds"]["bounds"]["of"]} repeats; {held:,} of {runs:,}
held the exact value."""


_WINNERS = """## Which model is best?

In how many of a hundred repeats an estimator gives its largest value to the model that is best by
exact ranks; published in brackets. Every model has draws of its own, and estimates that tie share
the point. "Lead" is how far the best model is ahead of the second, in percent of its exact value:
what a row asks for depends on it.
"""


def _winners(one: Content, outcome: Content) -> str:
    lines = []
    for metric, best in one["best"].items():
        cells = []
        for name, counts in one["right"].items():
            printed = one["published"].get(name, {}).get(metric)
            cells.append(f"{counts[metric]:.0f}" + ("" if printed is None else f" ({printed})"))
        lines.append((metric, best, f"{one['lead'][metric]:.1f}", *cells))
    means = [f"{sum(counts.values()) / len(counts):.0f}" for counts in one["right"].values()]
    lines.append(("mean", "", "", *means))
    return f"""### Table {one["table"]}: {one["data"]}

{_stated(outcome)}

{markdown(["metric", "best", "lead %", *map(label, one["right"])], lines)}
"""


def _figures(content: Content, outcomes: dict[str, Content]) -> str:
    drawn = content["curves"]
    first = drawn["1"][0]
    rows = []
    for number, panels in drawn.items():
        for at, one in enumerate(panels):
            figure = "6 of 003" if (number, at) == ("1", 1) else number
            for name, error in one["errors"].items():
                cells = (
                    f"{error['pmf']:.1f}",
                    f"{error['cdf']:.1f}",
                    f"{error['cdf_signed']:+.1f}",
                )
                rows.append((figure, one["model"], one["data"], one["design"], label(name), *cells))
    head = ["figure", "model", "data", "design", "estimator", "P(R) %", "Recall %", "signed"]
    small = drawn["3"][0]
    models = ", ".join(one["model"] for one in drawn["2"])
    return f"""## Figures

Means over the repeats of the learned P(R), and their sums.

![Exact and learned probability of each rank up to 200 for {first["model"]}](aaai2021-figure1.svg)

Figure 1, {first["data"]}. {_said(outcomes["004 Figure 1"])}{_later(content, outcomes)}

![Learned probabilities and recall curves for {models} beside the exact ones](aaai2021-figure2.svg)

Figure 2, {first["data"]}. {_said(outcomes["004 Figure 2"])}

![Learned probabilities and recall curves from 100 and from 500 items](aaai2021-figure3.svg)

Figure 3, {small["model"]} on {small["data"]}. {_said(outcomes["004 Figure 3"])}

Mean errors over R or K = 1..50: of P(R) relative to its mean, of the recall curve, and the latter
with its sign.

{markdown(head, rows)}
"""


def _later(content: Content, outcomes: dict[str, Content]) -> str:
    """The dissertation's figure beside the first, where its data are here."""
    if "003 Figure 6" not in outcomes:
        return ""
    data = content["curves"]["1"][1]["data"]
    return f"\n\nFigure 6 of the dissertation, {data}. {_said(outcomes['003 Figure 6'])}"


def _claims(content: Content) -> str:
    rows = [(one["says"], _holds(one["holds"]), one["found"]) for one in content["claims"]]
    own = [(one["says"], _holds(one["holds"]), one["found"]) for one in content["ours"]]
    return f"""## What the paper says

A statement about cases holds where nine in ten are so, and in part from a half.

{markdown(["statement", "here", "found"], rows)}

And of ours:

{markdown(["statement", "here", "found"], own)}
"""


def _differs(content: Content) -> str:
    parts = "; ".join(
        f"{one['data']} holds {one['n_users']:,} of the paper's {one['published_users']:,} users"
        for one in content["estimates"]
        if one["data"].endswith("-part")
    )
    uncertain = 100 / (2 * (content["repeats"] - 1)) ** 0.5
    means, spreads = (f"{low:.2f} to {high:.2f}" for low, high in over_mle())
    return f"""## What differs

- Our fits of the five models are others than the paper's; the exact columns show by how much, and
  "scaled" allows for it in the value, not in the shape of the distribution.
- {parts or "The data are none of the paper's"}. The held-out items of citeulike-a are
  drawn here; the paper does not say how it split it.
- The paper's {NAMES["7"]} ({USERS["7"]:,} users) cannot be had. yelp-diffnet is another data set:
  its figures stand beside the published ones and are not counted against them.
- The paper does not say how many EM steps it took; 100 here, which is what its spreads look like.
  MES is solved with unweighted squares and η = 0.001 (the weighted form as printed gives half the
  spread). {label("WMLE")} is the weighted likelihood inside the tilted family: the printed equation
  estimates another distribution, and what is published is {means} times MLE, with {spreads} times
  its spread. It is not the paper's estimator, and what the paper says of WMLE is asked of it as
  such.
- A standard deviation over {content["repeats"]} repeats is itself uncertain by {uncertain:.0f} %,
  and so is the published one. All repeats of this page took {content["seconds_of_repeats"]:,.0f} s
  of one core.
"""


def _stated(outcome: Content) -> str:
    if "why" in outcome:
        return f"Not held against the paper: {outcome['why']}."
    if outcome["state"] == "on other data":
        return (
            f"**On other data**: {outcome['says']}: {_holds(outcome['holds'])}. What differs: "
            f"{outcome['differs']}."
        )
    return (
        f"**{outcome['state'].capitalize()}**: {_within(outcome)}. What differs: "
        f"{outcome['differs']}."
    )


def _within(outcome: Content) -> str:
    return (
        f"{outcome['within']} of {outcome['cells']} cells within, {100 * outcome['order']:.0f} % "
        f"of pairs in order ({outcome['two_sd']} within two published standard deviations)"
    )


def _said(outcome: Content) -> str:
    remark = f" What differs: {outcome['differs']}." if outcome["differs"] else ""
    return f"**{outcome['state'].capitalize()}**: {outcome['says']}.{remark}"


def _holds(value: bool | None) -> str:
    return "in part" if value is None else "holds" if value else "does not hold"


def _pair(one: dict[str, float]) -> str:
    return f"{one['mean']:.2f} ± {one['sd']:.2f}"


def _count(cells: list[Content], first: list[Content], key: str) -> str:
    """Of all cells, and of EASE's where there are any."""
    some = f" (EASE: {sum(cell[key] for cell in first)} of {len(first)})" if first else ""
    return f"{sum(cell[key] for cell in cells)} of {len(cells)} cells{some}"
