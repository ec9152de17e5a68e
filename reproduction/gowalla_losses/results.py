"""Results of the runs of the study of losses: the best of each case, curves, stored ranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.losses import LOSSES
from reproduction.common.kept import keep_arrays, stored
from reproduction.gowalla_losses.runs import World, rank_levels, ranked, ranks_file
from reproduction.gowalla_losses.settings import CASES, METRICS, Sweep

Record = dict[str, Any]


def case(known: list[Record], name: str) -> dict[str, Any] | None:
    """A case: its candidates, the best one, and the metrics of that one on the test part."""
    candidates = ranked(known, name)
    if not candidates:
        return None
    chosen = candidates[0]
    own = [one for one in known if one["case"] == name]
    tests = sorted(
        (
            one
            for one in own
            if one["kind"] == "refit" and one["settings"] | {"seed": 0} == chosen["settings"]
        ),
        key=lambda one: int(one["settings"]["seed"]),
    )
    return {
        "published": dict(zip(METRICS, CASES[name].published, strict=True)),
        "as_published": CASES[name].as_published,
        "similarity": chosen["settings"].get("similarity") or LOSSES[CASES[name].loss].similarity,
        "settings": chosen["settings"],
        "validation": {metric: round(chosen[metric], 3) for metric in METRICS},
        "seeds": [one["settings"]["seed"] for one in tests],
        "test": {metric: [round(one[metric], 3) for one in tests] for metric in METRICS},
        "fit_seconds": [round(one["seconds"], 1) for one in tests],
        "pairs_per_second": [round(one["pairs_per_second"]) for one in tests],
        "search": [
            {"settings": one["settings"], **{metric: round(one[metric], 3) for metric in METRICS}}
            for one in candidates
        ],
    }


def points(sweep: Sweep, name: str, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """The settings of a case with one of them varied, what was chosen among its values."""
    kind = type(settings[sweep.setting])
    each = sorted({*(sweep.values.get(name) or sweep.values[""]), settings[sweep.setting]})
    short = {"epochs": min(settings["epochs"], 12), "batch_size": max(settings["batch_size"], 2048)}
    return [settings | short | {sweep.setting: kind(value)} for value in each]


def swept(known: list[Record], cases: dict[str, Any], sweep: Sweep) -> dict[str, Any]:
    """Recall@20 on the test part at each value of a setting, for each case."""
    found = {
        (one["case"], json.dumps(one["settings"], sort_keys=True)): one
        for one in known
        if one["kind"] == "figure"
    }
    curves = {}
    for name in sweep.cases:
        if name not in cases:
            continue
        settings = points(sweep, name, cases[name]["settings"])
        runs = [found.get((name, json.dumps(one, sort_keys=True))) for one in settings]
        curve = [
            [one[sweep.setting], round(got["recall@20"], 3)]
            for one, got in zip(settings, runs, strict=True)
            if got is not None
        ]
        if len(curve) > 1:
            epochs = settings[0]["epochs"]
            curves[name] = {
                "chosen": cases[name]["settings"][sweep.setting],
                "epochs": epochs,
                "points": curve,
            }
    return {"setting": sweep.setting, "curves": curves}


def keep_ranks(path: Path, folder: Path, cases: dict[str, Any], data: World) -> None:
    """The ranks of seed 0 by case, user by user: `levels[codes]`, of what was chosen."""
    levels = rank_levels(data.train.n_items)
    codes: dict[str, Any] = {}
    for name, one in cases.items():
        source = ranks_file(folder, name, seed=0)
        if not source.is_file():
            continue
        with np.load(source) as found:
            if json.loads(str(found["settings"])) == one["settings"]:
                at = np.searchsorted(levels, found["ranks"], side="right") - 1
                codes[name] = at.astype(np.uint8)
    if codes:
        path.parent.mkdir(parents=True, exist_ok=True)
        counts = data.test.user_counts().astype(np.uint16)
        keep_arrays(path, levels=levels, user_counts=counts, **codes)


def popular(data: World) -> dict[str, float]:
    """Of the pairs held out and of the test pairs, the percentage with an item of the first 200."""
    counts = np.bincount(data.train.indices, minlength=data.train.n_items)
    first = np.zeros(counts.size, bool)
    first[np.argsort(-counts, kind="stable")[:200]] = True
    parts = {"held out": data.valid, "test": data.test}
    return {name: round(100 * float(first[part.indices].mean()), 2) for name, part in parts.items()}


def others() -> dict[str, dict[str, float]]:
    """The other rows of Table 13 that the study of models on Gowalla has."""
    found = stored("gowalla_models")["models"]["iALS 64"]["test"]
    return {"iALS": {metric: found[metric]["mean"] for metric in METRICS}}
