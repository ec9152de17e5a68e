"""Check what a release needs, build it, and say what is left to do.

    make release                        # in an environment of its own, with twine and cffconvert
    python tools/release.py --recipe    # write tools/conda/meta.yaml from pyproject.toml

Each line of the list is "ok", "to do" (a decision or a step of a person) or "failed". The exit code
is 0 when every line is ok. Nothing is uploaded; the last line is the command that does.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
RECIPE = ROOT / "tools" / "conda" / "meta.yaml"
# Conda-forge's `python_min`, the Python that it builds and tests packages of pure Python with: 3.11
# since it dropped 3.10, on 31 August 2026. A recipe sets the variable only above that.
PYTHON_MIN = (3, 11)
# Names on GitHub of those who look after the package at conda-forge, each of whom has agreed to it.
MAINTAINERS: tuple[str, ...] = ()
# What PyPI calls otherwise than conda-forge does.
CONDA_NAMES = {"build": "python-build", "matplotlib": "matplotlib-base", "torch": "pytorch"}


class Finding(NamedTuple):
    """One line of the list."""

    state: str
    what: str


def project() -> dict[str, Any]:
    """The table `project` of pyproject.toml."""
    content: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return content["project"]


def version() -> str:
    """The version in the sources."""
    source = (ROOT / "src" / "fullrank" / "__init__.py").read_text("utf-8")
    found = re.search(r'^__version__ = "(.+)"$', source, flags=re.MULTILINE)
    assert found is not None
    return found[1]


# -- The checks


def versions() -> Iterator[Finding]:
    """One version everywhere, and a changelog that dates it."""
    now = version()
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    yield _one(f"version: {now}\n" in citation, f"CITATION.cff has version {now}")
    heading = re.search(
        rf"^## \[{re.escape(now)}\] - (.+)$",
        (ROOT / "CHANGELOG.md").read_text("utf-8"),
        flags=re.MULTILINE,
    )
    if heading is None:
        yield Finding("failed", f"CHANGELOG.md has no heading for {now}")
    else:
        dated = re.fullmatch(r"\d{4}-\d\d-\d\d", heading[1]) is not None
        yield Finding("ok" if dated else "to do", f"CHANGELOG.md: {now} - {heading[1]}")
    tags = _git("tag", "--points-at", "HEAD")
    tagged = tags is not None and f"v{now}" in tags.split()
    yield Finding("ok" if tagged else "to do", f"the commit has the tag v{now}")
    yield Finding("to do" if _git("status", "--porcelain") != "" else "ok", "all is committed")


def metadata() -> Iterator[Finding]:
    """Classifiers that exist and are true, and links."""
    from trove_classifiers import classifiers

    table = project()
    unknown = sorted(set(table["classifiers"]) - set(classifiers))
    yield _one(not unknown, f"classifiers are in the trove{_of(unknown)}")
    claimed = re.findall(r"Python :: (3\.\d+)", "\n".join(table["classifiers"]))
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    untried = sorted(set(claimed) - set(re.findall(r"\belsewhere \S+ (3\.\d+) ", script)))
    yield _one(not untried, f"CI runs Python {', '.join(claimed)}{_of(untried)}")
    links = table.get("urls", {})
    missing = {"Homepage", "Documentation", "Source", "Issues", "Changelog"} - set(links)
    yield Finding("to do" if missing else "ok", f"project.urls{_of(sorted(missing), 'lacks')}")
    relative = re.findall(r"\]\((?!https?://|#)([^)]+)\)", (ROOT / "README.md").read_text("utf-8"))
    yield Finding(
        "to do" if relative else "ok",
        f"README.md has {len(relative)} links into the repository, which are dead on PyPI",
    )


def citation() -> Iterator[Finding]:
    """CITATION.cff is valid, and every work in it can be found."""
    command = "from cffconvert.cli.cli import cli; cli()"
    path = str(ROOT / "CITATION.cff")
    done = _tried(sys.executable, "-c", command, "--validate", "-i", path)
    yield _one(done.returncode == 0, "CITATION.cff is valid (cffconvert)")
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    works = re.split(r"^  - type: ", text, flags=re.MULTILINE)[1:]
    known = [one for one in works if re.search(r"^ +(doi:|value: \"arXiv:)", one, re.MULTILINE)]
    yield _one(works == known, f"{len(known)} of {len(works)} cited works have a DOI or arXiv id")


def files() -> Iterator[Finding]:
    """The wheel and the source archive, as twine sees them, and what is in them."""
    for old in DIST.glob("fullrank-*"):
        old.unlink()
    done = _tried(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT))
    yield _one(done.returncode == 0, "the source archive is built, and the wheel from it")
    if done.returncode:
        return
    built = sorted(DIST.glob(f"fullrank-{version()}*"))
    checked = _tried(sys.executable, "-m", "twine", "check", "--strict", *map(str, built))
    yield _one(checked.returncode == 0, f"twine check --strict {' '.join(p.name for p in built)}")
    (wheel,) = (one for one in built if one.suffix == ".whl")
    (sdist,) = (one for one in built if one.name.endswith(".tar.gz"))
    yield from _of_wheel(wheel)
    yield from _of_sdist(sdist)


def _of_wheel(wheel: Path) -> Iterator[Finding]:
    names = zipfile.ZipFile(wheel).namelist()
    own = ("fullrank/", f"fullrank-{version()}.dist-info/")
    strange = [one for one in names if not one.startswith(own)]
    yield _one(not strange, f"the wheel holds fullrank alone{_of(strange)}")
    needed = {f"{own[1]}licenses/{one}" for one in project()["license-files"]}
    absent = sorted({*needed, "fullrank/py.typed"} - set(names))
    yield _one(not absent, f"the wheel has its licences and py.typed{_of(absent, 'lacks')}")
    command = "import sys; sys.path.insert(0, sys.argv[1]); import fullrank as f"
    command += "; print(f.__version__, f.__file__)"
    said = _tried(sys.executable, "-c", command, str(wheel)).stdout
    yield _one(
        said.startswith(f"{version()} {wheel}"), "the wheel is imported and tells its version"
    )


def _of_sdist(sdist: Path) -> Iterator[Finding]:
    with tarfile.open(sdist) as archive:
        inside = {one.name.partition("/")[2] for one in archive.getmembers() if one.isfile()}
    needed = {"README.md", "CHANGELOG.md", "CITATION.cff", "Makefile", "tests/conftest.py"}
    absent = {*needed, *project()["license-files"]} - inside
    yield _one(
        not absent,
        f"the source archive has its licences, changelog and tests{_of(sorted(absent), 'lacks')}",
    )
    kept = _git("ls-files")
    if kept is not None:
        stray = sorted(inside - {*kept.splitlines(), "PKG-INFO"})
        yield _one(not stray, f"the source archive holds what is committed alone{_of(stray)}")


def conda() -> Iterator[Finding]:
    """The recipe is the one of pyproject.toml, and is complete."""
    kept = RECIPE.read_text("utf-8") if RECIPE.exists() else ""
    yield _one(kept == recipe(), "the conda recipe follows pyproject.toml (--recipe writes it)")
    broken = [rule for rule, shape in RULES.items() if not re.search(shape, kept, re.M | re.S)]
    numbers = ", ".join(rule.partition(" (")[0] for rule in RULES)
    yield _one(not broken, f"it keeps {numbers} of conda-forge's linter{_of(broken)}")
    for rule, (shape, what) in PERSONAL.items():
        met = re.search(shape, kept, re.M) is not None
        yield Finding("ok" if met else "to do", f"{rule} asks for {what}")
    archive = DIST / f"fullrank-{version()}.tar.gz"
    if archive.exists():
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        yield Finding("to do", f"a copy has the sha256 of the file that PyPI serves; here {digest}")
    yield Finding(
        "to do",
        "`conda smithy recipe-lint --conda-forge` passes the copy: it looks up the maintainers "
        f"(CF-001) and python_min (R-052), here taken to be {'.'.join(map(str, PYTHON_MIN))}",
    )


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (versions, metadata, citation, files, conda)


# -- The recipe

# The rules of conda-forge's linter (conda-smithy, August 2026) that a change of `recipe` could
# break, as shapes of the text. Those on compilers, selectors and further outputs have no object.
_SECTIONS = ("package", "source", "build", "requirements", "test", "about", "extra")
_PIN = r"[\w.-]+(?: (?:>=)?(?:[\w.]+|\{\{ python_min \}\}))?"
RULES = {
    "R-001 (order of the sections)": ".*".join(rf"^{one}:$" for one in _SECTIONS),
    "R-002 (licence and summary)": r"^  summary: \S.*^  license: \S",
    "R-005 (tests)": r"^test:\n  imports:\n    - ",
    "R-008 (number of the build)": r"^  number: \d+$",
    "R-011, R-012 (one newline at the end)": r"[^\n]\n\Z",
    "R-013 (licence file)": r"^  license_file: \S+$",
    "R-014 (name)": r'\A\{% set name = "[a-z0-9_.-]+" %\}$',
    "R-019 (hash)": r"^  sha256: \S",
    "R-021, R-022, R-048 (one space before a version)": rf"^  host:\n(?:    - {_PIN}\n)+"
    rf"  run:\n(?:    - {_PIN}\n)+$",
    "R-025 (spaces in braces)": r"\A(?:(?!\{\{)[^\n]|\{\{ [^{}\n]*\S \}\}|\n)+\Z",
    "R-026, R-047 (python_min)": r"^  host:\n    - python \{\{ python_min \}\}$.*"
    r"^  run:\n    - python >=\{\{ python_min \}\}$.*"
    r"^  requires:\n    - python \{\{ python_min \}\}$",
    "R-040 (version in quotes)": r'^  version: "\{\{ version \}\}"$',
    "R-044 (SPDX licence)": r"^  license: Apache-2\.0$",
    "R-046 (build backend)": r"^  host:\n(?:    - [^\n]+\n)*    - hatchling ",
    "R-050 (host of the archive)": r"^  url: https://pypi\.org/packages/source/",
}
# The rules that ask for what a person decides.
PERSONAL = {
    "R-002": (r"^  home: https?://\S+$", "about/home (Homepage of project.urls)"),
    "R-003": (
        r"^  recipe-maintainers:\n    - \S+$",
        "extra/recipe-maintainers (names on GitHub; MAINTAINERS of tools/release.py)",
    ),
}


def recipe() -> str:
    """A recipe for conda-forge, in the order of sections that its linter asks for."""
    # The host that PyPI documents; pypi.org sends there.
    files = "https://pypi.org/packages/source/{{ name[0] }}/{{ name }}"
    table = project()
    python = table["requires-python"].removeprefix(">=")
    newer = tuple(map(int, python.split("."))) > PYTHON_MIN
    minimum = f'{{% set python_min = "{python}" %}}\n' if newer else ""
    names = [*table["dependencies"], *table["optional-dependencies"]["cli"]]
    runs = "\n".join(f"    - {_conda(one)}" for one in names)
    content = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (builds,) = map(_conda, content["build-system"]["requires"])
    fields = {"home": "Homepage", "doc_url": "Documentation", "dev_url": "Source"}
    urls = table.get("urls", {})
    links = "".join(f"  {key}: {urls[one]}\n" for key, one in fields.items() if one in urls)
    people = "".join(f"\n    - {one}" for one in MAINTAINERS) or " []"
    return f"""{{% set name = "fullrank" %}}
{{% set version = "{version()}" %}}
{minimum}
package:
  name: {{{{ name|lower }}}}
  version: "{{{{ version }}}}"

