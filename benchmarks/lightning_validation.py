"""What ranking adds to the validation of a sequence model inside Lightning.

A SASRec-like model (64 dimensions, 2 blocks, histories of 200 items) of the size of MovieLens 1M:
6,040 users and 3,416 items. Weights and histories are random: the time does not depend on them, but
for the lengths of the histories, which are long-tailed with the mean of the data. Four ways take
turns, and ratios are medians over rounds of two times of the same round. Processor time is beside
the time of the clock, which others' work on the machine changes too:

- `forward`: batches are scored in a loop, and nothing else
- `validate`: `trainer.validate`, with a step that scores the batch and no callback
- `RankCallback`: the same with the callback, histories excluded
- `topk + gather`: the usual alternative, a callback that masks the histories and averages recall@10
  and ndcg@10 from the 10 items with the highest scores (every fifth round)

Beside them, on fewer users, torchmetrics' RetrievalNormalizedDCG and RetrievalRecall, which keep
every score until the end.

Goal: `RankCallback` takes at most 1.05 times the time of `forward` and of `validate`.

    python benchmarks/lightning_validation.py [rounds] [--users n] [--retrieval-users n]
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _measure import has_peer, report

N_USERS, N_ITEMS, LENGTH, N_DIM, N_BLOCKS, N_HEADS = 6040, 3416, 200, 64, 2, 2
MEAN_LENGTH = 165
BATCH_SIZE = 128
GOAL = 1.05


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rounds", nargs="?", type=int, default=15)
    parser.add_argument("--users", type=int, default=N_USERS)
    parser.add_argument("--retrieval-users", type=int, default=1000)
    asked = parser.parse_args()
    if all(map(has_peer, ("torch", "lightning", "torchmetrics"))):
        import lightning.pytorch

        logging.getLogger(lightning.pytorch.__name__).setLevel(logging.ERROR)
        warnings.filterwarnings("ignore")
        report("validation inside Lightning", measure(asked))


def measure(asked: Any) -> dict[str, Any]:
    import torch

    torch.manual_seed(0)
    model, loader = make_model(), make_loader(asked.users)
    work = validations(model, loader)
    values: dict[str, Any] = {}
    for function in validations(model, make_loader(BATCH_SIZE)).values():
        function()  # the first call compiles, loads and fills caches
    seconds: dict[str, list[float]] = {name: [] for name in work}
    processor: dict[str, list[float]] = {name: [] for name in work}
    for number in range(asked.rounds):
        names = list(work) if number % 2 else list(work)[::-1]
        for name in names:
            if name == "topk + gather" and number % 5:
                continue
            start, used = time.perf_counter(), time.process_time()
            values[name] = work[name]()
            seconds[name].append(time.perf_counter() - start)
            processor[name].append(time.process_time() - used)
        last = ", ".join(f"{name} {every[-1]:.2f} s" for name, every in seconds.items())
        print(f"round {number + 1} of {asked.rounds}: {last}", file=sys.stderr)
    few = make_loader(min(asked.retrieval_users, asked.users))
    return {
        "data": "random histories and weights of the size of MovieLens 1M",
        "users": asked.users, "items": N_ITEMS, "length": LENGTH, "dimensions": N_DIM,
        "blocks": N_BLOCKS, "batch size": BATCH_SIZE, "threads": torch.get_num_threads(),
        "rounds": asked.rounds,
        "seconds": {name: round(statistics.median(every), 2) for name, every in seconds.items()},
        "goal": GOAL,
        "ratios": ratios(seconds),
        "ratios of processor time": ratios(processor),
        "metrics": {name: value for name, value in values.items() if value},
        "torchmetrics, fewer users": retrieval(model, few),
    }  # fmt: skip


def ratios(times: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    pairs = (
        ("RankCallback", "forward"), ("RankCallback", "validate"), ("validate", "forward"),
        ("topk + gather", "validate"),
    )  # fmt: skip
    return {f"{one} / {other}": ratio(times[one], times[other]) for one, other in pairs}


def ratio(first: list[float], second: list[float]) -> dict[str, float]:
    """Quartiles of the ratios of two times of the same round."""
    if len(first) < len(second):
        second = second[::5]
    found = [a / b for a, b in zip(first, second, strict=True)]
    if len(found) == 1:
        return {"median": round(found[0], 4)}
    low, median, high = statistics.quantiles(found, n=4, method="inclusive")
    return {"median": round(median, 4), "lower": round(low, 4), "upper": round(high, 4)}


def make_loader(n_users: int) -> Any:
    """Users with distinct histories, padded by item 0 on the left, and a target of each."""
    import torch

    draw = np.random.default_rng(0)
    lengths = np.clip(draw.lognormal(np.log(MEAN_LENGTH) - 0.5, 1.0, n_users), 16, 2000).astype(int)
    history = np.zeros((n_users, LENGTH), np.int64)
    targets = np.empty(n_users, np.int64)
    for user, length in enumerate(lengths):
        items = 1 + draw.permutation(N_ITEMS)[: min(length, LENGTH) + 1]
        history[user, LENGTH - len(items) + 1 :], targets[user] = items[1:], items[0]
    rows = [
        {"user": user, "history": history[user], "target": targets[user]}
        for user in range(n_users)
    ]  # fmt: skip
    return torch.utils.data.DataLoader(rows, batch_size=BATCH_SIZE)


def make_model() -> Any:
    import lightning.pytorch as pl
    import torch

    class Sequences(pl.LightningModule):
        """A causal transformer over histories; scores are products with item vectors."""

        def __init__(self) -> None:
            super().__init__()
            self.items = torch.nn.Embedding(N_ITEMS + 1, N_DIM, padding_idx=0)
            self.places = torch.nn.Parameter(torch.randn(LENGTH, N_DIM) / 8)
            block = torch.nn.TransformerEncoderLayer(
                N_DIM, N_HEADS, N_DIM, batch_first=True, norm_first=True
            )
            self.blocks = torch.nn.TransformerEncoder(block, N_BLOCKS, enable_nested_tensor=False)
            mask = torch.nn.Transformer.generate_square_subsequent_mask(LENGTH)
            self.register_buffer("mask", mask)

        def forward(self, history: Any) -> Any:
            states = self.blocks(self.items(history) + self.places, mask=self.mask, is_causal=True)
            return states[:, -1] @ self.items.weight.T

        def validation_step(self, batch: Any, batch_idx: int) -> Any:
            return {"logits": self(batch["history"])}

    return Sequences().eval()


def validations(model: Any, loader: Any) -> dict[str, Callable[[], Any]]:
    import lightning.pytorch as pl
    import torch

    from fullrank.torch import RankCallback

    class TopK(pl.Callback):
        """Recall@10 and ndcg@10 of each batch, averaged."""

        def on_validation_epoch_start(self, *_: Any) -> None:
            self.n, self.recall, self.ndcg = 0, 0.0, 0.0

        def on_validation_batch_end(self, trainer: Any, module: Any, outputs: Any, batch: Any,
                                    *_: Any) -> None:  # fmt: skip
            scores = outputs["logits"].scatter(1, batch["history"], -torch.inf)
            top = scores.topk(10).indices
            hit, place = (top == batch["target"][:, None]).max(1)
            self.n += len(hit)
            self.recall += hit.sum().item()
            self.ndcg += (hit / (place + 2.0).log2()).sum().item()

        def on_validation_epoch_end(self, trainer: Any, module: Any) -> None:
            module.log_dict({"recall@10": self.recall / self.n, "ndcg@10": self.ndcg / self.n})

    def validated(*callbacks: Any) -> Callable[[], Any]:
        def run() -> Any:
            trainer = pl.Trainer(
                accelerator="cpu",
                logger=False,
                enable_progress_bar=False,
                enable_model_summary=False,
                enable_checkpointing=False,
                callbacks=list(callbacks),
            )
            trainer.validate(model, loader, verbose=False)
            return {name: value.item() for name, value in trainer.callback_metrics.items()}

        return run

    def forward() -> None:
        with torch.inference_mode():
            for batch in loader:
                model(batch["history"])

    return {
        "forward": forward,
        "validate": validated(),
        "RankCallback": validated(
            RankCallback("recall@10, ndcg@10", scores="logits", exclude=seen)
        ),
        "topk + gather": validated(TopK()),
    }


def seen(outputs: Any, batch: Any) -> Any:
    """The items of the history; column 0, which is padding, is among them."""
    return batch["history"]


def retrieval(model: Any, loader: Any) -> dict[str, Any]:
    """Seconds and metrics of torchmetrics' retrieval metrics, and of RankMetric beside them."""
    import torch
    from torchmetrics.retrieval import RetrievalNormalizedDCG, RetrievalRecall

    from fullrank.torch import RankMetric

    with torch.inference_mode():
        batches = [(batch, model(batch["history"])) for batch in loader]
    theirs = [RetrievalRecall(top_k=10), RetrievalNormalizedDCG(top_k=10)]
    start = time.perf_counter()
    for batch, scores in batches:
        masked = scores.scatter(1, batch["history"], -torch.inf)
        relevant = torch.zeros_like(masked, dtype=torch.bool)
        relevant.scatter_(1, batch["target"][:, None], True)
        index = batch["user"][:, None].expand_as(masked)
        for one in theirs:
            one.update(masked, relevant, index)
    values = [one.compute().item() for one in theirs]
    middle = time.perf_counter()
    metric = RankMetric("recall@10, ndcg@10")
    for batch, scores in batches:
        metric.update(scores, batch["target"], batch["user"], exclude=batch["history"])
    ours = metric.compute()
    end = time.perf_counter()
    kept = sum(tensor.nbytes for one in theirs for state in (one.preds, one.target, one.indexes)
               for tensor in state)  # fmt: skip
    return {
        "users": len(loader.dataset),
        "seconds": {"Retrieval*": round(middle - start, 2), "RankMetric": round(end - middle, 3)},
        "megabytes kept": {
            "Retrieval*": round(kept / 1e6, 1),
            "RankMetric": round(sum(rows.nbytes for rows in metric.rows) / 1e6, 3),
        },
        "metrics": {
            "Retrieval*": dict(zip(ours, values, strict=True)), "RankMetric": ours,
        },
    }  # fmt: skip


if __name__ == "__main__":
    main()
