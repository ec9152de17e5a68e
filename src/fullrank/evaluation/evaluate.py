"""Evaluate models: rank the same targets with each, shard by shard."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fullrank._lib import checks
from fullrank._lib.checks import RandomState
from fullrank._lib.device import on_gpu, open_device
from fullrank._lib.files import PathLike
from fullrank._lib.progress import Steps, steps
from fullrank.designs import Design, Exact
from fullrank.engines import Engine, Processes, Serial
from fullrank.errors import InputError
from fullrank.estimators.methods import Named
from fullrank.estimators.registry import method_of
from fullrank.evaluation.result import Evaluation
from fullrank.evaluation.run_folder import RunFolder
from fullrank.evaluation.schedule import make_work
from fullrank.inference.estimation.estimate import check_level
from fullrank.metrics import DEFAULT, Metric, parse_all


def evaluate(
    models: Any,
    data: Any,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    design: str | Design | None = None,
    n_users: int | None = None,
    budget: float | None = None,
    method: Named = "auto",
    exclude: Any = "seen",
    anchor: Any = "auto",
    out: PathLike | None = None,
    engine: Engine | None = None,
    device: str | None = None,
    shard_size: int | None = None,
    keep_rows: bool = True,
    report: bool = True,
    name: str | None = None,
    confidence_level: float = 0.95,
    progress: bool | Steps | None = None,
    rng: RandomState = 0,
) -> Evaluation:
    """Rank held-out items with several models, estimate their metrics and compare them.

    Parameters
    ----------
    models : mapping from names to models
        Each a model that is not fitted yet (it learns from the split's training part), of fullrank
        or any other with `fit` and `scorer`; a fitted one, text such as
        ``"ease:regularization=500"``, the path of a saved model, `FactorFiles`, or anything
        `as_scorer` takes. A list of texts names itself, and one model by itself has the name of
        its class.
    data : Split; or targets as Interactions or a pair (user_rows, item_rows), for models that
        need not be fitted; or a `UserFile`, which the workers read, with `UserFactors` as models
    metrics : names such as ``"ndcg@10"``; the default ends at K with the design ``"exact:K"``
    design : Design or text, default "exact"
        How much of the catalogue is ranked: ``"exact"``, ``"exact:10"`` (ranks up to 10, which is
        enough for metrics with that cut-off and takes less time), ``"sampled:100"``,
        ``"adaptive:25"``, or any other registered design.
    n_users : int, optional
        As many users are drawn at random; all by default.
    budget : number, optional
        Items that may be scored in all, for each model; instead of a design. After a pilot with the
        first model, the design is taken that is predicted to err least.
    method : the estimator for samples, as in `estimate`
    exclude : Interactions, sparse matrix or tensor (users × items), or None
        Items that are not candidates. "seen" means the items that a split shows of its users, and
        nothing where `data` is not a split; None ranks everything.
    anchor : "auto", None, ExactRanks or a list of them
        What fixed samples of one target for each user borrow the shape of P(R) at the top from
        (`fullrank.anchored`). "auto" trains PureSVD and ItemKNN on the training data (where `data`
        is not a split, on `exclude`) and ranks them exactly for the same users, if training items
        are excluded; not beyond 2e9 scores for each, users × items. None borrows nothing.
    out : path of a folder, optional
        Finished shards are kept there, and the ranks, results and report in the end. An
        interrupted run resumes when it is called with the same arguments, and ends with the same
        numbers; with others it is refused.
    engine : from `fullrank.engines`, which does the ranking; one shard after the other by default,
        with all cores
    device : None, "cpu", "cuda" or one of several GPUs such as "cuda:1"
        Where scores are computed and counted (see `rank`): speed, never numbers.
    shard_size : int, optional
        Users in a shard: speed, memory and how much is lost when a run is stopped; never numbers.
        A resumed run keeps the size it began with.
    keep_rows : bool
        Whether the ranks of single targets are kept. Without, memory does not grow with the number
        of users, and models are not compared user by user.
    report : whether `out` gets a report
    name : what to call the data
    confidence_level : of the intervals
    progress : True for lines on stderr with the time left, or a function of a label that gives a
        context manager of a function of (done, total)
    rng : None, int, SeedSequence or Generator
        Seed of the draws and of the choice of users; the same for every model, so that models
        meet the same items.

    Returns
    -------
    Evaluation

    Notes
    -----
    One model is in memory at a time. The draws of a user depend on the seed and the user's row, so
    shards and engines change nothing in the result.

    Examples
    --------
    >>> from fullrank.data import load
    >>> split = load("simulated").split("leave-one-out", rng=0)
    >>> found = evaluate(["popularity", "ease:regularization=100"], split, metrics="recall@10")
    >>> print(found)
    ranks · exact ranks of 1,000 targets of 1,000 users among 2,295 to 2,988 items (ties: mean)
    Split: leave-one-out, last item by time
    <BLANKLINE>
    model                                  recall@10  P(best)
    popularity               0.0410 [0.0303, 0.0552]     0.00
    ease:regularization=100  0.1220 [0.1031, 0.1438]     1.00
    <BLANKLINE>
    ease:regularization=100 − popularity  recall@10  +0.0810 [+0.0581, +0.1039]  p < 0.001
    """
    engine = Serial() if engine is None else engine
    if on_gpu(device) and isinstance(engine, Serial | Processes):
        open_device(device)  # a GPU that is not there is told before a model is trained
    amount = _how_much(design, n_users, budget)
    work = make_work(
        models,
        data,
        **amount,
        metrics=tuple(metric.name for metric in _known(metrics, amount["design"])),
        method=method,
        exclude=exclude,
        anchor=_anchor(anchor, method),
        marked=out is not None,
        seed=rng,
        name=name,
        engine=engine,
        device=str(device) if on_gpu(device) else None,
        shard_size=None if shard_size is None else checks.integer("shard_size", shard_size, low=1),
        keep_rows=checks.flag("keep_rows", keep_rows),
        level=check_level(confidence_level),
        steps=steps(progress),
    )
    if out is None:
        return work.done(None)
    if rng is None:
        raise InputError(
            "`rng` must be a seed when `out` is given: a run without a seed cannot resume."
        )
    with RunFolder(out) as folder:
        found = folder.finished(work.asked)
        if found is None:
            found = work.done(folder)
            folder.publish(found, report=report)
    return found


def _anchor(anchor: Any, method: Named) -> Any:
    """None by default for a method that borrows no shape."""
    asked = isinstance(method, str) and method.lower() == "auto"
    plain = not asked and not method_of(method)[1].borrows  # refuses what is no method
    return None if plain and isinstance(anchor, str) and anchor == "auto" else anchor


def _known(metrics: Any, design: Design | None) -> tuple[Metric, ...]:
    """The metrics, all of which the design tells; the default ones as far as it does."""
    if not isinstance(design, Exact):
        return parse_all(metrics)
    if metrics is DEFAULT:
        return design.within(DEFAULT)
    design.check_metrics(metrics, of=design.label)
    return parse_all(metrics)


def _how_much(
    design: str | Design | None, n_users: int | None, budget: float | None
) -> dict[str, Any]:
    """What is ranked of the catalogue and of the users."""
    if design is not None and budget is not None:
        raise InputError(
            "`budget` must be given without `design`, because it determines the design."
        )
    drawn = Exact() if design is None else Design.of(design)
    return {
        "design": drawn if budget is None else None,
        "n_users": None if n_users is None else checks.integer("n_users", n_users, low=1),
        "budget": None if budget is None else checks.real("budget", budget, low=1),
    }
