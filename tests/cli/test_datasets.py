"""``fullrank datasets``: the list, and one of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from fullrank.data import DATASETS

Run = Callable[..., Any]


def test_the_list(fullrank: Run) -> None:
    done = fullrank("datasets")
    assert done.code == 0
    assert all(name in done.out for name in DATASETS)
    content = json.loads(fullrank("datasets", "--json").out)
    assert content["format"] == 1
    assert [one["name"] for one in content["datasets"]] == list(DATASETS)
    assert {one["name"] for one in content["datasets"] if one["here"]} >= {"simulated"}


def test_one_of_them(fullrank: Run) -> None:
    done = fullrank("datasets", "simulated")
    assert "79,490 interactions" in done.out
    content = json.loads(fullrank("datasets", "simulated", "--json").out)
    assert content["here"]
    assert content["summary"]["n_interactions"] == 79490


def test_mistakes(fullrank: Run) -> None:
    done = fullrank("datasets", "netflics")
    assert done.code == 2
    assert re.search(r"`NAME`.*'ml-latest-small'.*'netflics'", done.err)
    done = fullrank("datasets", "--download")
    assert done.code == 2
    assert re.search(r"`NAME`.*`--download`", done.err)
    done = fullrank("datasets", "simulated", "--download")
    assert done.code == 0
