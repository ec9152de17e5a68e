"""One value: a metric of a sample is the same number in every output, to the last bit.

The test writes the table, over all metrics, kinds of ranks and outputs; to see it:

    pytest -s tests/cli/test_one_value.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank as fr
from fullrank import (
    FactorScorer,
    Interactions,
    compare,
    estimate,
    evaluate,
    jointly,
    rank,
    sample_ranks,
)
from fullrank import metrics as metric_names
from fullrank._lib.text import decimals
from fullrank.data import Split

METRICS = [name + cut for name in metric_names.names() for cut in ("", "@10", "@25")]
Results = Mapping[str, Any]


def some_data(per_user: int) -> tuple[dict[str, FactorScorer], Split]:
    """Two factor models of one taste, and users with one held-out item or several."""
    rng = np.random.default_rng(per_user)
    n_users, n_items = 250, 400
    users, items = rng.normal(size=(n_users, 6)), rng.normal(size=(n_items, 6))
    liked = np.argsort(-(users @ items.T + 1.5 * rng.normal(size=(n_users, n_items))), axis=1)
    ids = {"user_ids": [f"u{u}" for u in range(n_users)],
           "item_ids": [f"i{i}" for i in range(n_items)]}  # fmt: skip
    parts = []
    for span in (slice(per_user, per_user + 8), slice(0, per_user)):
        who = np.repeat(np.arange(n_users), span.stop - span.start)
        what = liked[:, span].ravel()
        parts.append(
            Interactions.from_arrays(
                np.array(ids["user_ids"])[who], np.array(ids["item_ids"])[what], **ids
            )
        )
    scorers = {
        name: FactorScorer(users, items + noise * rng.normal(size=items.shape), **ids)
        for name, noise in (("a", 0.2), ("b", 0.5))
    }
    return scorers, Split(train=parts[0], test=parts[1])


def ranked(kind: str) -> tuple[Results, dict[str, FactorScorer], Split]:
    """The ranks of both models."""
    scorers, split = some_data(3 if kind == "several targets" else 1)
    how: dict[str, Callable[..., Any]] = {
        "exact": rank,
        "fixed": lambda *a, **k: sample_ranks(*a, design="sampled:60", rng=0, **k),
        "joint": lambda *a, **k: sample_ranks(*a, design="sampled:60", rng=0, **k),
        "adaptive": lambda *a, **k: sample_ranks(*a, design="adaptive:20", rng=0, **k),
        "several targets": lambda *a, **k: sample_ranks(*a, design="sampled:60", rng=0, **k),
    }
    excluded = {"exclude": split.train}
    found = {name: how[kind](one, split.test, **excluded) for name, one in scorers.items()}
    if kind == "joint":  # whose shape is in the samples, and in their files
        found = jointly(found)
    return found, scorers, split


def outputs(kind: str, folder: Path, fullrank: Callable[..., Any]) -> dict[str, Results]:
    """Output to model to metric to value, as each output has it."""
    ranks, scorers, split = ranked(kind)
    table: dict[str, dict[str, dict[str, float]]] = {}
    estimates = estimate(ranks, metrics=METRICS)
    table["estimate"] = {name: dict(one.values) for name, one in estimates.items()}
    compared = compare(ranks, METRICS, rng=0)
    table["compare"] = {
        name: dict(zip(compared.metrics, compared.estimate[at].tolist(), strict=True))
        for at, name in enumerate(compared.models)
    }

    report = fr.report(ranks, metrics=METRICS, bounds=False, rng=0)
    table["report"] = {
        one.name: {metric: value.estimate for metric, value in one.values.items()}
        for one in report.models
    }
    frame = estimates.to_frame()
    table["frame"] = {
        name: dict(zip(rows["metric"], rows["estimate"].tolist(), strict=True))
        for name, rows in frame.groupby("model")
    }
    if kind == "exact":
        table["rank(...).metrics"] = {name: one.metrics(METRICS) for name, one in ranks.items()}
        run = evaluate(scorers, split, metrics=METRICS)
        table["evaluate"] = {name: dict(one.values) for name, one in run.estimates.items()}
        table["complete sample"] = {
            name: dict(estimate(one.sample(), metrics=METRICS).values)
            for name, one in ranks.items()
        }
        table["counts of them"] = {
            name: dict(estimate(one.without_rows(), metrics=METRICS).values)
            for name, one in ranks.items()
        }
    options = [word for metric in METRICS for word in ("-m", metric)]
    files = {name: folder / f"{name}.parquet" for name in ranks}
    for name, one in ranks.items():
        one.write(files[name])
    table["fullrank estimate"] = {
        name: {entry["metric"]: entry["estimate"]
               for entry in said(fullrank, "estimate", path, *options)["metrics"]}
        for name, path in files.items()
    }  # fmt: skip
    several = [f"{name}={path}" for name, path in files.items()]
    table["fullrank compare"] = {
        entry["model"]: {one["metric"]: one["estimate"] for one in entry["metrics"]}
        for entry in said(fullrank, "compare", *several, *options)["models"]
    }
    page = folder / "report.html"
    content = said(fullrank, "report", *several, *options, "--out", page)
    table["fullrank report"] = {
        entry["model"]: {one["metric"]: one["estimate"] for one in entry["metrics"]}
        for entry in content["models"]
    }
    texts = {
        "text": str(estimates),
        "Markdown": estimates.to_markdown(),
        "LaTeX": estimates.to_latex(),
        "compare's Markdown": compared.to_markdown(),
        "compare's LaTeX": compared.to_latex(),
        "report's Markdown": report.to_markdown(),
        "report's LaTeX": report.to_latex(),
        "report's page": page.read_text("utf-8"),
    }
    for name, text in texts.items():  # what is printed is the value, with the same digits
        table[name] = {
            model: {
                metric: value if f"{value:.{decimals(value)}f}" in text else float("nan")
                for metric, value in values.items()
            }
            for model, values in table["estimate"].items()
        }
    return table


def shown(table: Mapping[str, Results]) -> str:
    """Metric by metric the value of each model, and in how many outputs it is that value."""
    lines = ["| metric | a | b | outputs alike |", "| --- | --- | --- | --- |"]
    for metric in table["estimate"]["a"]:
        values = [table["estimate"][model][metric] for model in ("a", "b")]
        alike = sum(
            all(models[model][metric] == value for model, value in zip("ab", values, strict=True))
            for models in table.values()
        )
        lines.append(f"| {metric} | {values[0]!r} | {values[1]!r} | {alike} of {len(table)} |")
    return "\n".join(lines)


def said(fullrank: Callable[..., Any], *words: object) -> Any:
    done = fullrank(*words, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.mark.parametrize("kind", ["exact", "fixed", "adaptive"])
def test_a_value_does_not_depend_on_what_else_is_asked_for(kind: str) -> None:
    ranks = ranked(kind)[0]["a"]
    alone = estimate(ranks, metrics="ndcg@10")
    beside = estimate(ranks, metrics=["recall@300", "ndcg@10", "auc"])
    assert alone["ndcg@10"] == beside["ndcg@10"]
    assert alone.confidence_interval["ndcg@10"] == pytest.approx(
        beside.confidence_interval["ndcg@10"], rel=1e-9
    )


KINDS = ("exact", "fixed", "joint", "adaptive", "several targets")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_output_has_the_same_value(
    kind: str, tmp_path: Path, fullrank: Callable[..., Any], need: Any
) -> None:
    need("pandas")
    need("jinja2")
    table = outputs(kind, tmp_path, fullrank)
    first = table["estimate"]
    assert set(first) == {"a", "b"}
    assert all(len(values) == len(METRICS) for values in first.values())
    sys.stdout.write(f"\n{kind}: {len(table)} outputs: {', '.join(table)}\n{shown(table)}\n")
    differ = [
        (output, model, metric, value, first[model][metric])
        for output, models in table.items()
        for model, values in models.items()
        for metric, value in values.items()
        if value != first[model][metric]
    ]
    assert differ == []
    assert {len(values) for models in table.values() for values in models.values()} == {24}
