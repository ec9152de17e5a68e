"""``fullrank reproduce``: the studies behind the documentation, from a source tree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fullrank.cli import common

PANEL = common.NEW_HERE


def reproduce(
    study: Annotated[str | None, typer.Argument(help="The study to run.")] = None,
    own: Annotated[
        list[str] | None,
        typer.Argument(
            help="Options of the study itself, after --; -- --help tells them.", metavar="-- OWN"
        ),
    ] = None,
    show: Annotated[
        bool, typer.Option("--list", help="List the studies, by the paper they repeat.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A short form on data that is always here, to try it.")
    ] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", min=1, help="Processes, where a study can use several.")
    ] = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for results; what a run needs to resume stays in out.",
            metavar="FOLDER",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Changes nothing here: the studies fix their seeds.")
    ] = 0,
    as_json: common.AsJson = False,
) -> None:
    """List the studies that the papers' figures and ours come from, or run one.

    A study writes JSON, Markdown and figures: into docs/reproduction if
    it repeats a paper, else into docs/studies, and with --quick below out.
    Data sets are read from the folder that FULLRANK_DATA names. An
    interrupted run resumes. The studies fix their seeds.

    If you have more of the papers' data sets: linear_models also uses
    ml-20m, netflix and msd, and kdd2020 uses book-crossing. "fullrank
    reproduce ranks -- --data ml-20m" makes ranks of ml-20m, pinterest-20,
    yelp or book-crossing; aaai2023 and user_sampling also use the first
    three, kdd2020 the last.

    Example: fullrank reproduce aaai2021 --quick
    """
    from fullrank.evaluation import studies

    if study is None or show:
        groups = studies.grouped()
        listed = [one for group in groups.values() for one in group]
        if as_json:
            common.say_json(
                {
                    "format": 1,
                    "studies": {one.name: one.about for one in listed},
                    "groups": {name: [one.name for one in group] for name, group in groups.items()},
                    "needs": {one.name: one.needs for one in listed},
                }
            )
            return
        width = max(len(one.name) for one in listed)
        lines = [
            "\n".join([heading, *(f"  {one.name:<{width}}  {one.about}" for one in group)])
            for heading, group in groups.items()
        ]
        common.say("\n\n".join(lines))
        return
    wanted = studies.get(study)
    if not quick and not own:  # with options of its own a study may need other data
        wanted.require()
        if note := wanted.goes_without():
            typer.echo(note, err=True)
    ran = studies.run(study, quick=quick, jobs=jobs, out=out, own=own or ())
    if ran.code:
        raise typer.Exit(ran.code)
    if as_json:
        common.say_json({"format": 1, "study": study, "files": [str(path) for path in ran.files]})
    elif ran.files:
        common.say("\n".join(f"Written to {path}." for path in ran.files))
