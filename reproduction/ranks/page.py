"""The page of the kept ranks, from nothing but their study's JSON."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from reproduction.study import table

METRICS = ("recall@10", "ndcg@10", "ap@10")


def page(content: dict[str, Any]) -> str:
    every = content["data"]
    sections = "\n\n".join(_section(one) for one in every)
    names = ", ".join(one["name"] for one in every)
    return f"""# Exact ranks of five models

The other studies of the papers repeat the sampling, not the training: they all start from the exact
ranks of five models on {names}, which are
kept here as `ranks/NAME.npz` (training items among the candidates, as in the papers) and
`ranks/NAME-excluded.npz` (how many training items stand above the test item; the rank without them
is the difference). One rank for each test user, among all items of the catalogue, equal scores in
random order. The files hold numbers of the models' making, and neither users, items nor
interactions of the data sets, most of which may not be passed on.

Settings are chosen by {content["tuned_by"]} on validation items, training items kept, since that is
how the papers rank; they are not settings for recommending new items. All metrics are at 10, in
thousandths. "Published" is the column of exact values in Jin et al. (AAAI 2021), where ALS stands
for iALS; the paper gives no settings, so that its models are other ones than these.

{_summary(content)}

![Share of test items among the first K, by model and data set](ranks-shares.svg)

The share of the users whose test item stands among the first K, training items kept. An estimator
sees none of this but a sample of the items.

{sections}

## What is tried

All combinations of these, on all data but ml-1m, where larger grids were searched by other studies;
where fewer were tried than there are, the time was up and the best so far was taken:

{_grids(content)}

Chosen at an end of three values or more, beyond which something better may lie: {_ends(content)}.

Validation items alone decide within the grids; itemKNN's was drawn up anew after a first one on
citeulike-a, of which test figures had been seen too. Neural models are trained on all training
items for as many epochs, at the same rates, as were best on the validation items.

Where the fits were made that are kept: {_devices(content)}.
"""


def _grids(content: dict[str, Any]) -> str:
    lines = []
    for model, grid in content["grids"].items():
        tried = "; ".join(f"{name} {', '.join(map(_plain, v))}" for name, v in grid.items())
        fixed = ", ".join(f"{name} {_plain(v)}" for name, v in content["fixed"][model].items())
        lines.append(f"- {model}: {tried}." + (f" All with {fixed}." if fixed else ""))
    return "\n".join(lines)


def _ends(content: dict[str, Any]) -> str:
    found: dict[str, list[str]] = {}
    for one in content["data"]:
        for model in (model for model in one["models"] if model["source"] is None):
            for name, values in content["grids"][model["model"]].items():
                if len(values) > 2 and model["settings"][name] in (min(values), max(values)):
                    text = f"{model['model']}'s {name} {_plain(model['settings'][name])}"
                    found.setdefault(text, []).append(one["name"])
    return "; ".join(f"{text} ({', '.join(names)})" for text, names in found.items()) or "nothing"


def _devices(content: dict[str, Any]) -> str:
    used: dict[str, list[str]] = {}
    for model in (model for one in content["data"] for model in one["models"]):
        names = used.setdefault(model["device"], [])
        names += [model["model"]] if model["model"] not in names else []
    return "; ".join(f"{device}: {', '.join(names)}" for device, names in sorted(used.items()))


def figures(content: dict[str, Any], folder: Path) -> None:
    from reproduction.common.figures import drawing, line

    every, columns = content["data"], 3
    rows = -(-len(every) // columns)
    with drawing(folder / "ranks-shares.svg", rows=rows, columns=columns, height=2.4) as axes:
        for axis, one in zip(axes, every, strict=False):
            cut_offs = [k for k in content["cut_offs"] if k <= one["n_items"]]
            for model in one["models"]:
                axis.plot(cut_offs, model["within"][: len(cut_offs)], **line(model["model"]))
            axis.set(xscale="log", yscale="log", title=one["name"], xlabel="K", ylabel="Recall@K")
            axis.minorticks_off()
        axes[0].legend()
        for axis in axes[len(every) :]:
            axis.set_visible(False)


def _summary(content: dict[str, Any]) -> str:
    if not content["exact"]:
        return "No exact metrics of these data are published that these could stand beside."
    sizes = {one["name"]: one for one in content["data"]}
    rows = []
    for one in content["exact"]:
        data = sizes[one["data"]]
        rows.append(
            (
                f"{one['data']} ({one['item']})",
                f"{one['within']} of {one['cells']}",
                f"{one['median_percent']:.0f} %",
                f"{one['order']:.0%} of {one['pairs']}",
                f"{_winner(data, 'published')} / {_winner(data, 'kept')}",
                one["differs"],
            )
        )
    head = ["data", "within 15 %", "median distance", "pairs in order", "best model", "differs"]
    return f"""Published beside measured, over the five models and three metrics; "pairs in order"
