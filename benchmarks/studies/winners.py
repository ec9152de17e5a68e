"""How often each estimator names the model that is really best.

After Table 5 of the dissertation (003, section 2.8.5): 100 repeats, metrics at K = 5, 10 and 20;
fixed samples of 500 with replacement, and adaptive ones from 100 to 3200. Every model has draws of
its own. FULLRANK_DATA names the folder of pinterest-20-part.parquet. What has been computed is
kept beside the ranks, so that a run that was stopped goes on where it was.

    python benchmarks/studies/winners.py [--quick]
"""

from __future__ import annotations

import argparse
import time
import zlib
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from _study import METRICS, MODELS, QUICK, Ranks, adaptive_levels, exact_ranks, in_processes, run
from _study import table as markdown

from fullrank.data import Interactions
from fullrank.estimators import bv, mes, mle, mn, smoothed
from fullrank.inference.winning import winner
from fullrank.metrics import parse
from fullrank.models import EASE
from fullrank.sampling import RankDistribution, RankGrid, RankSample, simulate

Masses = dict[str, np.ndarray]

KS = (5, 10, 20)
ASKED = [f"{metric}@{k}" for k in KS for metric in METRICS]
SIZE, START, LIMIT = 500, 100, 3200
EM_FIXED, EM_ADAPTIVE = 100, 50
TAIL = 100  # bins beyond the ranks kept one by one: some 1e-4 from finer grids, at half the cost
DRAWN = (300, 1000, 3000, 10_000, 30_000)  # users, for the probabilities that `winner` states
STEPS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.01)
CHUNK = 10  # repeats between two writings
FIXED = ("MES", "MLE", "BV", "BV_MES", "BV_MLE", "MN_MES", "MN_MLE", "smoothed")
ADAPTIVE = ("adaptive MLE", "adaptive smoothed")
ESTIMATORS = ("naive", *FIXED, *ADAPTIVE)
# Table 5, pinterest-20 among EASE, MultiVAE, NeuMF, itemKNN and ALS: of 100 repeats
PUBLISHED = {
    "estimators": ["MES", "MLE", "BV", "BV_MES", "BV_MLE", "MN_MES", "MN_MLE", "adaptive MLE"],
    "recall@5": [53, 56, 61, 54, 57, 53, 53, 69],
    "ndcg@5": [51, 54, 60, 52, 54, 51, 52, 71],
    "ap@5": [51, 53, 58, 51, 53, 51, 51, 60],
    "recall@10": [66, 66, 69, 69, 73, 67, 69, 78],
    "ndcg@10": [55, 58, 65, 58, 59, 58, 60, 84],
    "ap@10": [53, 55, 61, 54, 57, 52, 52, 68],
    "recall@20": [69, 69, 75, 69, 73, 70, 74, 81],
    "ndcg@20": [69, 69, 78, 69, 73, 68, 73, 79],
    "ap@20": [55, 58, 62, 57, 60, 54, 56, 69],
}


def _item_knn(train: Interactions, _: float) -> Any:
    from fullrank.models.item_knn import ItemKNN

    return ItemKNN(n_neighbors=200).fit(train)


def _ease(train: Interactions, _: float) -> Any:
    return EASE(regularization=3000.0).fit(train)


MODELS.update({"EASE 3000": _ease, "itemKNN": _item_knn})
COMPARED = ("EASE", "EASE 3000", "itemKNN", "SVD 64")
QUICKLY = ("EASE", "itemKNN", "SVD 64")


