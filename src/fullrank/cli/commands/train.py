"""``fullrank train``: fit a model and keep it in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fullrank.cli import common
from fullrank.cli.commands.evaluate import Columns, Download, Encoding

PANEL = common.HAVE_MODELS


def train(
    data: Annotated[
        str, typer.Argument(help="A data set (`fullrank datasets`), or a file of interactions.")
    ],
    model: Annotated[
        str, typer.Option(help="What to train, as ease:regularization=500 or neumf:hidden=64/32.")
    ],
    out: Annotated[Path, typer.Option(help="The file to write, as model.safetensors.")],
    split: Annotated[
        str,
        typer.Option(
            help="As in `fullrank evaluate`: the training part is learned from; none learns from "
            "everything."
        ),
    ] = "auto",
    metric: common.Metrics = None,
    column: Columns = None,
    encoding: Encoding = None,
    download: Download = False,
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Train a model on the training part of a split and save it for `fullrank evaluate`.

    With --metric it is measured on the validation part, or else the test part, by exact ranks.

    Example: fullrank train ml-latest-small --model ease:regularization=200 --out ease.safetensors
    """
    from fullrank.cli.option_values import pairs_of
    from fullrank.evaluation.train import train_model

    common.writable(out, "--out")
    with common.progress(f"reading {data}") as show:
        found = train_model(
            data,
            model,
            out,
            split=split,
            metrics=metric or (),
            columns=pairs_of("--column", column or ()),
            encoding=encoding,
            download=download,
            progress=show,
            rng=seed,
        )
    if as_json:
        common.say_json(found.to_dict())
    else:
        common.say(str(found))
