"""Reference pages made from the code itself, so that they cannot fall behind it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from pathlib import Path
from typing import Any, get_args, get_type_hints

_ROOT = Path(__file__).parents[2]
_MARKUP = re.compile(r"\[/?(?:bold|dim|italic|green|cyan|yellow)\]|\x08")
PACKAGES = {
    "inference": "Estimates, intervals, bounds, comparisons and plans",
    "estimators": "Estimators",
    "ranking": "From scores to ranks",
    "scorers": "Scorers: factors, item-item models, arrays, functions, PyTorch modules",
    "samples": "Samples of ranks, exact ranks, distributions and expected metrics",
    "designs": "How candidates are drawn",
    "metrics": "Metrics",
    "data": "Interactions, splits and data sets",
    "losses": "Losses",
    "models": "Models",
    "evaluation": "Evaluations of several models",
    "torch": "Inside a training loop",
    "reporting": "Reports",
    "integrations.recbole": "RecBole: its trainers and data",
    "engines": "Engines: this process, several processes, Ray",
    "testing": "Contracts to run on your own estimators, models and scorers",
    "errors": "Errors and warnings",
}

_RESULTS = """\
Results of `inference` print as small tables. They have `to_dict()` (plain numbers, with a format
version), `to_arrow()`, `to_frame()` (pandas), `to_markdown()` and `to_latex()`, and some have
`plot(ax=None)`."""
# what every result inherits is said once, on the first page
_OPTIONS = dict.fromkeys(
    ("inference", "reporting"), ("    options:", "      inherited_members: false")
)


def pages() -> dict[str, str]:
    """Path to Markdown."""
    made = {f"reference/{name}.md": text for name in present() if (text := _package(name))}
    made["reference/index.md"] = _index()
    made["reference/cli.md"] = _commands()
    made["changelog.md"] = (_ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return made


def present() -> list[str]:
    """The packages that are there."""
    specs = {name: importlib.util.find_spec(f"fullrank.{name}") for name in PACKAGES}
    return [name for name, spec in specs.items() if spec is not None and spec.origin is not None]


def public(name: str) -> dict[str, Any]:
    """The public names of a package and their values."""
    module = importlib.import_module(f"fullrank.{name}")
    names = getattr(module, "__all__", None)
    if names is None:
        names = [n for n, value in vars(module).items() if inspect.isclass(value)]
    return {one: getattr(module, one) for one in names if not one.startswith("__")}


def _index() -> str:
    import fullrank

    rows = []
    for name in sorted(fullrank.__all__, key=str.lower):
        value = getattr(fullrank, name)
        if inspect.ismodule(value) or name.startswith("__"):
            continue
        home = _home(value, name)
        rows.append(f"| [`fr.{name}`]({home}.md#{_path(value, home, name)}) | {_first(value)} |")
    packages = [f"| [`fr.{name}`]({name}.md) | {PACKAGES[name]} |" for name in present()]
    return "\n".join(
        [
            "# Python\n\n*You want the arguments of a function, or the methods of its result.*",
            "These pages list all public names with their docstrings. Ranks are 1-based.\n",
            "`import fullrank as fr` gives you these names:\n",
            "| name | what it does |\n| --- | --- |",
            *rows,
            "\nand these packages:\n",
            "| package | what is in it |\n| --- | --- |",
            *packages,
            f"\n{_RESULTS}\n\nThe [command line](cli.md) has a page of its own.\n",
        ]
    )


def _home(value: Any, name: str) -> str:
    """The package on whose page a public name is described: one page, so that links are unique."""
    return next(package for package in present() if public(package).get(name) is value)


def _package(name: str) -> str:
    parts = [f"# fullrank.{name}", "", f"*{PACKAGES[name]}.*", ""]
    data = []
    for one, value in sorted(public(name).items(), key=lambda item: item[0].lower()):
        if inspect.ismodule(value):
            continue
        if (home := _home(value, one)) != name:
            link = f"[`{one}`]({home}.md#{_path(value, home, one)})"
            parts += [f"{link} is described on the page of `fullrank.{home}`.", ""]
        elif inspect.isclass(value) or inspect.isfunction(value):
            parts += [f"::: {_path(value, name, one)}", *_OPTIONS.get(name, ()), ""]
        else:
            data += [f"## `{one}` {{ #fullrank.{name}.{one} }}", "", _mapping(value), ""]
    return "\n".join([*parts, *data])


def _path(value: Any, package: str, name: str) -> str:
    module = getattr(value, "__module__", None)
    return f"{module}.{value.__qualname__}" if module else f"fullrank.{package}.{name}"


def _mapping(value: Any) -> str:
    """Registries, name by name."""
    if not hasattr(value, "items"):
        return ", ".join(f"`{one}`" for one in value)
    rows = [f"| `{key}` | {_says(one)} |" for key, one in value.items()]
    return "\n".join(["| name | |", "| --- | --- |", *rows])


def _says(value: Any) -> str:
    for attribute in ("says", "title", "description"):
        if isinstance(text := getattr(value, attribute, None), str):
            return _cell(text)
    return _first(value) if callable(value) else _cell(str(value).partition(": ")[2] or str(value))


def _first(value: Any) -> str:
    return _cell((inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " "))


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


# ---- the command line ----

_EXITS = """\
The exit code is 0 for success, 2 for an error that you can correct (an option, a file, a missing
extra), and 1 for a run that failed. An error is one sentence on stderr; `FULLRANK_TRACEBACK=1` in
the environment adds the traceback."""


def commands() -> dict[str, Any]:
    """Every command and the function behind it."""
    from fullrank.cli.app import app

    return {one.name: one.callback for one in app.registered_commands}


def _commands() -> str:
    found = commands()
    parts = [
        "# The command line",
        "",
        "*You want the arguments and options of a command.*",
        "`fullrank COMMAND --help-all` prints the same.",
        "",
        _EXITS,
        "",
        "| command | what it does |\n| --- | --- |",
        *(f"| [`{name}`](#{name}) | {_short(one)} |" for name, one in found.items()),
        "",
    ]
    for name, function in found.items():
        parts += _command(name, function)
    return "\n".join(parts)


def _command(name: str, function: Any) -> list[str]:
    """A command by its signature: typer's own objects change from version to version."""
    hints = get_type_hints(function, include_extras=True)
    arguments, options = [], []
    for parameter in inspect.signature(function).parameters.values():
        kind, info = get_args(hints[parameter.name])[:2]
        if type(info).__name__ == "ArgumentInfo":
            optional = parameter.default is not inspect.Parameter.empty
            shown = info.metavar or parameter.name.upper()
            shown += "..." if "list" in str(kind) and not shown.endswith("...") else ""
            arguments.append((f"[{shown}]" if optional else shown, info))
        elif not info.hidden:
            options.append(f"| {_flags(parameter, kind, info)} | {_described(parameter, info)} |")
    usage = " ".join(["fullrank", name, "[OPTIONS]", *(shown for shown, _ in arguments)])
    text, examples = _help(inspect.getdoc(function) or "")
    parts = [f"## {name} {{ #{name} }}", "", text, "", "```text", usage, "```", ""]
    if examples:
        parts += ["```console", *(f"$ {one}" for one in examples), "```", ""]
    if arguments:
        rows = [f"| `{shown}` | {_plain(info.help)} |" for shown, info in arguments]
        parts += ["| argument | |\n| --- | --- |", *rows, ""]
    return [*parts, "| option | |\n| --- | --- |", *options, ""]


