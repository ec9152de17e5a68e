"""``fullrank datasets``: which data sets are known, which are available locally."""

from __future__ import annotations

from typing import Annotated

import typer

from fullrank.cli import _common

PANEL = _common.HAVE_MODELS


def datasets(
    name: Annotated[str | None, typer.Argument(help="One of them, for its details.")] = None,
    download: Annotated[
        bool, typer.Option("--download", help="Fetch it into the cache; mind its licence.")
    ] = False,
    seed: _common.Seed = 0,
    as_json: _common.AsJson = False,
) -> None:
    """List the data sets, or show details of one: size, licence, citation and summary.

    Example: fullrank datasets ml-latest-small
    """
    from fullrank.evaluation import catalogue

    if name is None:
        catalogue.no_download(download)
        listed = catalogue.every()
        if as_json:
            _common.say_json(listed.to_dict())
        else:
            _common.say(str(listed))
        return
    with _common.progress(name) as show:
        told = catalogue.details(name, download=download, progress=show)
    if as_json:
        _common.say_json(told.to_dict())
    else:
        _common.say(str(told))
