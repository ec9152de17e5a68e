"""``fullrank evaluate``: data × models × a design → a folder of ranks, results and a report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli import common

PANEL = common.HAVE_MODELS

Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="Name of a file's column, as user=uid, item=movie, or split=part for a column that "
        "says train and test; the usual names are found.",
        metavar="ROLE=NAME",
    ),
]
Split = Annotated[
    str,
    typer.Option(
        help="auto (the data's own, else leave-one-out: the last item where there are times), "
        "given, leave-one-out:by=random, ratio:test=0.2, strong:test=0.1, …"
    ),
]
Train = Annotated[
    str | None,
    typer.Option(
        "--train",
        help="File of the training interactions, instead of DATA; the held-out ones are in --test.",
        metavar="FILE",
    ),
]
Test = Annotated[
    str | None,
    typer.Option(
        "--test", help="File of the held-out interactions, with the same ids.", metavar="FILE"
    ),
]
Valid = Annotated[
    str | None,
    typer.Option("--valid", help="File of validation interactions, if any.", metavar="FILE"),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        help="Encoding of text files. Default: UTF-8, or Latin-1 where they are not.",
        metavar="NAME",
    ),
]
Download = Annotated[
    bool, typer.Option("--download", help="Download the data set if it is missing.")
]


def evaluate(
    data: Annotated[
        str | None,
        typer.Argument(
            help="A data set (`fullrank datasets`), or a file of interactions: CSV or other text, "
            "Parquet, feather, JSON Lines."
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="A model to train, as ease:regularization=500, or a saved one, as "
            "best=model.safetensors; give it again for more.",
            metavar="[NAME=]MODEL",
        ),
    ] = None,
    factors: Annotated[
        list[str] | None,
        typer.Option(
            help="Factors in files: .npy, .npz, .safetensors or .parquet. Rows are matched with "
            "the data by ids, in these files or beside them (--user-ids, --item-ids).",
            metavar="NAME=USERS,ITEMS",
        ),
    ] = None,
    user_ids: Annotated[
        list[str] | None,
        typer.Option(
            "--user-ids",
            help="The id of each row of the users' factors: a text file with one id per line, the "
            "first column of a CSV or Parquet file, or .npy; give it again for other factors.",
            metavar="[NAME=]FILE",
        ),
    ] = None,
    item_ids: Annotated[
        list[str] | None,
        typer.Option(
            "--item-ids",
            help="The id of each row of the items' factors, likewise.",
            metavar="[NAME=]FILE",
        ),
    ] = None,
    design: Annotated[
        str | None,
        typer.Option(
            help="How much of the catalogue is ranked: exact (default); exact:10 for ranks up to "
            "10; sampled:100; adaptive:25."
        ),
    ] = None,
    users: Annotated[
        int | None, typer.Option(help="Evaluate this many users, drawn at random; default: all.")
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(help="Items to score per model, such as 1e7; the best design is chosen."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for ranks, results and report; an interrupted run resumes there."
        ),
    ] = None,
    metric: common.Metrics = None,
    train: Train = None,
    test: Test = None,
    valid: Valid = None,
    method: Annotated[
        str, typer.Option(help="auto, or the name of an estimator for samples, such as MLE.")
    ] = "auto",
    split: Split = "auto",
    column: Columns = None,
    encoding: Encoding = None,
    keep_seen: Annotated[
        bool, typer.Option("--keep-seen", help="Rank what the user has seen as well.")
    ] = False,
    no_anchor: Annotated[
        bool,
        typer.Option(
            "--no-anchor",
            help="Borrow no shape at the top: otherwise PureSVD and ItemKNN are trained and ranked "
            "exactly beside a fixed sample.",
        ),
    ] = False,
    engine: Annotated[
        str, typer.Option(help="serial; processes:2; ray, ray:auto (a cluster's address).")
    ] = "serial",
    device: Annotated[
        str, typer.Option(help="cpu; cuda (extra cuda), or one of several GPUs as cuda:1.")
    ] = "cpu",
    shard_size: Annotated[
        int | None,
        typer.Option(help="Users ranked together; what a stopped run loses. Changes no number."),
    ] = None,
    download: Download = False,
    report: Annotated[bool, typer.Option(help="Whether --out gets a report.")] = True,
    level: common.Level = 0.95,
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Rank held-out items with models, estimate their metrics, and compare them.

    Example: fullrank evaluate ml-latest-small --model ease --model item-knn --out run

    Two files: fullrank evaluate --train train.csv --test test.csv --model ease
    """
    from fullrank import evaluation
    from fullrank.cli.option_values import (
        checked_design,
        engine_of,
        given_models,
        pairs_of,
        sources_of,
    )
    from fullrank.errors import InputError
    from fullrank.metrics import DEFAULT
    from fullrank.scorers import MissingIdsError

    if not model and not factors:
        raise InputError("`--model` must be given, or `--factors`: there is nothing to evaluate.")
    checked_design("--design", design)
    columns = pairs_of("--column", column or ())
    models = given_models(
        model or (),
        factors or (),
        user_ids=user_ids or (),
        item_ids=item_ids or (),
        columns=columns,
    )
    source, name = sources_of(data, train=train, test=test, valid=valid)
    with common.progress(f"reading {name}") as show:
        loaded = evaluation.load_split(
            source,
            split=split,
            columns=_of_data(source, columns, factors),
            encoding=encoding,
            download=download,
            progress=show,
            rng=seed,
        )
    try:
        found = evaluation.evaluate(
            models,
            loaded,
            metric or DEFAULT,
            design=design,
            n_users=users,
            budget=budget,
            method=method,
            exclude=None if keep_seen else "seen",
            anchor=None if no_anchor else "auto",
            out=out,
            engine=engine_of(engine),
            device=device,
            shard_size=shard_size,
            report=report,
            name=name,
            confidence_level=level,
            progress=common.progress,
            rng=seed,
        )
    except MissingIdsError as error:
        model_name = error.name if error.name in models else "NAME"
        raise InputError(
            f"`--{error.side}-ids` must be given, or the factors must hold ids, for the "
            f"{error.side}s of {name} are not numbered 0 … n−1 as rows are: "
            f"--{error.side}-ids {model_name}=FILE, a text file with one id per line."
        ) from error
    if as_json:
        common.say_json(found.to_dict())
        return
    common.say(str(found))
    if out is not None:
        common.say(f"Written to {out}.")


def _of_data(data: Any, columns: Mapping[str, str], factors: list[str] | None) -> dict[str, str]:
    """The names that are meant for the data: those of ids may be for files of factors alone."""
    from fullrank.data.sets.sources import is_name

    if not factors or not isinstance(data, str) or not is_name(data):
        return dict(columns)
    return {role: name for role, name in columns.items() if role not in ("user", "item")}
