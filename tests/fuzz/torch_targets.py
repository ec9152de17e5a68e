"""What training loops call: counts of blocks, `RankMetric`, hooks of the Trainer, `BlockScorer`."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from harness import target
from mutation import anything, spoiled

from fullrank.ranking import rank
from fullrank.scorers import BlockScorer
from fullrank.torch import RankMetric, compute_metrics, counts, preprocess_logits

_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_VALUES = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e30, -1e30, 1e-30, float("inf"), -float("inf"))


def _scores(source: random.Random, rows: int, width: int) -> Any:
    values = (*_VALUES, float("nan")) if source.random() < 0.1 else _VALUES
    drawn = [[source.choice(values) for _ in range(width)] for _ in range(rows)]
    return np.array(drawn).reshape(rows, width)


def _tensors(source: random.Random, named: dict[str, Any]) -> dict[str, Any]:
    """Arrays as tensors, most of them of a type and layout that loops have."""
    return {name: _tensor(source, value) for name, value in named.items()}


def _tensor(source: random.Random, value: Any) -> Any:
    if not isinstance(value, np.ndarray) or source.random() < 0.05:
        return value
    try:
        found = torch.from_numpy(np.ascontiguousarray(value))
    except (TypeError, ValueError):  # PyTorch has no such type
        return value
    if found.is_floating_point():
        found = found.to(source.choice(_FLOATS))
        found.requires_grad_(source.random() < 0.1)
    elif source.random() < 0.2 and found.dtype == torch.int64:
        found = found.to(source.choice((torch.int32, torch.int16, torch.uint8)))
    way = source.randrange(8)
    if way == 0 and found.ndim == 2:
        found = found.T.contiguous().T
    elif way == 1 and found.ndim:
        found = found.repeat_interleave(2, 0)[::2]
    elif way == 2 and found.dtype in (*_FLOATS, torch.int64, torch.bool):
        found = found.detach()
        found = found.to_sparse() if source.random() < 0.5 else found.to("meta")
    return found


def _block(source: random.Random) -> dict[str, Any]:
    rows, width = source.randrange(5), source.randrange(1, 9)
    shape = (rows, source.randrange(1, 4)) if source.random() < 0.3 else (rows,)
    size = int(np.prod(shape))
    named: dict[str, Any] = {
        "scores": _scores(source, rows, width),
        "target": np.array([source.randrange(-1, width) for _ in range(size)], int).reshape(shape),
    }
    kind = source.randrange(6)
    if kind == 0:
        cells = [source.randrange(-1, width) for _ in range(rows * 4)]
        named["exclude"] = np.array(cells, int).reshape(rows, 4)
    elif kind == 1:
        named["exclude"] = np.array(
            [source.random() < 0.3 for _ in range(rows * width)], bool
        ).reshape(rows, width)
    elif kind == 2:
        named["exclude"] = [[source.randrange(width)] for _ in range(rows)]
    return named


@target("counts of a block", share=4)
def counts_of_a_block(source: random.Random) -> Any:
    found = counts(**_tensors(source, spoiled(source, _block(source), 0.5)))
    return found.numpy() if found.device.type == "cpu" else None


@target("RankMetric", share=2)
def rank_metric(source: random.Random) -> Any:
    settings: dict[str, Any] = {
        "metrics": source.choice(("recall@2, ndcg@10", "ap", "auc")),
        "ties": source.choice(("mean", "best", "worst")),
    }
    if source.random() < 0.3:
        settings |= {"design": "sampled:4", "n_items": source.choice((10, 1000))}
    metric = RankMetric(**spoiled(source, settings, 0.1))
    for _ in range(source.randrange(3)):
        named = _block(source)
        rows = len(named["scores"])
        if source.random() < 0.7:
            named["user"] = np.array([source.randrange(6) for _ in range(rows)], int)
        if source.random() < 0.3:
            named["item"] = named["target"] + 100
        metric.update(**_tensors(source, spoiled(source, named, 0.3)))
    found = metric.sample() if metric.design is not None else metric.exact()
    return str(found), {k: v for k, v in metric.compute().items() if v == v}


@target("hooks of the Trainer", share=1)
def hooks(source: random.Random) -> Any:
    block = _block(source)
    named = {"logits": block["scores"], "labels": block["target"]}
    named |= {"shift": True} if source.random() < 0.1 else {}
    given = _tensors(source, spoiled(source, named, 0.4))
    if source.random() < 0.2:
        given["logits"] = (given["logits"], given["labels"])
    if not (hasattr(given["labels"], "shape") and _is_dense(given["labels"])):
        given["labels"] = torch.from_numpy(block["target"])  # the Trainer passes tensors
    found = preprocess_logits(**given)
    if not _is_dense(found):
        return None
    told = {"predictions": found.numpy(), "label_ids": given["labels"].detach().numpy()}
    told = spoiled(source, told, 0.3)
    return compute_metrics("recall@2, rr")(SimpleNamespace(**told))


def _is_dense(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout is torch.strided and not value.is_meta


@target("BlockScorer", share=1)
def block_scorer(source: random.Random) -> Any:
    n_users, n_items = source.randrange(1, 5), source.randrange(1, 9)
    table = _tensor(source, spoiled(source, {"x": _scores(source, n_users, n_items)}, 0.3)["x"])
    broken = source.random() < 0.1

    def scores(users: Any) -> Any:
        if broken:
            return anything(source)
        return table[users] if isinstance(table, torch.Tensor | np.ndarray) else table

    settings = {"n_users": n_users, "n_items": n_items if source.random() < 0.5 else None}
    scorer = BlockScorer(scores, **spoiled(source, settings, 0.2))
    targets = np.arange(n_users), np.array([source.randrange(n_items) for _ in range(n_users)])
    return str(rank(scorer, targets).metrics("recall@2, rr"))
