"""The Spark recipe, in a Spark of this machine's own: the same sample as without Spark."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fullrank.samples import RankSample

ROOT = Path(__file__).parents[2]
OWN: dict[str, Any] = {"design": "sampled:20,replacement=true,pool=unseen"}
# the example with a table of three files; then users' own catalogues in nine partitions, of which
# at least six are empty
PROGRAM = f"""
import runpy, sys
folder, example = sys.argv.pop(), sys.argv.pop()
sys.argv.append(folder + "/ranks")
recipe = runpy.run_path(example, run_name="__main__")
own = recipe["spark"].read.parquet(folder + "/own.parquet").repartition(9, "n_items")
recipe["spark_sample"](own, **{OWN!r}).write(folder + "/sample.parquet")
"""


def test_the_page_shows_the_recipe_as_it_is() -> None:
    example = (ROOT / "examples" / "spark_ranks.py").read_text(encoding="utf-8")
    recipe = example[example.index("COUNTS =") : example.index("if __name__")].strip()
    assert f"```python\n{recipe}\n```" in (ROOT / "docs" / "sizing.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_spark_gives_the_sample_that_one_process_gives(tmp_path: Path) -> None:
    # half a gigabyte that `make test` does not install; what it calls is tested without it
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("there is no Java")
    rng = np.random.default_rng(0)
    own: dict[str, Any] = {
        "rank": rng.integers(1, 21, 5_000),
        "n_items": rng.integers(4_000, 4_003, 5_000),
        "weight": rng.integers(1, 9, 5_000) / 8.0,  # sums of eighths are exact in any order
    }
    pq.write_table(pa.table(own), tmp_path / "own.parquet")
    (tmp_path / "ranks").mkdir()
    for part in range(3):
        ranks = rng.integers(1, 101, 20_000)
        pq.write_table(pa.table({"rank": ranks}), tmp_path / "ranks" / f"{part}.parquet")
    assert "60,000 targets ranked among 100 of 100,000 items, target included" in _run(tmp_path)
    found = RankSample.read(tmp_path / "sample.parquet")
    wanted = RankSample.from_ranks(**own, **OWN).without_rows()
    assert found.rows is None
    assert (found.design, found.n_items) == (wanted.design, wanted.n_items)
    for name in ("rank", "sample_size", "pool", "count", "weight"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name)), name


def _run(folder: Path) -> str:
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    quick = "--driver-java-options -XX:TieredStopAtLevel=1 pyspark-shell"  # it runs for seconds
    environment = os.environ | {"PYSPARK_SUBMIT_ARGS": quick, "SPARK_LOCAL_IP": "127.0.0.1"}
    run = subprocess.run(
        [sys.executable, program, ROOT / "examples" / "spark_ranks.py", folder],
        capture_output=True, text=True, encoding="utf-8", env=environment, cwd=folder,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout
