"""``fullrank reproduce``: the studies behind the documentation, from a source tree."""

from __future__ import annotations

from typing import Annotated

import typer

from fullrank.cli import _common

PANEL = _common.NEW_HERE


def reproduce(
    study: Annotated[str | None, typer.Argument(help="The study to run.")] = None,
    show: Annotated[bool, typer.Option("--list", help="List the studies.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A short form on simulated data, to try it.")
    ] = False,
    seed: _common.Seed = 0,
    as_json: _common.AsJson = False,
) -> None:
    """List the studies that the papers' figures and ours come from, or run one.

    A study writes JSON and Markdown into docs/studies, with --quick into out/studies. The studies
    fix their seeds.

    Example: fullrank reproduce table2 --quick
    """
    from fullrank.evaluation import studies

    if study is None or show:
        listed = studies.every()
        if as_json:
            _common.say_json({"format": 1, "studies": listed})
        else:
            width = max(map(len, listed))
            _common.say("\n".join(f"{name:<{width}}  {about}" for name, about in listed.items()))
        return
    written = studies.run(study, quick=quick)
    if as_json:
        _common.say_json({"format": 1, "study": study, "files": [str(path) for path in written]})
    else:
        _common.say("\n".join(f"Written to {path}." for path in written))
