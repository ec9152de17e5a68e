"""The short form of `benchmarks/fuzz.py`: some inputs for every target, and the harness itself."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import warnings

import command_targets
import evaluation_targets
import function_targets
import harness
import numpy as np
import pytest
import reader_targets
import torch_targets
from harness import TARGETS, Outcome, Target, seeded, try_one
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutation import FromBytes, mutated

from fullrank.errors import DataWarning, InputError

_ = (
    command_targets,
    evaluation_targets,
    function_targets,
    reader_targets,
    torch_targets,
)  # they register their targets
# Quick ones of several kinds: hypothesis shrinks what fails.
SHRUNK = ("sample from JSON text", "metrics.evaluate", "RankSample.from_counts", "rank grids",
          "distributions", "users_needed", "interactions from arrays", "ids looked up",
          "negatives from NCF files", "splits and filters")  # fmt: skip


def became_of(run, source: random.Random | None = None) -> Outcome:
    outcome = Outcome()
    try_one(Target("one", run, 1), source or random.Random(0), "input 0", outcome)
    return outcome


def became_of_inputs(name: str, numbers: range) -> Outcome:
    outcome = Outcome()
    for number in numbers:
        try_one(TARGETS[name], seeded(name, number), f"{name} --input {number}", outcome)
    return outcome


@pytest.mark.slow
def test_the_first_inputs_break_nothing() -> None:
    outcomes = {name: became_of_inputs(name, range(2)) for name in TARGETS}
    assert {name: one.examples for name, one in outcomes.items() if one.examples} == {}


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("factors from files", 145257),  # a damaged footer, at which pyarrow ends the process
        ("ranks in any format", 149840),  # JSON Lines that begin with null, at which it ends too
        ("ranks in any format", 149964),  # a number in JSON that no type of Arrow's holds
        ("ranks in any format", 164770),  # a header of NumPy's that is another Python's
        ("sample_ranks, adaptive", 101413),  # levels that grow to infinity
        ("sample from CSV", 116849),  # infinite ranks
        ("sample from Parquet, bytes changed", 125824),  # text that is not UTF-8
        ("sample from a Parquet file of any columns", 110612),  # views of text
        ("compare", 102266),  # pairing that is neither true nor false
        ("estimate", 102202),  # a type in the place of an estimator
        ("commands: estimate and compare", 100859),  # exact ranks of several models side by side
        ("commands: bounds and explain", 101610),  # the same of samples, with items
    ],
)
def test_what_broke_it_once_does_no_more(name: str, number: int) -> None:
    assert became_of_inputs(name, range(number, number + 1)).examples == {}


@pytest.mark.slow
@pytest.mark.verify
@pytest.mark.parametrize("name", list(TARGETS))
def test_no_input_breaks_it(name: str) -> None:
    outcome = became_of_inputs(name, range(max(4, round(12 * TARGETS[name].share))))
    assert outcome.examples == {}
    assert outcome.returned + sum(outcome.errors.values()) == outcome.inputs


@pytest.mark.slow
@pytest.mark.verify
@pytest.mark.parametrize("name", SHRUNK)
def test_hypothesis_finds_no_input_that_breaks_it(name: str) -> None:
    @settings(
        max_examples=40, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.randoms(use_true_random=False))
    def check(source: random.Random) -> None:
        assert became_of(TARGETS[name].run, source).examples == {}

    check()


@pytest.mark.slow
@pytest.mark.verify
def test_the_driver_counts_inputs_and_violations(root) -> None:
    command = [sys.executable, str(root / "benchmarks" / "fuzz.py"), "--inputs", "300"]
    run = subprocess.run(
        [*command, "--target", r"metrics\.parse|distribution from"],
        capture_output=True, text=True, timeout=3600, check=False,
        env={**os.environ, "PYTHONPATH": str(root / "src")},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    total = json.loads(run.stdout.splitlines()[-1])
    assert total["inputs"] == 300
    assert total["violations"] == 0
    assert total["targets"]["metrics.parse"]["errors"] > 5


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (float("nan"), "NaN in answer"),
        ({"a": [1.0, float("inf")]}, "NaN in answer[a][…]"),
        ((np.array([0.5, np.nan]),), "NaN in answer[…]"),
    ],
)
def test_nan_in_an_answer_is_a_violation(answer, found: str) -> None:
    assert list(became_of(lambda _: answer).violations) == [found]


def test_an_error_that_is_not_ours_is_a_violation() -> None:
    outcome = became_of(lambda _: {}["key"])
    assert len(outcome.violations) == 1
    assert next(iter(outcome.violations)).startswith("KeyError at ")
    assert "input 0" in next(iter(outcome.examples.values()))


def test_an_error_of_ours_is_counted_once_for_each_kind() -> None:
    outcome = Outcome()
    for number in (1, 22):

        def run(_, number: int = number) -> None:
            raise InputError(f"`x` must be above {number}; got 'a{number}'.")

        try_one(Target("one", run, 1), random.Random(0), "", outcome)
    assert dict(outcome.errors) == {"InputError: `x` must be above #; got '…'.": 2}
    assert not outcome.violations


@pytest.mark.parametrize("text", ["two\nlines", "\x1b[31mred", "\u202eturned", "x" * 3000])
def test_an_error_that_cannot_be_printed_is_a_violation(text: str) -> None:
    assert harness.spoken_badly(text).startswith("an error ")
    assert harness.spoken_badly("`x` must be above 0; got 'é'.") is None


def test_only_our_warnings_may_be_given() -> None:
    def foreign(_) -> None:
        warnings.warn("odd", RuntimeWarning, stacklevel=1)

    def ours(_) -> None:
        warnings.warn("repaired", DataWarning, stacklevel=1)

    assert list(became_of(foreign).violations) == ["RuntimeWarning: odd"]
    assert became_of(ours).returned == 1


def test_an_exception_that_is_only_printed_is_a_violation() -> None:
    class Odd:
        def __del__(self) -> None:
            raise KeyError("lost")

    assert list(became_of(lambda _: bool(Odd())).violations) == ["not raised: KeyError"]


def test_what_is_left_behind_is_a_violation() -> None:
    def run(_) -> None:
        (harness.folder() / ".x.abc.tmp").write_text("half")

    assert list(became_of(run).violations) == ["left behind: ['.x.abc.tmp']"]
    assert became_of(lambda _: None).returned == 1


def test_the_same_number_makes_the_same_input() -> None:
    first, second = (mutated(seeded("x", 3), b"abcdefgh" * 9) for _ in range(2))
    assert first == second
    assert first != mutated(seeded("x", 4), b"abcdefgh" * 9)


def test_every_bit_of_a_byte_source_comes_from_its_bytes() -> None:
    source = FromBytes(bytes([255]) * 4)
    assert source.getrandbits(9) == 511
    assert source.getrandbits(16) == 2**16 - 1
    assert source.getrandbits(16) == 0
    assert [FromBytes(b"").choice("abc"), FromBytes(b"").random()] == ["a", 0.0]