are pairs of models whose published values differ by more than 3 %, and "best model" by Recall@10 is
the published one and ours:

{table(head, rows)}

Recall@10 as a share of the published one, where they are more than 15 % apart: {_apart(content)}.
With training items among the candidates a model that has learned its users' histories by heart puts
them above the test item. How far it does so depends on its settings; the paper's are not known."""


def _apart(content: dict[str, Any]) -> str:
    found = []
    for one in content["data"]:
        if one["published"] is None or not one["published"]["same"]:
            continue
        shares = {
            model["model"]: model["kept"][METRICS[0]] / model["published"][METRICS[0]]
            for model in one["models"]
        }
        far = [f"{name} {share:.0%}" for name, share in shares.items() if abs(share - 1) > 0.15]
        found += [f"{one['name']}: {', '.join(far)}"] if far else []
    return "; ".join(found) or "none"


def _winner(data: dict[str, Any], which: str) -> str:
    found: str = max(data["models"], key=lambda one: one[which][METRICS[0]])["model"]
    return found


def _section(one: dict[str, Any]) -> str:
    # the mean of the models' recalls will do for an error that is much the same for all
    recall = sum(model["kept"][METRICS[0]] for model in one["models"]) / len(one["models"]) / 1000
    error = 1000 * math.sqrt(recall * (1 - recall) / one["n_users"])
    published = one["published"]
    source = "" if published is None else f" Published: {published['item']}."
    rows = [
        (model["model"], *(_three(model[which]) for which in ("kept", "published", "excluded")))
        for model in one["models"]
    ]
    head = ["model", "Recall / NDCG / AP", "published", "training items excluded"]
    return f"""## {one["name"]}

{one["n_users"]:,} test users, {one["n_items"]:,} items, {one["n_train"]:,} interactions of
{one["n_learned_from"]:,} users to learn from. Split: {one["split"]}. The standard error of a
Recall is about {error:.1f}.{source}

{table(head, rows)}

{table(["model", "chosen", "epochs", "tried", "Recall on validation items"], _chosen(one))}"""


def _three(found: dict[str, float] | None) -> str:
    return "–" if found is None else " / ".join(f"{found[name]:.2f}" for name in METRICS)


def _chosen(one: dict[str, Any]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for model in one["models"]:
        best = [t for t in model["tried"] if t["settings"] == model["settings"]]
        source = model["source"]
        tried = f"{len(model['tried'])} of {model['of']}"
        if source is not None:
            path = f"[{source}](../studies/{source}.md)"
            tried = "λ of the reference figures" if source == "reference" else f"in {path}"
        rows.append(
            (
                model["model"],
                ", ".join(f"{name} {_plain(value)}" for name, value in _own(model).items()),
                str(model["epochs"] or "–"),
                tried,
                f"{best[0]['metrics'][METRICS[0]]:.3f}" if best else "–",  # as it was kept
            )
        )
    return rows


def _own(model: dict[str, Any]) -> dict[str, Any]:
    """The settings that say what the model is, rather than when its training stops."""
    stops = ("metric", "patience", "min_learning_rate", "epochs")
    return {name: value for name, value in model["settings"].items() if name not in stops}


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return "–".join(map(str, value)) or "none"
    return value if isinstance(value, str) else f"{value:g}"
