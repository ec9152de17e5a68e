"""Ranks counted in shards, as a cluster counts them, are the ranks counted at once."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from fullrank.designs import Uniform
from fullrank.errors import InputError
from fullrank.samples import RankDistribution, RankSample, simulate

RECIPE = runpy.run_path(str(Path(__file__).parents[3] / "examples" / "spark_ranks.py"))
FIXED: dict[str, Any] = {"n_items": 5_000, "design": "sampled:100"}


def equal(a: RankSample, b: RankSample) -> bool:
    columns = ("rank", "sample_size", "pool", "count", "weight")
    same = all(np.array_equal(getattr(a, name), getattr(b, name)) for name in columns)
    return same and (a.design, a.n_items, a.rows) == (b.design, b.n_items, b.rows)


def shards(columns: dict[str, Any], sizes: list[int]) -> Iterator[list[pa.RecordBatch]]:
    """Partitions of the table, each of them in batches of 37 rows."""
    table = pa.table(columns)
    edges = np.cumsum([0, *sizes])
    assert edges[-1] == table.num_rows
    for start, size in zip(edges, sizes, strict=False):
        part = table.slice(start, size)
        yield part.to_batches(max_chunksize=37)


def by_recipe(columns: dict[str, Any], sizes: list[int], **settings: Any) -> RankSample:
    counted = [
        batch
        for partition in shards(columns, sizes)
        for batch in RECIPE["count_batches"](iter(partition), **settings)
    ]
    sample = RECIPE["add_counts"](counted, **settings)
    assert isinstance(sample, RankSample)
    return sample


@pytest.mark.parametrize("sizes", [[1_000], [500, 500], [400, 0, 599, 1], [10] * 100])
def test_a_fixed_design(sizes: list[int]) -> None:
    rank = np.random.default_rng(0).integers(1, 101, 1_000)
    found = by_recipe({"rank": rank}, sizes, **FIXED)
    assert equal(found, RankSample.from_ranks(rank, **FIXED).without_rows())


def test_an_adaptive_design() -> None:
    truth = np.random.default_rng(1).geometric(0.01, 2_000)
    whole = simulate(truth, n_items=5_000, design="adaptive:levels=25/50/100", rng=1)
    assert whole.rows is not None
    columns = {"rank": whole.rows.rank, "sample_size": whole.rows.sample_size}
    settings = {"n_items": 5_000, "design": "adaptive:levels=25/50/100"}
    found = by_recipe(columns, [700, 700, 600], **settings)
    assert equal(found, RankSample.from_ranks(**columns, **settings).without_rows())


def test_catalogues_of_the_users_own_and_weights() -> None:
    rng = np.random.default_rng(2)
    columns = {
        "rank": rng.integers(1, 21, 900),
        "n_items": rng.integers(4_000, 4_003, 900),
        "weight": rng.integers(1, 9, 900) / 8.0,  # sums of eighths are exact in any order
    }
    settings = {"design": "sampled:20,replacement=true,pool=unseen"}
    found = by_recipe(columns, [450, 450], **settings)
    assert equal(found, RankSample.from_ranks(**columns, **settings).without_rows())


def test_a_partition_sends_one_row_for_each_outcome() -> None:
    columns = {"rank": np.tile([1, 7, 3], 10_000)}
    (partition,) = shards(columns, [30_000])
    (batch,) = RECIPE["count_batches"](partition, **FIXED)
    assert batch.schema.names == [field.split()[0] for field in RECIPE["COUNTS"].split(", ")]
    assert batch["rank"].to_pylist() == [1, 3, 7]
    assert batch["count"].to_pylist() == [10_000] * 3


def test_an_empty_partition_sends_nothing() -> None:
    assert list(RECIPE["count_batches"]([], **FIXED)) == []
    empty = pa.record_batch({"rank": pa.array([], pa.int64())})
    assert list(RECIPE["count_batches"]([empty], **FIXED)) == []
    with pytest.raises(ValueError, match="at least one rank"):
        RECIPE["add_counts"]([], **FIXED)


def test_a_missing_rank_is_refused() -> None:
    batch = pa.record_batch({"rank": pa.array([1, None, 3])})
    with pytest.raises(InputError, match=r"`rank`.*1 of 3.*rank\[1\] = nan"):
        list(RECIPE["count_batches"]([batch], **FIXED))


def test_catalogues_that_differ_need_their_pool_named() -> None:
    columns = {"rank": [1, 2, 3, 4], "n_items": [50, 50, 60, 60]}
    with pytest.raises(InputError, match=r"catalogues.*\b50\b.*\b60\b"):
        by_recipe(columns, [2, 2], design="sampled:10")


def test_counts_may_come_in_any_order_and_more_than_once() -> None:
    rank = np.random.default_rng(3).integers(1, 101, 500)
    whole = RankSample.from_ranks(rank, **FIXED).without_rows()
    ones = RankSample.from_counts(rank, np.ones(500, np.int64), **FIXED)
    assert equal(ones, whole)
    backwards = RankSample.from_counts(whole.rank[::-1], whole.count[::-1], **FIXED)
    assert equal(backwards, whole)
    weighed = RankSample.from_counts([7, 2, 7], [1, 2, 3], weight=[0.5, 1.0, 0.25], **FIXED)
    assert weighed.count.tolist() == [2, 4]
    assert weighed.weight.tolist() == [1.0, 0.75]


def anchored_sample(top: int, seed: int = 0) -> RankSample:
    true = [1 + 7 * u % 900 for u in range(60)]
    shape = RankDistribution.from_ranks(range(1, top), n_items=1000)
    drawn = simulate(
        true, n_items=1000, design="sampled:20,excluded=true", user=range(60), rng=seed
    )
    return drawn.anchored(shape)


@pytest.mark.parametrize("rows", [True, False])
def test_samples_of_one_anchor_add_and_keep_it(rows: bool) -> None:
    one, other = anchored_sample(300), anchored_sample(300, seed=1)
    keep = np.arange(60) < 30
    halves = [one.take(keep), other.take(~keep)]
    assert all(
        half.anchor is whole.anchor for half, whole in zip(halves, (one, other), strict=True)
    )
    if not rows:
        halves = [half.without_rows() for half in halves]
    both = halves[0] + halves[1]
    assert both.n_targets == 60
    assert both.anchor is one.anchor
    assert both.design.excluded is True


@pytest.mark.parametrize("rows", [True, False])
def test_samples_of_different_anchors_do_not_add(rows: bool) -> None:
    keep = np.arange(60) < 30
    one, other = anchored_sample(300).take(keep), anchored_sample(200).take(~keep)
    if not rows:
        one, other = one.without_rows(), other.without_rows()
    for a, b in ((one, other), (one, other.anchored(None)), (one.anchored(None), other)):
        with pytest.raises(InputError, match="only if their anchors agree"):
            a + b
    assert (one.anchored(None) + other.anchored(None)).anchor is None


def test_samples_of_different_protocols_do_not_add() -> None:
    one, other = (
        simulate([1, 50, 900], n_items=1000, design=Uniform(20, excluded=said), rng=0)
        for said in (True, False)
    )
    with pytest.raises(InputError, match=r"designs agree.*excluded=true.*excluded=false"):
        one + other
