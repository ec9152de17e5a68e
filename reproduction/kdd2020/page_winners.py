"""The winners on the page of the study kdd2020."""

from __future__ import annotations

from typing import Any

from reproduction.study import table


def winner_tables(content: dict[str, Any]) -> str:
    """SHR@k and HR@f(k) of the three best models of each data set."""
    rows = []
    for one in content["winners"]:
        models = one["competing"]
        for row in one["rows"]:
            sampled = {model: row["sampled"][model]["mean"] for model in models}
            exact = {model: row["exact"][model] for model in models}
            rows.append(
                (
                    one["data"],
                    row["k"],
                    f"{row['place']:,}",
                    " / ".join(models),
                    _bold(sampled),
                    _bold(exact),
                )
            )
    head = ["data", "k", "f(k)", "models", "SHR@k", "HR@f(k)"]
    kept = [
        (
            one["data"],
            f"{one['winner_kept_in_expectation']} of {one['of']}",
            f"{one['winner_kept_percent']:.1f}",
            f"{one['order_kept_percent']:.1f}",
        )
        for one in content["winners"]
    ]
    heads = [
        "data",
        "same winner in expectation, k = 1 to 50",
        "same winner in one draw, %",
        "same order of two models in one draw, %",
    ]
    return f"{table(head, rows)}\n\nOf all models, SHR@k beside HR@f(k):\n\n{table(heads, kept)}"


def _bold(values: dict[str, float]) -> str:
    best = max(values.values())
    return " / ".join(
        f"**{value:.4f}**" if value == best else f"{value:.4f}" for value in values.values()
    )


def named_table(content: dict[str, Any]) -> str:
    """How often each way to read HR@K names the best model."""
    ways = list(content["winners"][0]["named"][0]["right_percent"])
    rows = []
    for one in content["winners"]:
        for row in one["named"]:
            first, second = sorted(row["exact"].values(), reverse=True)[:2]
            rows.append(
                (
                    one["data"],
                    row["K"],
                    row["best"],
                    f"{first - second:.4f}",
                    *(f"{row['right_percent'][way]:.0f}" for way in ways),
                )
            )
    columns: list[list[float]] = [
        [row["right_percent"][way] for one in content["winners"] for row in one["named"]]
        for way in ways
    ]
    rows.append(("mean", "", "", "", *(f"{sum(c) / len(c):.0f}" for c in columns)))
    return table(["data", "K", "best", "ahead by", *ways], rows)
