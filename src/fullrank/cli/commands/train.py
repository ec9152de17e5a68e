"""``fullrank train``: fit a model and keep it in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fullrank.cli import common
from fullrank.cli.commands.evaluate import Columns, Download, Encoding
from fullrank.errors import InputError

PANEL = common.HAVE_MODELS


def train(
    data: Annotated[
        str, typer.Argument(help="A data set (see `fullrank datasets`), or a file of interactions.")
    ],
    model: Annotated[
        str,
        common.option(
            common.MODELS,
            "--model",
            "What to train, such as ease:regularization=500 or neumf:hidden=64/32.",
            "MODEL",
        ),
    ],
    out: Annotated[
        Path,
        common.option(
            common.OUTPUT, "--out", "The file to write, such as model.safetensors.", "FILE"
        ),
    ],
    split: Annotated[
        str,
        common.option(
            common.DATA,
            "--split",
            "As in `fullrank evaluate`; the model learns from the training part. With --split "
            "none, it learns from all interactions.",
            "HOW",
        ),
    ] = "auto",
    metric: Annotated[
        list[str] | None,
        common.option(
            common.METRICS,
            "--metric -m",
            "Metric to print for the trained model, such as ndcg@10. May be repeated.",
            "NAME@K",
        ),
    ] = None,
    column: Columns = None,
    encoding: Encoding = None,
    download: Download = False,
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Train a model on the training part of a split, and save it for `fullrank evaluate`.

    With --metric, exact metrics are printed for the validation part, or for the test part if
    there is none.

    For example:
      fullrank train simulated --model ease --out ease.safetensors
      fullrank train simulated --model ials:n_factors=32 --out ials.safetensors
    """
    from fullrank.cli.option_values import pairs_of
    from fullrank.evaluation.train import train_model

    common.writable(out, "--out")
    if out.suffix != ".safetensors":
        raise InputError(
            f"`--out` must end in .safetensors, which `fullrank evaluate` reads; got {out.name!r}."
        )
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
