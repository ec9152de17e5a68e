"""The page of gpu.py, from nothing but its JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Columns = dict[str, Callable[[dict[str, Any]], str]]


def write(source: Path) -> None:
    content = json.loads(source.read_text(encoding="utf-8"))
    source.with_suffix(".md").write_text(page(content), encoding="utf-8")


def page(content: dict[str, Any]) -> str:
    limits, stream, drawn = content["ceilings"], content["streamed"], content["sampled"]
    random = [cell for cell in content["counts"] if "stored_ms" in cell]
    targets = content["trained"][0]["targets"]
    return f"""# Ranking on a GPU

One {content["device"]}, torch {content["torch"]}; medians of {
        content["rounds"]
    } rounds in which the
alternatives take turns, by the device's clock. Measured in the same run: a large product runs at
{limits["bf16_tflops"]:.0f} TFLOP/s in bf16 and {limits["tf32_tflops"]:.0f} in tf32, a copy on the
device at {limits["copy_gb_s"] / 1000:.1f} TB/s, a gather of random rows of {
        4 * drawn["d"]
    } bytes at
{drawn["gather_gb_s"] / 1000:.1f} TB/s.

## Exact ranks of factor models

65,536 users, 1,000,000 items, one target a user, everything on the device. *Stored*: torch
multiplies blocks of 4,096 users, stores the scores and counts them; *top 100*: torch's top-k of the
same blocks.

{
        _table(
            random,
            {
                "d": lambda c: str(c["d"]),
                "operands": lambda c: c["operands"],
                "fast": lambda c: f"{c['fast_ms']:.1f} ms",
                "share of the product's rate": lambda c: f"{100 * c['share_of_product']:.0f} %",
                "stored": lambda c: f"{c['stored_over_fast']:.1f}×",
                "top 100": lambda c: f"{c['top100_over_fast']:.1f}×",
            },
        )
    }

`exact` beside `fast`, in time. Random factors leave the most to decide: all items are about as
long, and most targets stand in the middle of their scores. In *skewed* ones lengths fall with
popularity and targets are popular, as trained factors have it.

{
        _table(
            content["counts"],
            {
                "factors": lambda c: c["factors"],
                "d": lambda c: str(c["d"]),
                "operands": lambda c: c["operands"],
                "exact": lambda c: f"{c['exact_ms']:.1f} ms",
                "over fast": lambda c: f"{c['exact_over_fast']:.2f}×",
                "undecided a target": lambda c: f"{c['undecided_a_target']:.0f}",
            },
        )
    }

## Trained factors, and ranks beside the CPU's

Factors of gowalla by implicit's ALS and BPR, d = {content["trained"][0]["d"]}. The ranks of all
{targets:,} interactions of training and test part were compared with those of the CPU, ties in
random order; and those of the test part with training items excluded.

{
        _table(
            content["trained"],
            {
                "model": lambda c: c["model"],
                "operands": lambda c: c["operands"],
                "ranks that differ": lambda c: str(c["ranks_that_differ"]),
                "with exclusions": lambda c: str(c["ranks_that_differ_training_items_excluded"]),
                "exact over fast, a target a user": lambda c: (
                    f"{c['one_target_exact_over_fast']:.2f}×"
                ),
                "all test targets": lambda c: f"{c['test_exact_over_fast']:.2f}×",
                "whole call, all targets": lambda c: f"{c['whole_call_s']:.2f} s",
            },
        )
    }

## Other numbers of factors

65,536 users, 250,000 items, skewed.

{
        _table(
            content["widths"],
            {
                "d": lambda c: str(c["d"]),
                "operands": lambda c: c["operands"],
                "fast, TFLOP/s": lambda c: f"{c['fast_tflops']:.0f}",
                "share of the product's rate": lambda c: f"{100 * c['share_of_product']:.0f} %",
                "exact over fast": lambda c: f"{c['exact_over_fast']:.2f}×",
            },
        )
    }

## A catalogue streamed from the host

{stream["users"]:,} users, {stream["items"]:,} items, d = {
        stream["d"]
    }, skewed factors, exact ranks,
the whole call.

{
        _table(
            [{"operands": name, **stream[name]} for name in ("tf32", "bf16")],
            {
                "operands": lambda c: c["operands"],
                "time": lambda c: f"{c['seconds']:.1f} s",
                "scores a second": lambda c: f"{c['scores_per_second']:.2g}",
                "device memory": lambda c: f"{c['peak_device_gb']:.1f} GB",
                "ranks that differ": lambda c: (
                    f"{c['ranks_that_differ']} of {c['ranks_checked']:,}"
                ),
            },
        )
    }

## Sampled ranks

{drawn["users"]:,} users, {drawn["items"]:,} items, d = {drawn["d"]} (a fifth of the users for
n = 1000), items drawn on the device.

{
        _table(
            drawn["cells"],
            {
                "n": lambda c: str(c["n"]),
                "replacement": lambda c: "with" if c["replacement"] else "without",
                "time": lambda c: f"{c['ms']:.1f} ms",
                "share of the gather's rate": lambda c: f"{100 * c['share_of_gather']:.0f} %",
                "ranks that differ": lambda c: (
                    f"{c['ranks_that_differ']} of {c['ranks_checked']:,}"
                ),
            },
        )
    }

The ceiling is the best of five bare gathers; more than 100 % says that none of them was the fastest
possible. A whole call, from arrays of the host and back, takes {drawn["whole_call_s"]:.1f} s with
n = 100; adaptive samples of 25 to 3,200 items ({drawn["adaptive_average_size"]:.0f} on average)
take {drawn["adaptive_whole_call_s"]:.1f} s, and {drawn["adaptive_ranks_that_differ"]} ranks differ.

## Item-item models

Random weights, training items excluded, whole calls; the CPU of the same machine, from as many
users as were checked.

{
        _table(
            content["item_item"],
            {
                "users": lambda c: f"{c['users']:,}",
                "items": lambda c: f"{c['items']:,}",
                "items a user": lambda c: f"{c['history']:.0f}",
                "GPU": lambda c: f"{c['whole_call_s']:.2f} s",
                "CPU over GPU": lambda c: f"{c['cpu_s'] / c['whole_call_s']:.0f}×",
                "ranks that differ": lambda c: (
                    f"{c['ranks_that_differ']} of {c['ranks_checked']:,}"
                ),
            },
        )
    }

Written by `benchmarks/gpu.py`.
"""


def _table(rows: Iterable[dict[str, Any]], columns: Columns) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(cell(row) for cell in columns.values()) + " |" for row in rows]
    return "\n".join(lines)
