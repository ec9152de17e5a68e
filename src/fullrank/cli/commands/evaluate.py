"""``fullrank evaluate``: data × models × a design → a folder of ranks, results and a report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli import common

PANEL = common.HAVE_MODELS
FIRST = (
    "train", "test", "split", "column", "download", "model", "factors", "design", "users", "metric",
    "out", "as_json",
)  # fmt: skip

Columns = Annotated[
    list[str] | None,
    common.option(
        common.DATA,
        "--column",
        "Assign a column to a role, as in user=uid, item=movie, or split=part for a column that "
        "holds train or test; common names are recognised. May be repeated.",
        "ROLE=NAME",
    ),
]
Split = Annotated[
    str,
    common.option(
        common.DATA,
        "--split",
        "How to split: auto (the data's own split, otherwise leave-one-out, by time if known), "
        "given (the data's own split), leave-one-out:by=random, ratio:test=0.2, strong:test=0.1, …",
        "HOW",
    ),
]
Train = Annotated[
    str | None,
    common.option(
        common.DATA, "--train", "File of training interactions, instead of DATA.", "FILE"
    ),
]
Test = Annotated[
    str | None,
    common.option(
        common.DATA, "--test", "File of held-out interactions, with the same ids.", "FILE"
    ),
]
Valid = Annotated[
    str | None,
    common.option(common.DATA, "--valid", "File of validation interactions, if any.", "FILE"),
]
Encoding = Annotated[
    str | None,
    common.option(
        common.DATA,
        "--encoding",
        "Encoding of text files. Default: UTF-8, or Latin-1 if that fails.",
        "NAME",
    ),
]
Download = Annotated[
    bool, common.option(common.DATA, "--download", "Download the data set if it is missing.")
]


def evaluate(
    data: Annotated[
        str | None,
        typer.Argument(
            help="A data set (see `fullrank datasets`), or a file of interactions: CSV or other "
            "text, Parquet, Feather, JSON Lines.",
            metavar="DATA",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        common.option(
            common.MODELS,
            "--model",
            "Model to train, such as ease:regularization=500, or a saved one, such as "
            "best=model.safetensors. May be repeated.",
            "[NAME=]MODEL",
        ),
    ] = None,
    factors: Annotated[
        list[str] | None,
        common.option(
            common.MODELS,
            "--factors",
            "Files of user and item factors: .npy, .npz, .safetensors or .parquet. Rows are "
            "matched to the data by the ids in these files or in --user-ids and --item-ids. May "
            "be repeated.",
            "NAME=USERS,ITEMS",
        ),
    ] = None,
    user_ids: Annotated[
        list[str] | None,
        common.option(
            common.MODELS,
            "--user-ids",
            "File with the ids of the rows of the users' factors: text with one id per line, CSV "
            "or Parquet (its first column), or .npy. May be repeated for other factors.",
            "[NAME=]FILE",
        ),
    ] = None,
    item_ids: Annotated[
        list[str] | None,
        common.option(
            common.MODELS,
            "--item-ids",
            "File with the ids of the rows of the items' factors, in the same formats. May be "
            "repeated for other factors.",
            "[NAME=]FILE",
        ),
    ] = None,
    catalogue: Annotated[
        str | None,
        common.option(
            common.DATA,
            "--catalogue",
            "The ids of all items: a text file with one id per line, the first column of a CSV or "
            "Parquet file, or .npy. Default: the items that occur in the data.",
            "FILE",
        ),
    ] = None,
    design: Annotated[
        str | None,
        common.option(
            common.RANKING,
            "--design",
            "How much of the catalogue is ranked: exact, exact:10 for ranks up to 10, "
            "sampled:100 or adaptive:25. Default: exact.",
            "DESIGN",
        ),
    ] = None,
    users: Annotated[
        str | None,
        common.option(
            common.RANKING, "--users", "Evaluate a random sample of N users. Default: all.", "N"
        ),
    ] = None,
    budget: Annotated[
        float | None,
        common.option(
            common.RANKING,
            "--budget",
            "Items to score per model, such as 1e7; the best design at that cost is chosen.",
            "N",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        common.option(
            common.OUTPUT,
            "--out",
            "Folder for ranks, results and report. The same command resumes an interrupted run.",
            "FOLDER",
        ),
    ] = None,
    metric: common.Metrics = None,
    train: Train = None,
    test: Test = None,
    valid: Valid = None,
    method: common.Method = "auto",
    split: Split = "auto",
    column: Columns = None,
    encoding: Encoding = None,
    keep_seen: Annotated[
        bool,
        common.option(
            common.RANKING,
            "--keep-seen",
            "Keep the user's training items among the candidates.",
        ),
    ] = False,
    no_anchor: Annotated[
        bool,
        common.option(
            common.METRICS,
            "--no-anchor",
            "Do not train anchors. By default, PureSVD and ItemKNN are trained if the sample size "
            "is fixed, each user has one target, and training items are excluded; the "
            "distributions of their exact ranks inform the estimates.",
        ),
    ] = False,
    engine: Annotated[
        str,
        common.option(
            common.RUNNING,
            "--engine",
            "How to run: serial, processes:2 (two processes), ray, or ray:auto (an existing "
            "cluster).",
            "ENGINE",
        ),
    ] = "serial",
    device: Annotated[
        str,
        common.option(
            common.RUNNING,
            "--device",
            "Where to rank: cpu, cuda, or one GPU, such as cuda:1.",
            "DEVICE",
        ),
    ] = "cpu",
    shard_size: Annotated[
        int | None,
        common.option(
            common.RUNNING,
            "--shard-size",
            "Users per shard. An interrupted run keeps its finished shards. The number does not "
            "affect results.",
            "N",
        ),
    ] = None,
    download: Download = False,
    report: Annotated[
        bool,
        common.option(
            common.OUTPUT,
            "--report/--no-report",
            "Whether to write a report into the --out folder.",
        ),
    ] = True,
    level: common.Level = 0.95,
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Rank held-out items with each model, estimate its metrics, and compare the models.

    For example:
      fullrank evaluate simulated --model ease --model item-knn --out run
      fullrank evaluate simulated --model ease --design adaptive -m mrr@10
      fullrank evaluate plays.csv --column user=who --model ease
      fullrank evaluate --train train.csv --test test.csv --model ease
    """
    from fullrank import evaluation
    from fullrank.cli.option_values import (
        checked_design,
        engine_of,
        given_models,
        pairs_of,
        sources_of,
    )
    from fullrank.cli.rank_options import whole_number
    from fullrank.errors import InputError
    from fullrank.evaluation.run_folder import finished_shards
    from fullrank.metrics import DEFAULT
    from fullrank.scorers import MissingIdsError

    if not model and not factors:
        raise InputError("`--model` or `--factors` must be given: there is nothing to evaluate.")
    checked_design("--design", design)
    n_users, where = whole_number("--users", users), engine_of(engine)
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
            catalogue=catalogue,
            encoding=encoding,
            download=download,
            progress=show,
            rng=seed,
        )
    before = 0 if out is None else finished_shards(out)
    try:
        found = evaluation.evaluate(
            models,
            loaded,
            metric or DEFAULT,
            design=design,
            n_users=n_users,
            budget=budget,
            method=method,
            exclude=None if keep_seen else "seen",
            anchor=None if no_anchor else "auto",
            out=out,
            engine=where,
            device=device,
            shard_size=shard_size,
            report=report,
            name=name,
            confidence_level=level,
            progress=common.progress,
            rng=seed,
        )
    except KeyboardInterrupt:
        kept = "without `--out`, no results were saved"
        if out is not None:
            shards = _shards(finished_shards(out))
            kept = f"{out} contains {shards}; run the same command to resume"
        typer.echo(f"Interrupted: {kept}.", err=True)
        raise
    except MissingIdsError as error:
        model_name = error.name if error.name in models else "NAME"
        raise InputError(
            f"`--{error.side}-ids` must be given, or the factors must hold ids, because the "
            f"{error.side}s of {name} are not numbered 0 … n−1 like the rows of the factors: "
            f"write `--{error.side}-ids {model_name}=FILE` with a text file of one id per line."
        ) from error
    if before:
        typer.echo(f"Note: The run resumed after {_shards(before)}.", err=True)
    if as_json:
        common.say_json(found.to_dict())
        return
    common.say_result(found, "text")
    if out is not None:
        common.say(f"Written to {out}.")


def _shards(number: int) -> str:
    return f"{number} finished shard{'s' * (number != 1)}"


def _of_data(data: Any, columns: Mapping[str, str], factors: list[str] | None) -> dict[str, str]:
    """The names that are meant for the data: those of ids may be for files of factors alone."""
    from fullrank.data.sets.sources import is_name

    if not factors or not isinstance(data, str) or not is_name(data):
        return dict(columns)
    return {role: name for role, name in columns.items() if role not in ("user", "item")}