source:
  url: {files}/fullrank-{{{{ version }}}}.tar.gz
  # Of PyPI's archive, which holds this file: it goes into a copy.
  sha256: to be filled in at the release

build:
  number: 0
  noarch: python
  script: {{{{ PYTHON }}}} -m pip install . -vv --no-deps --no-build-isolation
  entry_points:
    - fullrank = {table["scripts"]["fullrank"]}

requirements:
  host:
    - python {{{{ python_min }}}}
    - {builds}
    - pip
  run:
    - python >={{{{ python_min }}}}
{runs}

test:
  imports:
    - fullrank
  commands:
    - pip check
    - fullrank --help
  requires:
    - python {{{{ python_min }}}}
    - pip

about:
{links}  summary: {table["description"]}
  # Of what is installed. The archive also holds data, under terms of their own.
  license: {table["license"].partition(" AND ")[0]}
  license_file: LICENSE

extra:
  recipe-maintainers:{people}
"""


def _conda(requirement: str) -> str:
    found = re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement)
    if found is None:
        raise ValueError(f"The recipe has no line for the requirement {requirement!r}.")
    return f"{CONDA_NAMES.get(found[1], found[1])} >={found[2]}"


# -- Help


def _one(good: bool, what: str) -> Finding:
    return Finding("ok" if good else "failed", what)


def _of(names: list[str], word: str = "but for") -> str:
    return f", {word} {', '.join(names)}" if names else ""


def _tried(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=dict(os.environ))


def _git(*words: str) -> str | None:
    """What git prints; None outside of a repository, or without git."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        return None
    done = _tried("git", *words)
    return done.stdout if done.returncode == 0 else None


def main(arguments: list[str] | None = None) -> int:
    """Print the list."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--recipe", action="store_true", help="write the conda recipe and stop")
    if parser.parse_args(arguments).recipe:
        RECIPE.parent.mkdir(parents=True, exist_ok=True)
        RECIPE.write_text(recipe(), encoding="utf-8")
        return 0
    found = [one for check in CHECKS for one in check()]
    for state, what in found:
        print(f"{state:<6}  {what}")
    left = sum(state != "ok" for state, _ in found)
    if left:
        print(f"\n{left} of {len(found)} lines keep fullrank {version()} from being published.")
        return 1
    print(f"\nReady: python -m twine upload dist/fullrank-{version()}*")
    return 0


if __name__ == "__main__":
    sys.exit(main())
