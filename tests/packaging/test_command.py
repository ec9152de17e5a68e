"""The `fullrank` command: what it says when something is missing or wrong, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

import fullrank


def python(code: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **settings},
    )


# Run the real application with one more command, which does `{body}`.
WITH_COMMAND = """
    import sys
    from fullrank import cli
    from fullrank.cli.app import app
    from fullrank.errors import InputError

    @app.command()
    def probe():
        {body}

    sys.exit(cli.main())
"""


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_it_prints_the_pip_line(missing: str) -> None:
    done = python(
        f"""
        import sys
        sys.modules["{missing}"] = None  # as if it were not installed
        from fullrank.cli import main
        sys.exit(main())
        """
    )
    assert done.stderr == f'The fullrank command needs {missing}: pip install "fullrank[cli]"\n'
    assert done.stdout == ""
    assert done.returncode == 2


def test_version() -> None:
    pytest.importorskip("typer")
    done = subprocess.run(
        [sys.executable, "-m", "fullrank", "--version"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, f"fullrank {fullrank.__version__}\n")


def test_an_error_is_one_sentence() -> None:
    pytest.importorskip("typer")
    body = 'raise InputError("`k` must be at least 1, not 0.")'
    done = python(WITH_COMMAND.format(body=body), "probe")
    assert done.stderr == "`k` must be at least 1, not 0.\n"
    assert done.returncode == 2


def test_a_wrong_option_is_named() -> None:
    pytest.importorskip("typer")
    done = python(WITH_COMMAND.format(body="pass"), "probe", "--colour")
    assert "--colour" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 2


def test_a_fault_of_ours_is_one_sentence_with_its_traceback_on_request() -> None:
    pytest.importorskip("typer")
    sentence = "fullrank failed: ZeroDivisionError: division by zero. This is a bug in fullrank"
    done = python(WITH_COMMAND.format(body="1 / 0"), "probe")
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == 1
    assert done.returncode == 1
    more = python(WITH_COMMAND.format(body="1 / 0"), "probe", FULLRANK_TRACEBACK="1")
    assert more.stderr.startswith(sentence)
    assert "Traceback" in more.stderr


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("raise OSError(28, 'No space left on device')", "The run failed: No space left on device"),
        ("raise MemoryError", "The run failed: not enough memory"),
    ],
)
def test_a_failed_run_is_one_sentence(body: str, sentence: str) -> None:
    pytest.importorskip("typer")
    done = python(WITH_COMMAND.format(body=body), "probe")
    assert (done.returncode, done.stderr) == (1, f"{sentence}.\n")


def test_a_warning_is_one_line() -> None:
    pytest.importorskip("typer")
    body = "import warnings; warnings.warn('two rows were dropped')"
    done = python(WITH_COMMAND.format(body=body), "probe")
    assert (done.returncode, done.stderr) == (0, "Note: two rows were dropped\n")


def test_an_interrupt_ends_quietly() -> None:
    pytest.importorskip("typer")
    done = python(WITH_COMMAND.format(body="raise KeyboardInterrupt"), "probe")
    assert (done.returncode, done.stderr) == (130, "")


def test_a_console_without_our_signs_still_works() -> None:
    pytest.importorskip("typer")
    done = python(
        WITH_COMMAND.format(body='print("95 % ▲")'),
        "probe",
        PYTHONIOENCODING="ascii",
        PYTHONUTF8="0",
    )
    assert (done.returncode, done.stdout) == (0, "95 % ?\n")


@pytest.mark.parametrize("lines", [1, 100_000])  # fails at the last flush, or in the middle
def test_a_reader_that_leaves_is_no_error(lines: int) -> None:
    pytest.importorskip("typer")
    body = f"sys.stdin.readline(); [print('line') for _ in range({lines})]"
    writer = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WITH_COMMAND.format(body=body)), "probe"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert writer.stdin is not None
    assert writer.stdout is not None
    assert writer.stderr is not None
    writer.stdout.close()
    writer.stdin.write(b"go\n")
    writer.stdin.close()
    said = writer.stderr.read()
    writer.stderr.close()
    assert (writer.wait(), said) == (1, b"")
