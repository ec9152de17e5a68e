"""Who imports whom in src/fullrank, read from the sources without running them.

Prints imports against the order of the rooms, private modules and names used outside of their
folder, cycles of modules, folders with too many files, and file names that occur twice. A room is
a top folder of the package; a folder within it belongs to it, and counts as a folder of its own.

    python tools/import_graph.py                    # src/fullrank, with tests and benchmarks
    python tools/import_graph.py src/fullrank --outside tests --strict
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAX_FILES = 15

EAGER = "eager"  # when the module is loaded
LAZY = "lazy"  # inside of a function, when it is called
TYPING = "typing"  # under `if TYPE_CHECKING:`, never
KINDS = (EAGER, LAZY, TYPING)
RUNTIME = (EAGER, LAZY)


@dataclass(frozen=True)
class Import:
    """One name that one module imports from another, traced to the module that defines it."""

    importer: str  # "fullrank.data.splits"
    target: str  # "fullrank.data.interactions", or the package if that is what is imported
    name: str | None  # "Interactions", or None for the module itself
    written: str  # "fullrank.Interactions", as the importer has it
    kind: str
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.importer} -> {self.written} ({self.kind})"


# The order of the rooms: what each may import beside itself. `errors` is open to all.

Order = Mapping[str, frozenset[str]]


def in_order(
    flow: Sequence[str], *, beside: Mapping[str, Iterable[str]], above: Collection[str]
) -> Order:
    """Each room of the flow may import those before it, those above anything."""
    order = {room: frozenset(flow[:place]) for place, room in enumerate(flow)}
    order |= {room: frozenset(may) for room, may in beside.items()}
    return order | {room: frozenset({*order, *above, ""}) for room in above}


_FLOW = (
    "_lib",
    "tables",
    "metrics",
    "data",
    "designs",
    "samples",
    "scorers",
    "ranking",
    "estimators",
    "inference",
    "reporting",
)
_BESIDE = ("engines", "losses", "models")
FLOOR_PLAN = in_order(
    _FLOW,
    beside={
        "engines": ["_lib"],
        "losses": ["_lib"],
        "models": [*_FLOW[: _FLOW.index("ranking") + 1], "losses"],
        "evaluation": [*_FLOW, *_BESIDE],
        "torch": [*_FLOW, *_BESIDE],
        "integrations": [*_FLOW, *_BESIDE, "evaluation", "torch"],
        "testing": [*_FLOW, *_BESIDE, "evaluation", "torch", "integrations"],
    },
    above=["cli", "__main__"],
)
# Before the rooms of the floor plan: the private modules at the top are what `_lib` is there.
STAGES = in_order(
    (
        "_lib",
        "data",
        "metrics",
        "sampling",
        "ranking",
        "losses",
        "models",
        "estimators",
        "inference",
        "report",
    ),
    beside={},
    above=["cli", "demo", "engines", "evaluation", "testing", "__main__"],
)


def order_of(source: Path) -> Order:
    """The order that a source folder is in."""
    return FLOOR_PLAN if (source / "_lib").is_dir() else STAGES


# Names of modules, and of the rooms and folders they are in.


def modules(source: Path) -> dict[str, Path]:
    """Each module below `source`, by its dotted name; a package by its own."""
    named = {}
    for path in sorted(source.rglob("*.py")):
        parts = (source.name, *path.relative_to(source).with_suffix("").parts)
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


def is_private(part: str) -> bool:
    """Whether a name has a leading underscore and is neither `__dunder__` nor the room `_lib`."""
    return part.startswith("_") and part != "_lib" and not part.endswith("__")


def room(module: str) -> str:
    """The top folder, "" for the package itself; private modules at the top are `_lib`."""
    top = (module + ".").split(".")[1]
    return "_lib" if is_private(top) else top


def folder(module: str, known: Mapping[str, Path]) -> str:
    """The package that a module lies in, which for a package is itself."""
    path = known.get(module)
    return module if path is not None and _is_init(path) else module.rpartition(".")[0]


# Reading the imports.


class _Reader(ast.NodeVisitor):
    """Collects (base, name or None, kind, line) for every import of one file."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.kind = EAGER
        self.found: list[tuple[str, str | None, str, int]] = []

    def _within(self, kind: str, nodes: Iterable[ast.AST]) -> None:
        before, self.kind = self.kind, kind if self.kind != TYPING else TYPING
        for node in nodes:
            self.visit(node)
        self.kind = before

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        self._within(LAZY, ast.iter_child_nodes(node))

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef  # noqa: N815

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test).endswith("TYPE_CHECKING"):
            self._within(TYPING, node.body)
            self._within(self.kind, node.orelse)
        else:
            self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        self.found += [(alias.name, None, self.kind, node.lineno) for alias in node.names]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            parts = self.package.split(".")
            base = ".".join([*parts[: len(parts) - node.level + 1], *([base] if base else [])])
        self.found += [(base, alias.name, self.kind, node.lineno) for alias in node.names]

    def visit_Call(self, node: ast.Call) -> None:
        if ast.unparse(node.func).endswith("import_module"):
            self.found += [
                (argument.value, None, self.kind, node.lineno)
                for argument in node.args[:1]
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            ]
        self.generic_visit(node)


