"""The rules of public signatures; `python tools/signatures.py` prints what they are checked on."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from fullrank import metrics
from tools import signatures

FUNCTIONS = signatures.public_functions()
METRICS = ("metrics", "metric")
# One word per idea: the word that is not used, and the one that is.
WORDS = {
    "target": "interval_for", "procedure": "uncertainty", "how": "uncertainty",
    "n_draws": "n_resamples", "n_bootstrap": "n_resamples", "strategy": "design",
    "replacement": "design", "levels": "design", "stop_rank": "design", "seed": "rng",
    "random_state": "rng", "alpha": "confidence_level", "level": "confidence_level",
    "sample": "ranks", "results": "ranks",
}  # fmt: skip
EXCEPTIONS = {
    "plan": {"first"},  # a plan has no data yet
    "report": {"results"},  # of results, which may be of ranks
    "metrics.named": {"first"}, "metrics.parse": {"first"}, "metrics.parse_all": {"first"},
    "metrics.deepest": {"first"}, "metrics.spelled": {"first"}, "designs.collapse": {"first"},
    "torch.compute_metrics": {"first"},  # its data come from the Trainer
    "torch.counts": {"target"},  # the item, not whom an interval is for
    "testing.check_metric": {"first"},
    # what draws and what fits say what they do by their own words
    "designs.kernel": {"replacement"}, "designs.kernel_averages": {"replacement"},
    **{f"estimators.{name}": {"sample"} for name in (
        "alignment_errors", "bv", "cls", "fit_beta", "mes", "mle", "mn", "smoothed",
        "unbiased_rank_metric", "unbiased_ranks", "weighted_mle")},
    "samples.sampling_efficiency": {"sample"},
    # formulas of four or six numbers
    "inference.two_means": {"positional"}, "inference.two_proportions": {"positional"},
    "designs.infer_design": {"positional"},
}  # fmt: skip


def broken(name: str, function: Any) -> set[str]:
    """The rules that a signature breaks, and the words that it should not use."""
    arguments = signatures.parameters(function)
    names = [one.name for one in arguments]
    by_place = [one.name for one in arguments if one.kind in signatures.POSITIONAL]
    found = {word for word in WORDS if word in names}
    if by_place and by_place[0] in METRICS:
        found.add("first")
    if any(one in METRICS for one in by_place) and by_place[-1] not in METRICS:
        found |= set() if "first" in found else {"metrics after the data"}
    if len(by_place) > 3 or (len(by_place) == 3 and not _three(name, by_place)):
        found.add("positional")
    if "rng" in names and [one for one in names if one != "settings"][-1] != "rng":
        found.add("rng last")
    if "method" in names and not _estimates(names):
        found.add("method is for estimators")
    return found


def _three(name: str, by_place: list[str]) -> bool:
    """Two data and metrics, or scores of three kinds."""
    folder = name.rpartition(".")[0]
    return by_place[2] in METRICS or folder in ("losses", "models", "evaluation", "metrics",
                                                "estimators")  # fmt: skip


def _estimates(names: list[str]) -> bool:
    return names[0] in ("ranks", "results", "models", "samples")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_rules(name: str) -> None:
    assert broken(name, FUNCTIONS[name]) - EXCEPTIONS.get(name, set()) == set()


def test_every_exception_is_still_needed() -> None:
    assert {
        name: excused - broken(name, FUNCTIONS[name]) for name, excused in EXCEPTIONS.items()
    } == {name: set() for name in EXCEPTIONS}


# What changes the result comes before what changes its speed, and the seed is last.
ORDER = ("design", "exclude", "items", "ties", "weight", "engine", "device", "n_jobs", "batch_size",
         "shard_size", "confidence_level", "n_resamples", "progress", "rng")  # fmt: skip


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - {"rank"}))  # until it has `max_rank`
def test_shared_arguments_come_in_one_order(name: str) -> None:
    shared = [one.name for one in signatures.parameters(FUNCTIONS[name]) if one.name in ORDER]
    assert shared == sorted(shared, key=ORDER.index)


def test_a_slip_is_found() -> None:
    """The rules find what they are there for."""

    def slips(metrics, ranks, n_draws, rng, how):  # type: ignore[no-untyped-def]
        """Everything at once."""

    found = broken("estimate", slips)
    assert {"first", "positional", "rng last", "n_draws", "how"} <= found


@pytest.mark.parametrize(
    ("argument", "defaults"),
    [
        ("metrics", (metrics.DEFAULT, None, (), "ndcg@10")),
        ("confidence_level", (0.95, None)),
        ("rng", (None, 0)),
        ("method", ("auto",)),
        ("interval_for", ("population", "users")),
        ("progress", (None, True)),
        ("device", (None,)),
        ("n_jobs", (None,)),
    ],
)
def test_an_argument_has_one_default(argument: str, defaults: tuple[Any, ...]) -> None:
    for name, function in FUNCTIONS.items():
        for one in signatures.parameters(function):
            if one.name == argument and one.default is not inspect.Parameter.empty:
                assert one.default in defaults, name


def test_verbs_on_ranks_begin_alike() -> None:
    for name in ("estimate", "bounds", "compare", "explain", "inference.user_means"):
        assert [one.name for one in signatures.parameters(FUNCTIONS[name])][:2] == [
            "ranks",
            "metrics",
        ]


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert signatures.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(FUNCTIONS)
    assert any(
        line.startswith("compare(ranks, metrics=('recall@10', 'ndcg@10'), *,") for line in lines
    )
    assert signatures.main(["users_needed"]) == 0
    assert capsys.readouterr().out.startswith("users_needed(margin, *,")