def study(asked: argparse.Namespace) -> dict[str, Any]:
    name = QUICK if asked.quick else "pinterest-20-part"
    models = QUICKLY if asked.quick else COMPARED
    known = {model: exact_ranks(name, model, False, asked.cache) for model in models}
    exact = np.array(
        [[parse(m).weights(one.ranks, one.n_items).mean() for m in ASKED] for one in known.values()]
    )
    parts = [
        _repeats(model, one, asked, asked.cache / f"winners-{name}-{model}.npz")
        for model, one in known.items()
    ]
    found = np.stack([values for values, _ in parts], axis=1)
    # repeats, models, estimators, metrics
    named = found.argmax(axis=1)
    right = (named == exact.argmax(axis=0)).mean(axis=0)
    return {
        "data": name,
        "n_users": int(known["EASE"].ranks.size),
        "n_items": known["EASE"].n_items,
        "sample_size": _size(known["EASE"].n_items),
        "adaptive_levels": _levels(known["EASE"].n_items),
        "seconds": round(sum(seconds for _, seconds in parts), 1),  # of all runs
        "models": list(models),
        "metrics": ASKED,
        "exact": {
            metric: dict(zip(models, np.round(exact[:, j], 6).tolist(), strict=True))
            for j, metric in enumerate(ASKED)
        },
        "best": {m: models[int(i)] for m, i in zip(ASKED, exact.argmax(axis=0), strict=True)},
        "right_percent": {
            estimator: dict(zip(ASKED, np.round(100 * right[e], 2).tolist(), strict=True))
            for e, estimator in enumerate(ESTIMATORS)
        },
        "published": PUBLISHED,
        "stated": _stated(known, exact.argmax(axis=0), asked.repeats),
    }


def _stated(known: dict[str, Ranks], best: np.ndarray, repeats: int) -> list[dict[str, Any]]:
    """How often the model that `winner` names is the best, by the probability it gives it.

    Exact ranks of users drawn with replacement: all users of the file are the population.
    """
    values = [
        np.stack([parse(m).weights(one.ranks, one.n_items) for m in ASKED], axis=1)
        for one in known.values()
    ]
    stated, right = [], []
    for n_users, seed in product(DRAWN, range(repeats)):
        rng = np.random.default_rng([seed, n_users])
        users = rng.integers(len(values[0]), size=n_users)
        results = {
            model: dict(zip(ASKED, one[users].T, strict=True))
            for model, one in zip(known, values, strict=True)
        }
        found = winner(results, ASKED, n_draws=5000, rng=rng)
        named = found.probability.argmax(axis=0)
        stated.append(found.probability.max(axis=0))
        right.append(named == best)
    p, hit = np.concatenate(stated), np.concatenate(right)
    cells = []
    for low, high in pairwise(STEPS):
        inside = (p >= low) & (p < high)
        if inside.any():
            cells.append(
                {
                    "from": low,
                    "below": high,
                    "runs": int(inside.sum()),
                    "stated_percent": round(100 * float(p[inside].mean()), 2),
                    "right_percent": round(100 * float(hit[inside].mean()), 2),
                }
            )
    return cells


def _repeats(
    model: str, known: Ranks, asked: argparse.Namespace, path: Path
) -> tuple[np.ndarray, float]:
    """(repeats, estimators, metrics), those that are kept and the others computed; seconds."""
    grid = RankGrid.default(known.n_items, tail=TAIL)
    kept, seconds = np.empty((0, len(ESTIMATORS), len(ASKED))), 0.0
    if path.is_file():
        with np.load(path) as content:
            if content["estimators"].tolist() == list(ESTIMATORS):
                kept, seconds = content["values"], float(content["seconds"])
    work = partial(_repeat, model=model, known=known, grid=grid)
    while len(kept) < asked.repeats:
        start = time.perf_counter()
        seeds = range(len(kept), min(asked.repeats, len(kept) + CHUNK))
        new = np.array(in_processes(work, seeds, asked.jobs))
        kept = np.concatenate([kept, new])
        seconds += time.perf_counter() - start
        np.savez(path, estimators=np.array(ESTIMATORS), values=kept, seconds=seconds)
        print(f"{model}: {len(kept)} of {asked.repeats}", flush=True)
    return kept[: asked.repeats], seconds