def read(text: str, module: str, package: str, path: str = "") -> list[Import]:
    """The imports of a text, as written: names that a package passes on are not traced yet."""
    reader = _Reader(package)
    reader.visit(ast.parse(text))
    return [
        Import(module, base, name, _dotted(base, name), kind, path, line)
        for base, name, kind, line in reader.found
    ]


def _dotted(base: str, name: str | None) -> str:
    return base if name is None else f"{base}.{name}"


def _passed_on(text: str, package: str) -> dict[str, tuple[str, str | None]]:
    """The names of an `__init__` that it only passes on, and what they stand for.

    From its imports, under TYPE_CHECKING or not, and from tables {"name": "package.module"}.
    """
    tree = ast.parse(text)
    names: dict[str, tuple[str, str | None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                    base = str(value.value)
                    if base.split(".")[0] == package.split(".")[0]:
                        module = base.rpartition(".")[2] == key.value
                        names[str(key.value)] = (base, None if module else str(key.value))
    reader = _Reader(package)
    reader.visit(tree)
    names |= {name: (base, name) for base, name, _, _ in reader.found if name is not None}
    return names


@dataclass(frozen=True)
class Package:
    """The modules of a source folder, and where the names come from that packages pass on."""

    name: str
    modules: Mapping[str, Path]
    passed_on: Mapping[str, Mapping[str, tuple[str, str | None]]]

    @classmethod
    def at(cls, source: Path) -> Package:
        found = modules(source)
        return cls(
            source.name,
            found,
            {
                module: _passed_on(path.read_text("utf-8"), module)
                for module, path in found.items()
                if _is_init(path)
            },
        )

    def traced(self, one: Import) -> Import:
        """The same import with the module that defines what is imported."""
        target, name = one.target, one.name
        for _ in range(len(self.modules)):
            if name is None or f"{target}.{name}" in self.modules:
                return replace(one, target=_dotted(target, name), name=None)
            home = self.passed_on.get(target, {}).get(name)
            if home is None or home == (target, name):
                break
            target, name = home
        return replace(one, target=target, name=name)

    def imports(self, text: str, module: str, *, package: str = "", path: str = "") -> list[Import]:
        """What a text imports of this package, each name traced to its module."""
        found = read(text, module, package or folder(module, self.modules), path)
        return [self.traced(one) for one in found if one.target.split(".")[0] == self.name]


def imports_of(source: Path) -> list[Import]:
    """Every import between modules of the package in `source`."""
    package = Package.at(source)
    return [
        one
        for module, path in package.modules.items()
        for one in package.imports(
            path.read_text("utf-8"), module, path=path.relative_to(source.parent).as_posix()
        )
    ]


def imports_from_outside(source: Path, folders: Iterable[Path]) -> list[Import]:
    """What files in other folders import of the package: tests, benchmarks, examples.

    Private names taken from a module that was imported, `module._name`, are told as well.
    """
    package = Package.at(source)
    found = []
    for top in folders:
        for path in sorted(top.rglob("*.py")):
            text, shown = path.read_text("utf-8"), path.relative_to(top.parent).as_posix()
            module = shown.removesuffix(".py").replace("/", ".")
            own = package.imports(text, module, package=module.rpartition(".")[0], path=shown)
            found += [*own, *_private_attributes(text, module, package, shown)]
    return found


def _private_attributes(text: str, module: str, package: Package, path: str) -> Iterator[Import]:
    tree = ast.parse(text)
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            for alias in node.names:
                base = getattr(node, "module", None)
                name = alias.name if base else None
                one = package.traced(Import(module, base or alias.name, name, "", "", "", 0))
                if one.name is None and one.target in package.modules:
                    bound[alias.asname or alias.name] = one.target
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            target = bound.get(ast.unparse(node.value))
            if target is not None:
                written = f"{target}.{node.attr}"
                yield Import(module, target, node.attr, written, EAGER, path, node.lineno)


# What is wrong with them.


def breaches(
    imports: Iterable[Import], order: Order, kinds: Collection[str] = KINDS
) -> list[Import]:
    """Imports against the order; those of a room without a place in it are all breaches.

    `import fullrank` itself could reach any room and hides which: only those above all may.
    """
    return [
        one for one in imports if one.kind in kinds and "." in one.importer and not _may(one, order)
    ]


def _may(one: Import, order: Order) -> bool:
    own, other = room(one.importer), room(one.target)
    if own == "errors":
        return other in ("errors", "_lib")
    if own not in order:
        return False
    return other in (own, "errors") or one.name == "__version__" or other in order[own]


def private_uses(imports: Iterable[Import], known: Mapping[str, Path]) -> list[Import]:
    """Imports of a private module or name, as written, from outside of the folder it lies in.

    What a package passes on under a public name is public. Private modules at the top of the
    package, which serve every room, are not counted.
    """
    return [one for one in imports if _is_intrusion(one, known)]


def _is_intrusion(one: Import, known: Mapping[str, Path]) -> bool:
    own = folder(one.importer, known)
    parts = one.written.split(".")
    for place, part in enumerate(parts):
        private = ".".join(parts[: place + 1])
        if not is_private(part) or (place == 1 and private in known):
            continue
        owner = folder(".".join(parts[:place]), known)
        if own != owner and own != private and not own.startswith(private + "."):
            return True
    return False


Edges = Mapping[str, frozenset[str]]


def edges(
    imports: Iterable[Import],
    known: Mapping[str, Path],
    *,
    kinds: Collection[str] = RUNTIME,
    without: Collection[tuple[str, str]] = (),
) -> Edges:
    """Which modules each module imports, less the pairs (importer, target) in `without`.

    Packages are left out: what they pass on is traced to where it is defined.
    """
    found: dict[str, set[str]] = {module: set() for module in known if not _is_init(known[module])}
    for one in imports:
        both = one.importer in found and one.target in found
        if both and one.kind in kinds and (one.importer, one.target) not in without:
            found[one.importer].add(one.target)
    return {module: frozenset(targets - {module}) for module, targets in found.items()}


def own_package_imports(imports: Iterable[Import], known: Mapping[str, Path]) -> list[Import]:
    """Imports of the very package, or of a name that its `__init__` defines, from inside of it."""
    return [
        one
        for one in imports
        if one.target in known
        and _is_init(known[one.target])
        and one.importer.startswith(one.target + ".")
        and "." in one.target
    ]


def _is_init(path: Path) -> bool:
    return path.stem == "__init__"


def cycles(graph: Edges) -> list[tuple[str, ...]]:
    """The strongly connected components of more than one module (Tarjan), sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[tuple[str, ...]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            place = stack.index(node)
            component = stack[place:]
            del stack[place:]
            if len(component) > 1:
                found.append(tuple(sorted(component)))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found)


def cycles_by_folder(graph: Edges, known: Mapping[str, Path]) -> dict[str, list[tuple[str, ...]]]:
    """The cycles among the modules of each folder, those of its subfolders not counted."""
    found = {}
    for place in sorted({folder(module, known) for module in known}):
        inside = {module for module in known if folder(module, known) == place}
        part = {module: graph.get(module, frozenset()) & inside for module in inside}
        if components := cycles(part):
            found[place] = components
    return found


def cycles_of_folders(graph: Edges, known: Mapping[str, Path]) -> list[tuple[str, ...]]:
    """Folders that import each other, in a ring or directly; the package itself left out."""
    between: dict[str, set[str]] = defaultdict(set)
    for module, targets in graph.items():
        for target in targets:
            here, there = folder(module, known), folder(target, known)
            if here != there and "." in here and "." in there:
                between[here].add(there)
    return cycles({place: frozenset(others) for place, others in between.items()})


def files_per_folder(known: Mapping[str, Path]) -> dict[str, int]:
    """How many modules each folder holds, `__init__` not counted."""
    places = [folder(module, known) for module, path in known.items() if not _is_init(path)]
    return dict(sorted(Counter(places).items()))


def repeated_basenames(known: Mapping[str, Path]) -> dict[str, list[str]]:
    """File names that occur in more than one folder, `__init__` and `__main__` aside."""
    found: dict[str, list[str]] = defaultdict(list)
    for module, path in known.items():
        if not path.stem.startswith("__"):
            found[path.stem].append(module)
    return {name: places for name, places in sorted(found.items()) if len(places) > 1}


# Telling.


def _section(title: str, lines: Sequence[str]) -> int:
    print(f"\n{title}: {len(lines)}")
    for line in lines:
        print(f"  {line}")
    return len(lines)


def _by_kind(imports: Sequence[Import]) -> str:
    counted = Counter(one.kind for one in imports)
    return ", ".join(f"{counted[kind]} {kind}" for kind in KINDS)


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was found; with --strict, end with 1 if there is anything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", nargs="?", type=Path, default=ROOT / "src" / "fullrank")
    parser.add_argument("--outside", nargs="*", type=Path, help="folders that import the package")
    parser.add_argument("--order", choices=["floor-plan", "stages"], help="by what is there")
    parser.add_argument("--max-files", type=int, default=MAX_FILES, help="per folder")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if anything is found")
    told = parser.parse_args(argv)

    source = told.source.resolve()
    outside = told.outside
    if outside is None:
        beside = [source.parents[1] / name for name in ("tests", "benchmarks", "reproduction")]
        outside = [place for place in beside if place.is_dir()]
    order = {"floor-plan": FLOOR_PLAN, "stages": STAGES}.get(told.order, order_of(source))

    known, imports = modules(source), imports_of(source)
    others = imports_from_outside(source, [place.resolve() for place in outside])
    print(f"{len(known)} modules, {len(imports)} imports between them: {_by_kind(imports)}")

    against = breaches(imports, order)
    found = _section(f"against the order ({_by_kind(against)})", [str(one) for one in against])
    private = private_uses([*imports, *others], known)
    found += _section("private, used from another folder", [str(one) for one in private])

    graph = edges(imports, known)
    rings = cycles_by_folder(graph, known)
    found += _section(
        "cycles of modules inside a folder (lazy imports counted)",
        [f"{place}: {_short(ring)}" for place, all_of in rings.items() for ring in all_of],
    )
    within = {ring for all_of in rings.values() for ring in all_of}
    wider = [ring for ring in cycles(graph) if ring not in within]
    found += _section("cycles of modules across folders", [_short(ring) for ring in wider])
    _section("folders that import each other", [_short(r) for r in cycles_of_folders(graph, known)])

    _section("own package imported", [str(one) for one in own_package_imports(imports, known)])

    counted = files_per_folder(known)
    full = [f"{place}: {n}" for place, n in counted.items() if n > told.max_files]
    found += _section(f"folders of more than {told.max_files} files", full)
    _section(
        "file names that occur more than once",
        [f"{name}: {', '.join(all_of)}" for name, all_of in repeated_basenames(known).items()],
    )
    print("\nfiles per folder: " + ", ".join(f"{place} {n}" for place, n in counted.items()))
    return 1 if told.strict and found else 0


def _short(names: Iterable[str]) -> str:
    return " <-> ".join(name.partition(".")[2] or name for name in names)


if __name__ == "__main__":
    sys.exit(main())
