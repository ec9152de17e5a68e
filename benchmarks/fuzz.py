"""Fuzz every reader, public function and command with invalid inputs.

    python benchmarks/fuzz.py                          a short run of every target
    python benchmarks/fuzz.py --inputs 1000000         the long form, dealt out by shares
    python benchmarks/fuzz.py --processes 2            two targets at a time
    python benchmarks/fuzz.py --seconds 10             as many inputs as fit, for every target
    python benchmarks/fuzz.py --target "csv|archives"  those whose names fit
    python benchmarks/fuzz.py --target rank --input 7  one input again, with its traceback
    python benchmarks/fuzz.py --atheris 60             guided by coverage, where atheris is

A violation is a crash, an input that takes longer than the deadline, a NaN in an answer, an
exception or a warning that is not one of fullrank.errors, an error that is not one printable
sentence, or a temporary file left behind. Each target runs in a process of its own with 4 GiB of
memory, so that a crash is counted and memory that is not asked for by the number is an error.
Inputs are numbered: the same number makes the same input. The last line is JSON.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "fuzz"))

# For one input, several times what the slowest takes: seconds of processor time, because others may
# keep the machine busy, and of the clock, because an input that waits for ever uses none.
DEADLINE, PATIENCE = 20.0, 300.0
# Threads of BLAS that wait for each other on a busy machine spend processor time: six times as much
# was seen.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
# MEMORY limits the address space, of which Arrow's own pools keep what a damaged file claimed for a
# moment: gigabytes that were never touched, after which no thread could be started.
os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
MEMORY = 4 * 2**30  # beyond what the imports take


def main() -> int:
    options = _options()
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    harness = _harness()
    chosen = {n: t for n, t in harness.TARGETS.items() if re.search(options.target, n)}
    if not chosen:
        print(
            f"No target is called {options.target!r}; the targets are: "
            f"{', '.join(harness.TARGETS)}."
        )
        return 2
    if options.input is not None:
        return _again(chosen, options.input)
    if options.atheris:
        return _guided(chosen, options.atheris)
    shares = sum(one.share for one in chosen.values())
    width = max(map(len, chosen))
    head = f"{'inputs':>9} {'per s':>7} {'returned':>9} {'errors':>7} {'violations':>11}"
    print(f"{'target':<{width}} {head}")
    total: dict[str, Any] = {"inputs": 0, "violations": 0, "seconds": 0.0, "targets": {}}

    def run(one: Any) -> dict[str, Any]:
        number = max(1, round(options.inputs * one.share / shares))
        number = number if options.seconds is None else 10**9
        return _run(one.name, options.start, number, options.seconds)

    with ThreadPoolExecutor(options.processes) as pool:  # each thread waits for a process
        results = pool.map(run, chosen.values())
        _show(zip(chosen, results, strict=True), width, total)
    total["seconds"] = round(total["seconds"], 1)
    print(f"{'total':<{width}} {total['inputs']:>9,} inputs, {total['violations']} violations, "
          f"{total['seconds']:,.0f} s")  # fmt: skip
    print(json.dumps(total))
    return int(total["violations"] > 0)


def _show(results: Iterable[tuple[str, dict[str, Any]]], width: int, total: dict[str, Any]) -> None:
    """Print what was found by each target, in order, and add it to the total."""
    for name, found in results:
        total["targets"][name] = found
        for key in ("inputs", "violations", "seconds"):
            total[key] += found[key]
        print(
            f"{name:<{width}} {found['inputs']:>9,} {found['inputs'] / found['seconds']:>7,.0f} "
            f"{found['returned']:>9,} {found['errors']:>7,} {found['violations']:>11,}",
            flush=True,
        )
        for text, example in found["examples"].items():
            print(f"    {text}\n        {example}", flush=True)


def _harness() -> Any:
    """The harness, with every target registered."""
    import command_targets as _commands
    import evaluation_targets as _evaluation
    import function_targets as _functions
    import harness
    import reader_targets as _readers

    _ = _commands, _evaluation, _functions, _readers
    if importlib.util.find_spec("torch") is not None:
        import torch_targets as _torch

        _ = (*_, _torch)
    return harness


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--inputs", type=int, default=20_000, help="total number of inputs, divided by share"
    )
    parser.add_argument(
        "--seconds", type=float, default=None, help="time per target, instead of --inputs"
    )
    parser.add_argument("--processes", type=int, default=1, help="targets that run at a time")
    parser.add_argument("--start", type=int, default=0, help="the number of the first input")
    parser.add_argument("--target", default="", help="pattern of the names of targets")
    parser.add_argument("--input", type=int, default=None, help="repeat one input")
    parser.add_argument(
        "--atheris",
        type=int,
        default=0,
        metavar="SECONDS",
        help="run atheris for this long on each target",
    )
    return parser.parse_args()


def _again(chosen: dict[str, Any], number: int) -> int:
    import harness

    outcome = harness.Outcome()
    for name, one in chosen.items():
        harness.try_one(one, harness.seeded(name, number), f"{name} {number}", outcome)
    for found, example in outcome.examples.items():
        print(f"{found}\n{example}")
    print("errors:", list(outcome.errors), "returned:", outcome.returned)
    return int(bool(outcome.violations))


def _run(name: str, start: int, number: int, seconds: float | None) -> dict[str, Any]:
    """A target in processes of their own: one that dies or hangs is replaced."""
    context = multiprocessing.get_context("spawn")
    sums: dict[str, Any] = {"inputs": 0, "returned": 0, "violations": 0, "seconds": 0.0}
    kinds: set[str] = set()
    examples: dict[str, str] = {}
    place, end, began = start, start + number, time.monotonic()
    while place < end:
        beat = context.Array("q", [place, 0], lock=False)  # the input at hand, and whether ready
        answers, sender = context.Pipe(duplex=False)
        left = None if seconds is None else seconds - (time.monotonic() - began)
        process = context.Process(target=_work, args=(name, place, end, left, beat, sender))
        process.start()
        sender.close()
        died, found = _watch(process, beat, answers)
        at = beat[0]
        if found is not None:
            for key in sums:
                sums[key] += found[key]
            kinds |= set(found["kinds"])
            examples |= found["examples"]
        if found is not None:
            break
        # what was counted before is lost with the process; the inputs were made all the same
        sums["inputs"] += at - place + 1
        sums["violations"] += 1
        examples[died] = f"input {at}"
        place = at + 1
        if seconds is not None and time.monotonic() - began > seconds:
            break
    sums["seconds"] = max(sums["seconds"], 1e-3)
    return sums | {"errors": len(kinds), "examples": dict(list(examples.items())[:8])}


def _watch(process: Any, beat: Any, answers: Any) -> tuple[str, Any]:
    """Wait for a worker: what became of it, and what it found if it came to its end."""
    last, since, used = -1, time.monotonic(), 0.0
    while process.is_alive() and not answers.poll(0.5):
        now = _processor_seconds(process.pid)
        if beat[0] != last or not beat[1]:
            last, since, used = beat[0], time.monotonic(), now
        elif now - used > DEADLINE or time.monotonic() - since > PATIENCE:
            process.kill()
            process.join()
            return f"hang: more than {DEADLINE:.0f} s of processor time, or {PATIENCE:.0f} s", None
    try:
        found = answers.recv()
    except EOFError:
        found = None
    process.join(30)
    return f"crash: exit code {process.exitcode}", found


def _processor_seconds(pid: int) -> float:
    """What a process has used; elsewhere than on Linux 0, so that only the clock counts."""
    try:
        content = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    user, system = content.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _work(name: str, start: int, end: int, seconds: float | None, beat: Any, sender: Any) -> None:
    harness = _harness()
    one = harness.TARGETS[name]
    outcome = harness.Outcome()
    harness.try_one(one, harness.seeded(name, -1), "-1", harness.Outcome())  # compiles and loads
    _limit_memory()
    began = time.monotonic()
    beat[1] = 1
    try:
        for number in range(start, end):
            beat[0] = number
            harness.try_one(one, harness.seeded(name, number), f"input {number}", outcome)
            if seconds is not None and time.monotonic() - began > seconds:
                break
        sender.send(
            {
                "inputs": outcome.inputs,
                "returned": outcome.returned,
                "violations": sum(outcome.violations.values()),
                "seconds": time.monotonic() - began,
                "kinds": list(outcome.errors),
                "examples": {k: v.splitlines()[0] for k, v in list(outcome.examples.items())[:8]},
            }
        )
    finally:
        shutil.rmtree(harness.folder(), ignore_errors=True)


def _limit_memory() -> None:
    """So much memory and no more, which `fullrank._lib.memory` is to know as well."""
    if sys.platform != "linux":
        return
    import resource

    from fullrank._lib import memory

    with open("/proc/self/statm", encoding="ascii") as pages:
        used = int(pages.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    memory.limit.cache_clear()
    known = memory.limit
    memory.limit = lambda: min(known(), MEMORY // 2)  # type: ignore[assignment]


def _guided(chosen: dict[str, Any], seconds: int) -> int:
    """Libfuzzer changes the bytes from which a target draws, after the lines that it reached."""
    bad = inputs = 0
    for name in chosen:
        with tempfile.TemporaryFile("w+", errors="replace") as said:
            pid = os.fork()
            if pid == 0:
                os.dup2(said.fileno(), 2)
                _atheris(name, seconds)
            _, status = os.waitpid(pid, 0)
            said.seek(0)
            text = said.read()
        count = re.search(r"number_of_executed_units:\s*(\d+)", text)
        done = int(count[1]) if count else 0
        ended = os.waitstatus_to_exitcode(status)
        verdict = "no violation" if ended == 0 else f"exit code {ended}\n{text[-2000:]}"
        print(f"{name}: {done:,} inputs, {verdict}", flush=True)
        bad, inputs = bad + (ended != 0), inputs + done
    print(f"total: {inputs:,} inputs, {bad} targets with a violation")
    return int(bad > 0)


def _atheris(name: str, seconds: int) -> None:
    import atheris
    import harness
    import mutation

    one = harness.TARGETS[name]
    for module in [m for n, m in sys.modules.items() if n.startswith("fullrank.") and m]:
        for value in list(vars(module).values()):
            if getattr(value, "__module__", None) == module.__name__ and hasattr(value, "__code__"):
                atheris.instrument_func(value)

    def run(content: bytes) -> None:
        outcome = harness.Outcome()
        harness.try_one(one, mutation.FromBytes(content), name, outcome)
        for found, example in outcome.examples.items():
            raise RuntimeError(f"{found}\n{example}")

    signal.alarm(seconds + 60)
    atheris.Setup(
        [
            sys.argv[0],
            f"-max_total_time={seconds}",
            f"-timeout={DEADLINE:.0f}",
            f"-artifact_prefix={harness.folder()}/",
            *("-max_len=2048", "-len_control=0", "-verbosity=0", "-print_final_stats=1"),
        ],
        run,
    )
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
