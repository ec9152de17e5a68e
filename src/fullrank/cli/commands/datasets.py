"""``fullrank datasets``: which data sets are known, which are available locally."""

from __future__ import annotations

from typing import Annotated

import typer

from fullrank.cli import common

PANEL = common.HAVE_MODELS


def datasets(
    name: Annotated[
        str | None, typer.Argument(help="A data set to describe. Default: all are listed.")
    ] = None,
    download: Annotated[
        bool,
        common.option(common.DATA, "--download", "Download the data set. Check its licence first."),
    ] = False,
    as_json: common.AsJson = False,
) -> None:
    """List the data sets, or describe one: size, licence, citation and summary.

    For example:
      fullrank datasets
      fullrank datasets ml-latest-small
    """
    from fullrank.data.sets import listing

    if name is None:
        listing.no_download(download)
        listed = listing.every()
        if as_json:
            common.say_json(listed.to_dict())
        else:
            common.say(str(listed))
        return
    with common.progress(name) as show:
        told = listing.details(name, download=download, progress=show)
    if as_json:
        common.say_json(told.to_dict())
    else:
        common.say(str(told))