def _repeat(seed: int, model: str, known: Ranks, grid: RankGrid) -> np.ndarray:
    """Every estimator's metrics, from one fixed and one adaptive sample."""
    rng = np.random.default_rng([seed, zlib.crc32(model.encode())])
    n = known.n_items
    fixed = simulate(known.ranks, n_items=n, sample_size=_size(n), replacement=True, rng=rng)
    adaptive = simulate(known.ranks, n_items=n, levels=_levels(n), replacement=True, rng=rng)
    gains = np.array([grid.averages(parse(m)) for m in ASKED])
    masses = _fixed(fixed, grid) | {
        "adaptive MLE": mle(adaptive, iterations=EM_ADAPTIVE, grid=grid).mass,
        "adaptive smoothed": smoothed(adaptive, grid=grid).mass,
    }
    naive = np.array([fixed.naive(m) for m in ASKED])
    return np.stack([naive, *(gains @ masses[e] for e in (*FIXED, *ADAPTIVE))])


def _fixed(sample: RankSample, grid: RankGrid) -> Masses:
    """Of a fixed sample; the priors come from the sample itself."""
    priors: dict[str, RankDistribution] = {
        "MES": mes(sample, grid=grid),
        "MLE": mle(sample, iterations=EM_FIXED, grid=grid),
    }
    found = {name: one.mass for name, one in priors.items()}
    found["BV"] = bv(sample, grid=grid).mass
    for name, prior in priors.items():
        found[f"BV_{name}"] = bv(sample, prior=prior, grid=grid).mass
        found[f"MN_{name}"] = mn(sample, prior=prior, grid=grid).mass
    found["smoothed"] = smoothed(sample, grid=grid).mass
    return found


def _size(n_items: int) -> int:
    return min(SIZE, n_items // 4)


def _levels(n_items: int) -> list[int]:
    return adaptive_levels(n_items, min(START, n_items // 8), min(LIMIT, n_items))


def page(content: dict[str, Any]) -> str:
    right, published = content["right_percent"], content["published"]
    rows = []
    for metric in content["metrics"]:
        printed = dict(zip(published["estimators"], published[metric], strict=True))
        rows.append(
            (
                metric,
                content["best"][metric],
                *(
                    f"{right[e][metric]:.0f}" + (f" ({printed[e]})" if e in printed else "")
                    for e in right
                ),
            )
        )
    mean = [f"{sum(cells.values()) / len(cells):.0f}" for cells in right.values()]
    rows.append(("mean", "", *mean))
    models = [
        (model, *(f"{1000 * content['exact'][m][model]:.2f}" for m in content["metrics"]))
        for model in content["models"]
    ]
    stated = [
        (
            f"{100 * one['from']:.0f} to {100 * min(1.0, one['below']):.0f}",
            f"{one['runs']:,}",
            f"{one['stated_percent']:.1f}",
            f"{one['right_percent']:.1f}",
        )
        for one in content["stated"]
    ]
    return f"""# Which model is best?

After Table 5 of the dissertation: of {content["repeats"]} repeats on {content["data"]}
({content["n_users"]:,} users, {content["n_items"]:,} items, training items kept), how many in a
hundred name the model that is best by exact ranks. In brackets what was published for pinterest-20
and five other models (EASE, MultiVAE, NeuMF, itemKNN and ALS), 55,187 users.

{markdown(["metric", "best", *right], rows)}

Fixed samples of {content["sample_size"]} with replacement, {EM_FIXED} EM steps; adaptive ones from
{content["adaptive_levels"][0]} to {content["adaptive_levels"][-1]:,}, {EM_ADAPTIVE} steps. "naive"
is the sampled metric as it is. Priors of BV and MN come from the one sample at hand, not from the
mean over all repeats as in the paper. Every model has draws of its own.

Exact values in thousandths ("EASE" has λ = 1500). How hard a row is depends on how close its two
best models are.

{markdown(["model", *content["metrics"]], models)}

## Is the stated probability right?

`winner` names a model and says how likely it is the best. Exact ranks of
{", ".join(f"{n:,}" for n in DRAWN)} users drawn from the file, all nine metrics,
{content["repeats"]} draws of each size:

{markdown(["stated %", "runs", "mean stated %", "right %"], stated)}

The runs of a row share draws and the models of this page, so that a row's figure errs by more than
its number of runs suggests. Among models that are nearly the same the figure is bold: many a leader
leads by luck.
"""


if __name__ == "__main__":
    run("winners", study, page, repeats=100)
