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
        Each is an unfitted model, of fullrank or any other with `fit` and `scorer`, which is fitted
        on the split's training part; a fitted model; text such as ``"ease:regularization=500"``;
        the path of a saved model; `FactorFiles`; or anything that `as_scorer` takes. Texts in a
        list are their own names, and a single model is named after its class.
    data : Split; or targets as Interactions or a pair (user_rows, item_rows), for models that are
        already fitted; or a `UserFile`, which the workers read, with `UserFactors` as models
    metrics : names such as ``"ndcg@10"``; with the design ``"exact:K"``, default metrics have
        cut-offs up to K
    design : Design or text, default "exact"
        How candidates are chosen: ``"exact"``, ``"exact:10"`` (ranks up to 10, which are enough for
        metrics with that cut-off and take less time), ``"sampled:100"``, ``"adaptive:25"``, or any
        other registered design.
    n_users : int, optional
        The number of users to sample at random; default: all.
    budget : number, optional
        The total number of items to score for each model, instead of a design. After a pilot with
        the first model, the design with the smallest predicted error is used.
    method : the estimator for samples, as in `estimate`
    exclude : "seen", Interactions, sparse matrix or sparse tensor (users × items), or None
        Items that are not candidates. "seen" means the known items of a split's users, and no items
        if `data` is not a split; None ranks among all items.
    anchor : "auto", None, ExactRanks or a list of them
        The source of the shape of P(R) near rank 1 for fixed samples with one target per user
        (`fullrank.anchored`). If training items are excluded, "auto" trains PureSVD and ItemKNN on
        the training data (on `exclude`, if `data` is not a split) and ranks them exactly for the
        same users, unless that takes more than 2e9 scores (users × items) each. None uses no
        anchor.
    out : path of a folder, optional
        The folder of the run, which keeps finished shards and at the end holds the ranks, results
        and report. Calling `evaluate` with the same arguments resumes an interrupted run and gives
        the same numbers; other arguments raise an error.
    engine : an engine of `fullrank.engines`, which runs the ranking; default: one shard after the
        other, on all cores
    device : None, "cpu", "cuda" or one of several GPUs such as "cuda:1"
        Where scores are computed and counted (see `rank`). It affects speed, not results.
    shard_size : int, optional
        The number of users in a shard. It affects speed, memory and how much work an interruption
        loses, but not results. A resumed run keeps its original shard size.
    keep_rows : bool
        Whether the ranks of individual targets are kept. Without them, memory does not grow with
        the number of users, and models are not compared user by user.
    report : whether to write a report into `out`
    name : the name of the data in results
    confidence_level : confidence level of the intervals
    progress : True for lines on stderr with the remaining time, or a function of a label that
        returns a context manager of a function of (done, total)
    rng : None, int, SeedSequence or Generator
        Random seed of the draws and of the choice of users. It is the same for every model, so that
        models are ranked among the same candidates. Must not be None if `out` is given.

    Returns
    -------
    Evaluation

    Notes
    -----
    One model is in memory at a time. The draws of a user depend on the seed and the user's row, so
    the result does not depend on shards and engines.

    Examples
    --------
    >>> from fullrank.data import load
    >>> split = load("simulated").split("leave-one-out", rng=0)
    >>> found = evaluate(["popularity", "ease:regularization=100"], split, metrics="recall@10")
    >>> print(found)
    ranks · exact ranks for 1,000 targets of 1,000 users among 2,295 to 2,988 items (ties: mean)
    Split: leave-one-out, last item by time
    <BLANKLINE>
    model                                  recall@10  P(best)
    popularity               0.0410 [0.0303, 0.0552]   < 0.01
    ease:regularization=100  0.1220 [0.1031, 0.1438]   > 0.99
    Intervals: 95 % CI for the population of users.
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
            "`rng` must be a seed when `out` is given: a run without a seed cannot be resumed."
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
            "`budget` must not be given with `design`, because the budget determines the design."
        )
    drawn = Exact() if design is None else Design.of(design)
    return {
        "design": drawn if budget is None else None,
        "n_users": None if n_users is None else checks.integer("n_users", n_users, low=1),
        "budget": None if budget is None else checks.real("budget", budget, low=1),
    }
