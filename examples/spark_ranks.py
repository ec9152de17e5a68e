"""Make one RankSample from ranks in Spark; each partition returns only its counts.

python examples/spark_ranks.py [ranks.parquet]    # pip install "fullrank[spark]", and Java 17
"""

import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa

from fullrank.samples import RankSample

COUNTS = "rank long, sample_size long, n_items long, count long, weight double"


def count_batches(batches: Iterable[pa.RecordBatch], **settings: Any) -> Iterator[pa.RecordBatch]:
    """Turn the ranks of a partition into counts, one row per outcome, for `mapInArrow`.

    Columns and `settings` are those of `RankSample.from_ranks`, with one target per user. With a
    column `n_items`, the design must name its pool, because a batch cannot know whether N differs
    in others.
    """
    total: Any = 0
    for batch in batches:
        if batch.num_rows:  # an empty partition gives an empty batch, or none
            columns = {key: batch[key].to_numpy(zero_copy_only=False) for key in batch.schema.names}
            total += RankSample.from_ranks(**columns, **settings).without_rows()
    if total:
        counts = [total.rank, total.sample_size, total.pool, total.count, total.weight]
        yield pa.record_batch(counts, names=[field.split()[0] for field in COUNTS.split(", ")])


def add_counts(batches: Iterable[pa.RecordBatch], **settings: Any) -> RankSample:
    """Return the sum of the partitions' samples."""
    parts = ({key: batch[key].to_numpy() for key in batch.schema.names} for batch in batches)
    total: Any = sum(RankSample.from_counts(**(settings | part)) for part in parts)
    if not total:
        raise ValueError("The table must hold at least one rank; it is empty.")
    return total


def spark_sample(ranks: Any, **settings: Any) -> RankSample:
    """Return one RankSample from a Spark DataFrame; each partition sends a few kB to the driver."""
    counts = ranks.mapInArrow(partial(count_batches, **settings), COUNTS)
    return add_counts(counts.toArrow().to_batches(), **settings)


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the executors' Python
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
    if sys.argv[1:]:
        ranks = spark.read.parquet(sys.argv[1])
    else:
        ranks = spark.range(10**6).selectExpr("floor(1 + 100 * pow(rand(0), 2)) AS rank")
    print(spark_sample(ranks, n_items=10**5, design="sampled:100"))
