"""Reports of every kind, and a browser that records what a page does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fullrank as fr
from fullrank.reporting import Report
from fullrank.samples import ExactRanks, RankSample, simulate

N_ITEMS = 2000
PATIENCE = 600_000  # milliseconds for a browser on a busy machine
DATED = {"date": "2024-02-29"}
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "image": "</script><img src=x onerror=alert(1)>",
    "markup": "<b>\"bold\"</b> & 'quoted' &lt;i&gt; %{y} ${x} {{ 7*7 }}",
    "long": "unbroken" * 40,
    "unicode": "ünïcödé 模型 🎬 \u202eright\x00\x07 to left",
}


def ranks_of(power: float, n: int = 400, seed: int = 0) -> np.ndarray:
    """Ranks whose recall is (K/N)^(1/power)."""
    share = np.random.default_rng(seed).random(n)
    return np.ceil(N_ITEMS * share**power).astype(np.int64).clip(1)


def exact_ranks(ranks: np.ndarray) -> ExactRanks:
    """Exact ranks of one target for each user."""
    rows = np.arange(ranks.size)
    return ExactRanks.from_ranks(ranks, n_items=N_ITEMS, user=rows, item=rows % N_ITEMS)


def named(sample: RankSample) -> RankSample:
    """The same sample with its users named as `exact_ranks` names them."""
    rows = sample.rows
    assert rows is not None
    return RankSample.from_ranks(
        rows.rank,
        sample_size=rows.sample_size,
        n_items=rows.n_items,
        design=sample.design,
        user=np.arange(rows.rank.size),
    )


def several_targets(n_users: int = 60) -> RankSample:
    """Users with one to three targets."""
    random = np.random.default_rng(3)
    rows = []
    for user in range(n_users):
        size = int(random.integers(1, 4))
        above = np.sort((N_ITEMS * random.random(size) ** 3).astype(int)).clip(0, N_ITEMS - size)
        for offset, z in enumerate(above):
            drawn = random.hypergeometric(z, N_ITEMS - size - z, 99)
            rows.append((1 + drawn, user, size, offset))
    rank, user, n_targets, offset = np.array(rows).T
    return RankSample.from_ranks(
        rank, sample_size=100, n_items=N_ITEMS, user=user, n_targets=n_targets, offset=offset
    )


@pytest.fixture(scope="session")
def kit() -> SimpleNamespace:
    """What makes ranks and samples."""
    return SimpleNamespace(
        n_items=N_ITEMS,
        ranks_of=ranks_of,
        exact_ranks=exact_ranks,
        named=named,
        several_targets=several_targets,
        hostile_names=HOSTILE,
    )


@pytest.fixture(scope="session")
def fixed() -> Report:
    """Two models, sampled 100 of 2,000, exact ranks known."""
    truth = {"old": ranks_of(2.5), "new": ranks_of(4.0)}
    samples = {
        name: named(simulate(ranks, n_items=N_ITEMS, design="sampled:100", rng=1))
        for name, ranks in truth.items()
    }
    exact = {name: exact_ranks(ranks) for name, ranks in truth.items()}
    told = {"seed": 1, "date": "2024-02-29", "data": "simulated, 100 of 2,000"}
    return fr.report(samples, exact=exact, title="Old & new", measured=told, rng=0)


@pytest.fixture(scope="session")
def many() -> Report:
    """Twelve models with exact ranks: more than there are colours."""
    ranks = {f"model-{i}": exact_ranks(ranks_of(2.0 + 0.2 * (i % 7), seed=i)) for i in range(12)}
    return fr.report(ranks, metrics=["ndcg@10", "recall@10"], measured=DATED, rng=0)


@pytest.fixture(scope="session")
def hostile() -> Report:
    """Five adaptive models whose names would break a careless page, and a hostile title."""
    samples = {
        name: simulate(
            ranks_of(2.0 + place),
            n_items=N_ITEMS,
            design="adaptive:levels=25/50/100/200",
            rng=place,
        )
        for place, name in enumerate(HOSTILE.values())
    }
    return fr.report(
        samples,
        metrics="recall@10",
        title=HOSTILE["image"],
        measured=DATED | {HOSTILE["script"]: HOSTILE["image"]},
        rng=0,
    )


@dataclass
class Opened:
    """A page with what it said, what it asked for, and what went wrong."""

    page: Any
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser(need: Callable[[str], Any], chromium: str) -> Iterator[Any]:
    """One Chromium for the tests of a module."""
    sync_api = need("playwright.sync_api") if need("playwright") else None
    with sync_api.sync_playwright() as play:  # type: ignore[union-attr]
        found = play.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
            timeout=PATIENCE,
        )
        yield found
        found.close()


@pytest.fixture(scope="module")
def visit(browser: Any) -> Iterator[Callable[..., Opened]]:
    """``visit(path, color_scheme="dark")`` opens a page and waits until its figures are drawn."""
    contexts = []

    def go(path: Path, *, drawn: bool = True, **settings: Any) -> Opened:
        context = browser.new_context(**({"viewport": {"width": 1200, "height": 900}} | settings))
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        opened = Opened(context.new_page())

        def route(one: Any) -> None:
            url = one.request.url
            if url.startswith(("data:", "blob:")) or url == path.as_uri():
                one.continue_()
            else:
                opened.requests.append(url)
                one.abort()

        opened.page.route("**/*", route)
        opened.page.on("console", lambda one: opened.console.append(f"{one.type}: {one.text}"))
        opened.page.on("pageerror", lambda one: opened.console.append(f"error: {one}"))
        opened.page.on("dialog", lambda one: (opened.dialogs.append(one.message), one.dismiss()))
        opened.page.goto(path.as_uri())
        if drawn:
            opened.page.wait_for_selector("html[data-drawn]")
        return opened

    yield go
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def pages(
    tmp_path_factory: pytest.TempPathFactory, fixed: Report, hostile: Report, many: Report
) -> dict[str, Path]:
    """The reports as files."""
    folder = tmp_path_factory.mktemp("reports")
    paths = {
        "fixed": folder / "fixed.html",
        "hostile": folder / "hostile <b>&.html",
        "many": folder / "many.html",
    }
    for name, report in (("fixed", fixed), ("hostile", hostile), ("many", many)):
        report.write(paths[name])
    return paths
