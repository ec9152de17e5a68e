"""``fullrank estimate``: from ranks among sampled candidates to metrics of the catalogue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullrank import __version__
from fullrank.cli import common
from fullrank.cli.rank_options import RanksFile, Reading, described, takes_ranks
from fullrank.errors import InputError

if TYPE_CHECKING:
    from fullrank.inference import Bounds, Estimate
    from fullrank.samples.read_ranks import Ranks

PANEL = common.HAVE_RANKS


@takes_ranks
def estimate(
    ranks: RanksFile,
    reading: Reading,
    metric: common.Metrics = None,
    method: Annotated[
        str, typer.Option("--method", help="auto, or an estimator's name, such as MLE or BV_MES.")
    ] = "auto",
    bounds: Annotated[
        bool, typer.Option("--bounds", help="Add bounds that assume nothing about the ranks.")
    ] = False,
    level: common.Level = 0.95,
    target: Annotated[
        str,
        typer.Option(
            "--target",
            help="population: intervals for the population of users; users: for these users only.",
        ),
    ] = "population",
    procedure: Annotated[
        str, typer.Option("--procedure", help="Standard errors by influence or bootstrap.")
    ] = "influence",
    resamples: Annotated[int, typer.Option("--resamples", help="Refits of the bootstrap.")] = 500,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", help="Also write an HTML report.", metavar="FILE.html", readable=False
        ),
    ] = None,
    seed: common.Seed = 0,
    as_json: common.AsJson = False,
) -> None:
    """Estimate the metrics of the full catalogue from ranks among sampled candidates.

    Naive metrics, corrected ones with intervals, and the limits of the
    sample, for each model in a column model. Where a column user names
    users more than once, n_targets and offset describe their targets.

    Example: fullrank estimate ranks.csv --sample-size 100 --n-items 26744

    A TREC run: fullrank estimate run.trec --qrels qrels.txt --n-items 26744
    """
    common.writable(report, "--report")
    if report is not None and report.exists() and ranks.exists() and report.samefile(ranks):
        raise InputError(f"`--report` must not take the place of the ranks in {ranks}.")
    from fullrank.inference import bounds as bound
    from fullrank.inference import estimate as fit
    from fullrank.inference.estimation.estimate import METRICS
    from fullrank.metrics import parse_all

    metrics = [one for given in metric or METRICS for one in parse_all(given)]
    found = reading.read(ranks, seed=seed)
    with common.progress("refits") as refits:
        estimates = {
            model: fit(
                sample,
                metrics=metrics,
                method=method,
                confidence_level=level,
                target=target,
                procedure=procedure,
                n_resamples=resamples,
                progress=refits,
                rng=seed,
            )
            for model, sample in found.samples.items()
        }
    allowed: dict[str, Bounds] = {}
    if bounds:
        allowed = {
            model: bound(sample, metrics, target=target, confidence_level=level)
            for model, sample in found.samples.items()
        }
    if report is not None:
        said = _intervals_of_report(target, procedure)
        _write(report, ranks, reading, found, metrics, method, level, seed, said)
    if as_json:
        common.say_json(_content(estimates, allowed, found.notes))
    else:
        common.say("\n".join(_page(estimates, allowed, found.notes, reading, ranks)))
        if report is not None:
            common.say(f"\nReport: {report}")


def _write(
    report: Path,
    ranks: Path,
    reading: Reading,
    found: Ranks,
    metrics: list[Any],
    method: str,
    level: float,
    seed: int,
    said: dict[str, str],
) -> None:
    from fullrank.reporting import write_report

    samples: Mapping[str, Any] = found.samples
    if len(samples) > 1 and any(one.rows is None for one in samples.values()):
        samples = reading.read(ranks, rows=True, seed=seed).samples  # models are paired by user
    measured = {"ranks": ranks.name, "seed": str(seed)}
    measured |= {"assumed": " ".join(found.notes)} if found.notes else {}
    measured |= said
    write_report(
        samples,
        report,
        metrics=metrics,
        measured=measured,
        method=method,
        confidence_level=level,
        rng=seed,
    )


def _intervals_of_report(target: str, procedure: str) -> dict[str, str]:
    """The page has one kind of interval, whatever the command's own table has: it says which."""
    if (target, procedure) == ("population", "influence"):
        return {}
    own = f"--target {target} --procedure {procedure}"
    said = f"for all users like these, by influence; the command itself was asked for {own}"
    return {"intervals": said}