def _help(text: str) -> tuple[str, list[str]]:
    """The words of a help text, and its example lines."""
    words, examples = [], []
    for paragraph in _MARKUP.sub("", text).split("\n\n"):
        rest = re.sub(r"^[^:\n]{,40}:\s*(?=fullrank )", "", paragraph.strip())
        if rest.lstrip().startswith("fullrank "):
            examples += [" ".join(one.split()) for one in re.split(r"\n\s*(?=fullrank )", rest)]
        else:
            words.append(rest)
    return "\n\n".join(words).strip(), examples


def _short(function: Any) -> str:
    return _cell(_help(inspect.getdoc(function) or "")[0].split("\n\n")[0].replace("\n", " "))


def _flags(parameter: inspect.Parameter, kind: Any, info: Any) -> str:
    # inside Annotated typer keeps the first name where a default would be
    given = [one for one in (info.default, *(info.param_decls or ())) if isinstance(one, str)]
    names = given or [f"--{parameter.name.replace('_', '-')}"]
    shown = ", ".join(f"`{one}`" for one in names)
    if bool in (kind, *get_args(kind)):
        return shown.replace("/", "`, `")
    classes = [one for one in (get_args(kind) or (kind,)) if one is not type(None)]
    value = info.metavar or re.sub(r"^list\[(.*)\]$", r"\1", _name(classes[0])).upper()
    return f"{shown} `{_cell(value)}`"


def _name(kind: Any) -> str:
    return str(kind) if get_args(kind) else getattr(kind, "__name__", str(kind))


def _described(parameter: inspect.Parameter, info: Any) -> str:
    default = parameter.default
    if default is inspect.Parameter.empty:
        return f"{_plain(info.help)} Required."
    default = getattr(default, "value", default)
    shown = default is not None and not isinstance(default, bool)
    return f"{_plain(info.help)} Default: `{default}`." if shown else _plain(info.help)


def _plain(text: str | None) -> str:
    return _cell(_MARKUP.sub("", text or ""))
