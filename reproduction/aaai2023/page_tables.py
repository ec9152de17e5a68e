"""Errors and winners, published beside measured: the tables of the page of aaai2023."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from reproduction.aaai2021.published import label
from reproduction.aaai2023 import published as printed
from reproduction.aaai2023.tables import BESIDE, Content, pair, rows_of, scale, standing
from reproduction.study import table

LABELS = {"recall": "Recall", "ndcg": "NDCG", "ap": "AP"}
ADAPTIVE = (
    ("adaptive 100", ("MLE", "MN_MLE", "smoothed")),
    ("adaptive 25", ("MLE", "MN_MLE", "smoothed", "bounds")),
)
AVERAGED = tuple(f"{name}, averaged" for name in printed.FOUR)
REST = ("smoothed", "WMLE", "BV 0.1", "CLS", "naive", "bounds")
# metric, sample size, what stands below it, and where it is published
SECTIONS = (
    ("recall", 100, ("fixed 100 without",), (printed.RECALL_100,)),
    ("ap", 100, ("fixed 100 without",), (printed.AP_100,)),
    ("ndcg", 500, ("fixed 1000",), (printed.NDCG_500, printed.NDCG_ADAPTIVE)),
    ("recall", 500, ("fixed 1000",), (printed.RECALL_ADAPTIVE,)),
)


def section(
    content: Content, metric: str, size: int, more: Iterable[str], tables: Iterable[printed.Table]
) -> str:
    items = [item for one in tables for item in one.items]
    beside = " and adaptive samples" if size == 500 else ""
    parts = [f"## {LABELS[metric]} from {size} items{beside}\n\n{', '.join(items)}.\n"]
    designs = [f"fixed {size}", *(one for one in more if one in content["designs"])]
    for data in content["data"]:
        published = _published(content, data, tables)
        parts.append(_caption(content, data, bool(published)))
        parts.append(_errors(content, data, metric, designs, size == 500, published) + "\n")
    return "\n".join(parts)


def _stood_for(content: Content, data: str) -> str | None:
    """The published data set that stands in the brackets."""
    for name in printed.DATA:
        if data in (standing(content, name), BESIDE.get(name)):
            return name
    return None


def _published(
    content: Content, data: str, tables: Iterable[printed.Table]
) -> dict[tuple[str, str, str], tuple[float, float]]:
    """By design, estimator and model; scaled where users are missing."""
    name = _stood_for(content, data)
    found = {}
    for one in tables if name else ():
        assert name is not None
        factor = 1.0 if BESIDE.get(name) == data else scale(content, name)
        for model, columns in one.cells[name].items():
            for column, (mean, sd) in columns.items():
                key = _placed(column, one.size(name))
                grown = 1.0 if column == "size" else factor
                found[(*key, model)] = grown * mean, grown * sd
    return found


def _placed(column: str, size: int) -> tuple[str, str]:
    if column in ("adaptive MLE", "size"):
        return "adaptive 100", {"adaptive MLE": "MLE"}.get(column, column)
    if column in printed.FOUR:
        return f"fixed {size}", f"{column}, averaged"
    return f"fixed {size}", {"BV": "BV 0.01"}.get(column, column)


def _caption(content: Content, data: str, published: bool) -> str:
    name = _stood_for(content, data) if published else None
    if name is None:
        return f"**{data}**, not in the papers.\n"
    if BESIDE.get(name) == data:
        return f"**{data}**; in brackets what is published for {name}, which is other data.\n"
    factor = scale(content, name)
    if factor == 1.0:
        return f"**{data}**; in brackets the published figures.\n"
    return (
        f"**{data}**; in brackets what is published for {name}, times {factor:.2f} because "
        f"{content['data'][data]['n_users']:,} of its {printed.USERS[name]:,} users are here (for "
        "an error that is mostly bias this is too much).\n"
    )


def _errors(
    content: Content,
    data: str,
    metric: str,
    designs: list[str],
    adaptive: bool,
    published: dict[tuple[str, str, str], tuple[float, float]],
) -> str:
    rows = rows_of(content)
    models = list(dict.fromkeys(model for name, model, _ in rows if name == data))
    names = (*printed.SEVEN[:2], "BV 0.01", *AVERAGED, *printed.FOUR, *REST)
    lines = [(designs[0], name) for name in names]
    for design in designs[1:]:  # 000 has 1,000 items for ml-20m
        held = [name for name in AVERAGED if (design, name, models[0]) in published]
        lines += [(design, name) for name in ("MLE", *held, "MN_MES", "smoothed", "bounds")]
    if adaptive:
        lines += [(design, name) for design, each in ADAPTIVE for name in each]
    body = []
    for design, name in lines:
        each = [rows[data, model, design] for model in models]
        if name not in each[0]["errors"]:
            continue
        cells = [
            _cell(pair(row, name, metric), published.get((design, name, row["model"])))
            for row in each
        ]
        size = f"{statistics.fmean(row['size'] for row in each):.0f}"
        shown = "bounds, middle" if name == "bounds" else label(name)
        body.append((design, size, shown, *cells))
    if adaptive:
        each = [rows[data, model, "adaptive 100"] for model in models]
        cells = [
            _cell(
                (row["size"], row["size_spread"]),
                published.get(("adaptive 100", "size", row["model"])),
            )
            for row in each
        ]
        body.append(("adaptive 100", "", "items a user", *cells))
    return table(["design", "items", "estimator", *models], body)


def _cell(found: tuple[float, float], published: tuple[float, float] | None) -> str:
    text = f"{found[0]:.2f} ± {found[1]:.2f}"
    return text if published is None else f"{text} ({published[0]:.2f} ± {published[1]:.2f})"


WINNING = (
    *(("fixed 500", name) for name in ("naive", "MES", "MLE", "BV 0.01")),
    *(("fixed 500", name) for name in (*AVERAGED, *printed.FOUR, "smoothed")),
    ("adaptive 100", "MLE"),
    ("adaptive 100", "smoothed"),
    ("adaptive 25", "MLE"),
    ("adaptive 25", "smoothed"),
)


_ON_WINNERS = """## Which model is best