def _content(
    estimates: Mapping[str, Estimate], allowed: Mapping[str, Bounds], notes: tuple[str, ...]
) -> dict[str, Any]:
    """One object for one model; for several, a list of such objects under "models"."""
    models = []
    for model, one in estimates.items():
        rest = {k: v for k, v in one.to_dict().items() if k not in ("format", "kind", "metrics")}
        entries = [
            entry | {"naive": entry["naive"] if _is_told(one, entry["metric"]) else None}
            for entry in one.to_dict()["metrics"]
        ]
        if model in allowed:
            bounds = allowed[model].to_dict()
            for entry, ends in zip(entries, bounds["metrics"], strict=True):
                entry |= {"bound_low": ends["low"], "bound_high": ends["high"]}
            rest["contradicted"] = bounds["contradicted"]
        rest["stands_for"] = _stands_for(one)
        rest["design"] = one.sample.design.to_dict()
        models.append({"metrics": entries, "model": model, **rest})
    if len(models) == 1:
        return {"format": 1, **models[0], "assumed": list(notes)}
    return {"format": 1, "models": models, "assumed": list(notes)}


def _page(
    estimates: Mapping[str, Estimate],
    allowed: Mapping[str, Bounds],
    notes: tuple[str, ...],
    reading: Reading,
    ranks: Path,
) -> Iterator[str]:
    several = len(estimates) > 1
    first, *rest = described({model: one.sample for model, one in estimates.items()})
    yield f"fullrank {__version__} · {first}"
    yield from rest
    yield from notes
    yield ""
    yield from _table(estimates, allowed)
    yield ""
    lines: dict[str, list[str]] = {}
    for model, one in estimates.items():
        for line in _lines(one, allowed.get(model)):
            lines.setdefault(line, []).append(model)
    own = {line: models for line, models in lines.items() if len(models) < len(estimates)}
    yield from (line for line in lines if line not in own)
    yield from (f"{', '.join(models)}: {line}" for line, models in own.items())
    blind = next((name for one in estimates.values() for name in one.diagnosis.blind), None)
    if blind is not None and not several:
        one = next(iter(estimates.values()))
        if one.distribution is not None:
            yield (
                f"To see what would pin {blind} down: fullrank plan --metric {blind} --margin 5% "
                f"--users {one.n_users} --pilot {reading.shown(ranks)}"
            )


def _table(estimates: Mapping[str, Estimate], allowed: Mapping[str, Bounds]) -> list[str]:
    from fullrank._lib import tabular

    several = len(estimates) > 1
    first = next(iter(estimates.values()))
    head, _ = first._table()
    head = (["model"] if several else []) + head + (["what the sample allows"] if allowed else [])
    head[-1] += "  "
    rows = []
    for model, one in estimates.items():
        _, body = one._table()
        for place, row in enumerate(body):
            name = row[0]
            row[1] = row[1] if _is_told(one, name) else "–"
            row[-1] = row[-1].removesuffix(" ▲")
            if allowed:
                _, low, high = allowed[model]._table()[1][place]
                row.append(f"{low} … {high}" if low != "–" else "–")
            mark = name in one.diagnosis.blind or one.diagnosis.warnings.get(name)
            row[-1] += " ▲" if mark else "  "
            rows.append(([model if place == 0 else ""] if several else []) + row)
    return tabular.text(head, rows, left=(0, 1) if several else (0,))


def _lines(one: Estimate, allowed: Bounds | None) -> Iterator[str]:
    """What to know about a model's numbers, the most useful first."""
    if allowed is not None and allowed.contradicted is not None:
        yield f"▲ {str(allowed).splitlines()[-1]}"
    for name, stands in _stands_for(one).items():
        yield f"Your {name} among {stands['sample_size']:,} corresponds to about {stands['text']}."
    yield f"Estimated by {one.method}: {one.reason}."
    blind = one.diagnosis.blind
    for place, note in enumerate(one.diagnosis.lines()):
        yield f"▲ {note}" if place == 0 and blind else note


def _stands_for(one: Estimate) -> dict[str, dict[str, Any]]:
    """The catalogue's cut-off of every hit rate, where the design has a mapping function."""
    import numpy as np

    from fullrank.estimators.uniform.mapping import fit_beta
    from fullrank.inference.explanation.explain import MAPPED
    from fullrank.metrics import parse

    sample = one.sample
    same = np.unique(sample.sample_size).size == 1 and sample.n_items is not None
    if sample.design.adaptive or sample.several or sample.exhausted or not same:
        return {}
    mapping = fit_beta(sample) if int(sample.sample_size[0]) > 1 else None
    found = {}
    for name in one.values:
        metric = parse(name)
        if mapping and metric.k and metric.k < mapping.sample_size and metric.kind in MAPPED:
            place = mapping(metric.k)
            found[name] = {
                "k": place,
                "mapping": str(mapping),
                "sample_size": mapping.sample_size,
                "text": f"{metric.kind}@{round(place):,} in the catalogue ({mapping})",
            }
    return found


def _is_told(one: Estimate, name: str) -> bool:
    """Whether the naive value says anything: among n candidates everything is in the top n."""
    from fullrank.metrics import parse

    cut = parse(name).k
    return cut is None or cut < int(one.sample.sample_size.max())
