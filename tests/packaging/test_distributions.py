"""The built files: what is in them, and that the wheel works where nothing else is installed."""

from __future__ import annotations

import email
import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email.message import Message
from pathlib import Path
from typing import NamedTuple

import pytest

import fullrank

pytestmark = pytest.mark.slow

NO_CLI = 'The fullrank command needs typer: pip install "fullrank[cli]"\n'


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run without what would lead back to the source folder, or to data that a wheel lacks."""
    hidden = ("PYTHON", "FULLRANK_DATA")
    env = {key: value for key, value in os.environ.items() if not key.startswith(hidden)}
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=env | {"PYTHONUTF8": "1"},
        cwd=cwd,
    )


class Built(NamedTuple):
    wheel: Path
    sdist: Path


class Environment(NamedTuple):
    folder: Path
    wheel: Path
    constraints: Path

    def script(self, name: str) -> Path:
        scripts = sysconfig.get_path("scripts", "venv", vars={"base": str(self.folder)})
        return Path(scripts, name + (".exe" if os.name == "nt" else ""))

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        return run(*command, cwd=self.folder)

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(self.script("python"), *arguments)

    def install(self, what: str) -> None:
        done = self.run(
            *(sys.executable, "-m", "pip", "--python", self.script("python"), "install"),
            *("--quiet", "--constraint", self.constraints, what),
        )
        offline = "No matching distribution" in done.stderr or "onnection" in done.stderr
        if done.returncode and offline and os.environ.get("FULLRANK_REQUIRE_EXTRAS") != "1":
            pytest.skip("pip finds no package index")
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The sdist, and the wheel built from it."""
    pytest.importorskip("build")
    out = tmp_path_factory.mktemp("dist")
    done = run(*(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, root), cwd=out)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = out.glob("*.whl")
    (sdist,) = out.glob("*.tar.gz")
    return Built(wheel, sdist)


@pytest.fixture(scope="module")
def wheel_names(built: Built) -> list[str]:
    with zipfile.ZipFile(built.wheel) as wheel:
        return wheel.namelist()


@pytest.fixture(scope="module")
def sdist_names(built: Built) -> list[str]:
    with tarfile.open(built.sdist) as sdist:
        return [name.partition("/")[2] for name in sdist.getnames()]


@pytest.fixture(scope="module")
def metadata(built: Built) -> Message:
    with zipfile.ZipFile(built.wheel) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(wheel.read(name))


@pytest.fixture(scope="module")
def environment(root: Path, built: Built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment that holds the wheel and its core dependencies only."""
    folder = tmp_path_factory.mktemp("environment")
    done = run(*(sys.executable, "-m", "venv", "--without-pip", folder), cwd=folder)
    assert done.returncode == 0, done.stderr
    environment = Environment(folder, built.wheel, root / "constraints.txt")
    environment.install(str(built.wheel))
    return environment


def test_the_wheel_has_the_package_and_no_data(wheel_names: list[str]) -> None:
    source = Path(fullrank.__file__).parent
    modules = {f"fullrank/{p.relative_to(source).as_posix()}" for p in source.rglob("*.py")}
    assert modules <= set(wheel_names)
    assert "fullrank/py.typed" in wheel_names
    assert {name.split("/")[0] for name in wheel_names} == {
        "fullrank",
        f"fullrank-{fullrank.__version__}.dist-info",
    }
    assert [name for name in wheel_names if name.endswith((".parquet", ".nbi", ".pyc"))] == []


def test_the_sdist_has_the_data_and_its_terms(sdist_names: list[str]) -> None:
    assert {"data/ml-latest-small.parquet", "data/ml-latest-small.README.txt"} <= set(sdist_names)
    assert [name for name in sdist_names if name.endswith((".nbi", ".pyc"))] == []


def test_the_sdist_can_be_tested(sdist_names: list[str]) -> None:
    needed = {"Makefile", "constraints.txt", "LICENSE", "tests/conftest.py"}
    studies = {"reproduction/runner.py", "reproduction/results/papers/rendle2019.json"}
    assert needed | studies <= set(sdist_names)


def test_the_metadata(metadata: Message) -> None:
    assert metadata["Name"] == "fullrank"
    assert metadata["Version"] == fullrank.__version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0 AND LicenseRef-GroupLens"
    assert metadata.get_all("License-File") == ["LICENSE", "data/ml-latest-small.README.txt"]


def test_core_dependencies_are_the_six(metadata: Message) -> None:
    core = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    names = {line.split(">")[0] for line in core}
    assert names == {"numpy", "scipy", "numba", "pyarrow", "safetensors", "threadpoolctl"}


def test_the_wheel_alone_has_every_public_name(environment: Environment) -> None:
    done = environment.python(
        "-W",
        "error",
        "-c",
        "import fullrank; [getattr(fullrank, name) for name in fullrank.__all__]; "
        "print(fullrank.__file__)",
    )
    assert done.stderr == ""
    assert Path(done.stdout.strip()).is_relative_to(environment.folder)


@pytest.mark.parametrize("how", ["script", "module"])
def test_the_wheel_alone_prints_the_pip_line(environment: Environment, how: str) -> None:
    if how == "script":
        done = environment.run(environment.script("fullrank"), "demo")
    else:
        done = environment.python("-m", "fullrank", "demo")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", NO_CLI)


@pytest.mark.verify
def test_with_the_extra_the_command_runs(environment: Environment) -> None:  # after those above
    environment.install(f"{environment.wheel}[cli]")
    done = environment.run(environment.script("fullrank"), "--version")
    assert (done.returncode, done.stdout) == (0, f"fullrank {fullrank.__version__}\n")


@pytest.mark.verify
def test_the_demo_from_a_wheel_simulates_and_says_so(environment: Environment) -> None:
    environment.install(f"{environment.wheel}[cli]")
    done = environment.run(environment.script("fullrank"), "demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "simulated" in done.stdout
    assert 'Writing a report needs jinja2: pip install "fullrank[report]"\n' in done.stdout