000 Tables 3 and 8, 003 Table 5: of 100 samples, how many name the model that is best by exact
ranks. How hard a row is depends on how close its two best models are, which are not those of the
paper.
"""


def winners_section(content: Content) -> str:
    parts = [_ON_WINNERS]
    right = {(one["data"], one["design"]): one for one in content["winners"]}
    for data in content["data"]:
        name = _stood_for(content, data)
        printed_right = printed.WINNERS.get(name or "", {})
        best = right[data, "fixed 500"]["best"]
        body = []
        for design, estimator in WINNING:
            each = right[data, design]["by_metric"]
            cells = []
            for metric in best:
                column = _column(design, estimator)
                there = printed_right.get(metric, {}).get(column or "")
                held = "" if there is None else f" ({there})"
                cells.append(f"{each[metric][estimator]:.0f}{held}")
            mean = right[data, design]["right"][estimator]
            body.append((design, estimator, *cells, f"{mean:.0f}"))
        heading = [f"{metric} ({model})" for metric, model in best.items()]
        where = f"; in brackets what is published for {name}" if name else ""
        other = ", which is other data" if name and BESIDE.get(name) == data else ""
        parts.append(f"**{data}**{where}{other}. Beside each metric the best model.\n")
        parts.append(table(["design", "estimator", *heading, "mean"], body) + "\n")
    return "\n".join(parts)


def _column(design: str, estimator: str) -> str | None:
    """The published column that a row is held to."""
    if (design, estimator) == ("adaptive 100", "MLE"):
        return "adaptive MLE"
    if design != "fixed 500":
        return None
    name = {"BV 0.01": "BV"}.get(estimator, estimator.removesuffix(", averaged"))
    return name if name not in printed.FOUR or "averaged" in estimator else None
