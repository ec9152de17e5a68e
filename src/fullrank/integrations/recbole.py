"""RecBole 1.2.1: exact ranks and samples of ranks from a trainer and its data.

>>> from fullrank.integrations import recbole
>>> ranks = recbole.rank(trainer, test_data)  # doctest: +SKIP
>>> ranks.metrics("recall@10, ndcg@10")  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fullrank._lib import checks, extras
from fullrank._lib.checks import RandomState
from fullrank._lib.progress import Progress, reporter
from fullrank._lib.types import Array, Ints
from fullrank.designs import Design
from fullrank.errors import InputError
from fullrank.integrations.recbole_compatibility import Compatibility, compatible
from fullrank.integrations.recbole_scores import block_scorer, factor_scorer
from fullrank.ranking import rank as rank_scorer
from fullrank.samples import ExactRanks, RankSample
from fullrank.tables.table import numbered

__all__ = ["Compatibility", "compatible", "rank", "sample"]

_ROWS = 1 << 16  # pairs that a model scores together
_SAMPLED_TIES = ("random", "best", "worst")


def rank(
    trainer: Any,
    test_data: Any,
    *,
    ties: str = "mean",
    max_rank: int | None = None,
    factors: bool = True,
    load_best_model: bool = False,
    device: str | None = None,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    progress: bool | Progress | None = None,
    rng: RandomState = None,
) -> ExactRanks:
    """Rank every target of a RecBole data loader among all items, with RecBole's trained model.

    The candidates are RecBole's: all items but the padding and, for general models, the user's
    history (training items; validation items too, for test data). RecBole's own metrics follow
    from the ranks, and so does everything else that `ExactRanks` offers.

    Parameters
    ----------
    trainer : a RecBole Trainer
        Its model is used unchanged, in evaluation mode and on its own device.
    test_data : FullSortEvalDataLoader
        What `data_preparation` returns for validation or for testing with mode "full". Its batch
        size has no effect.
    ties, max_rank, rng : as in `fullrank.rank`
    factors : bool
        Whether models whose scores are products of user and item vectors (BPR, LINE, LightGCN,
        NGCF, DGCF, SGL, NCL, SpectralCF) are ranked by these vectors, which is faster and has no
        rounding errors. With False, all models are ranked by the scores that `full_sort_predict`
        returns.
    load_best_model : bool
        Whether to load the best model that `fit` saved, as `Trainer.evaluate` does by default.
        Afterwards the trainer holds the best model. Loading a checkpoint executes code in it.
    device, n_jobs : as in `fullrank.rank`
        They apply only to models that are ranked by their vectors; blocks of scores are counted on
        the device of the trainer.
    batch_size : int, optional
        The number of users scored together. It affects only speed and memory.
    progress : True for a line on stderr, or a function of (done, total)

    Returns
    -------
    ExactRanks
        `user` and `item` are the ids of the data's files, as `Interactions.read` reads them: whole
        numbers if all tokens of the field are whole numbers, and text otherwise.

    Notes
    -----
    A sequential data set split by ratio has several rows per user, each with its own history and
    scores, and RecBole averages over rows. Each row counts as a user here as well, named
    ``"user:1"``, ``"user:2"``, … in the order of the data.

    A RecBole score is a float32 sum whose last bits depend on the batch. Two items whose scores
    differ only in these bits may swap places between two runs, or between `factors` and blocks.

    With several processes, each ranks all users, so that no result has to be gathered.

    Examples
    --------
    >>> ranks = rank(trainer, test_data)  # doctest: +SKIP
    >>> ranks.metrics("recall@10, ndcg@10, mrr@10, hit@10")  # doctest: +SKIP
    """
    checks.flag("factors", factors)
    loader = _loader(test_data, full=True)
    with _evaluating(trainer, load_best_model):
        queries = _full_queries(loader)
        scorer: Any = factor_scorer(trainer.model, loader, queries.users) if factors else None
        if scorer is None:
            scorer = block_scorer(trainer, loader, queries.users.size)
        found = rank_scorer(
            scorer,
            (queries.query, queries.item),
            exclude=queries.excluded(),
            ties=ties,
            max_rank=max_rank,
            device=device,
            n_jobs=n_jobs,
            batch_size=batch_size,
            progress=progress,
            rng=rng,
        )
    names, items = _names(loader, queries)
    return replace(
        found,
        user=checks.frozen(names[queries.query]),
        item=checks.frozen(items[queries.item]),
        pool="all" if queries.history.size == 0 else "unseen",
    )


def sample(
    trainer: Any,
    test_data: Any,
    *,
    ties: str = "random",
    load_best_model: bool = False,
    progress: bool | Progress | None = None,
    rng: RandomState = None,
) -> RankSample:
    """Rank every target among the items that RecBole draws for it (modes "uni99", "uni100", …).

    `fullrank.estimate` estimates the full-catalogue metrics from the sample; RecBole reports the
    metrics of the sampled ranks.

    Parameters
    ----------
    trainer : a RecBole Trainer, as in `rank`
    test_data : NegSampleEvalDataLoader
        What `data_preparation` returns with a mode "uniN". "popN" and "labeled" are refused,
        because their candidates are not drawn uniformly.
    ties : {"random", "best", "worst"}
        How to rank a target among candidates with the same score.
    load_best_model : bool, as in `rank`
    progress : True for a line on stderr, or a function of (done, total)
    rng : None, int, SeedSequence or Generator
        Random seed for `ties="random"`. The candidates are drawn by RecBole's sampler, from numpy's
        global state, which RecBole's `init_seed` sets; each call draws again.

    Returns
    -------
    RankSample
        It has ids as in `rank`. RecBole draws with replacement from the items that the user has not
        interacted with in any phase so far or, for a sequential model, from all items except the
        target.

    Notes
    -----
    RecBole pools the candidates of all targets of a user. Here each target has its own, so that all
    have the same sample size.

    Examples
    --------
    >>> found = sample(trainer, test_data)  # doctest: +SKIP
    >>> fr.estimate(found, "recall@10")  # doctest: +SKIP
    """
    policy = checks.choice("ties", ties, _SAMPLED_TIES)
    loader = _loader(test_data, full=False)
    generator = np.random.default_rng(rng)
    with _evaluating(trainer, load_best_model):
        return _sampled(trainer, loader, policy, generator, reporter(progress, "sampled ranks"))


# ---- what is asked ----


@dataclass(frozen=True, kw_only=True, eq=False)
class _Queries:
    """Who is asked about: a query is a user, or a row of sequential data, with one list of scores.

    `users` has RecBole's number of each query's user; `query` and `item` are the targets, and
    `history` the excluded items, those of query q from `starts[q]` on. Item 0 is the padding.
    """

    users: Ints
    query: Ints
    item: Ints
    history: Ints
    starts: Ints
    n_items: int

    def excluded(self) -> Any:
        """A sparse matrix of each query's history, and of the padding."""
        from scipy.sparse import csr_array

        sizes = np.diff(self.starts)
        indptr = np.concatenate([[0], np.cumsum(sizes + 1)])
        indices = np.insert(self.history, self.starts[:-1], 0)
        shape = (self.users.size, self.n_items)
        return csr_array((np.ones(indices.size, np.int8), indices, indptr), shape=shape)


def _full_queries(loader: Any) -> _Queries:
    dataset = loader._dataset
    n_items = int(dataset.item_num)
    if loader.is_sequential:
        users, items = (
            dataset.inter_feat[field].numpy() for field in (dataset.uid_field, dataset.iid_field)
        )
        empty = np.empty(0, np.int64)
        rows = np.arange(users.size)
        return _Queries(
            users=users.astype(np.int64), query=rows, item=items.astype(np.int64), history=empty,
            starts=np.zeros(users.size + 1, np.int64), n_items=n_items,
        )  # fmt: skip
    users = np.asarray(loader.uid_list, np.int64)
    item, targets = _listed(loader.uid2positive_item[users])
    history, seen = _listed(loader.uid2history_item[users])
    return _Queries(
        users=users, query=np.repeat(np.arange(users.size), np.diff(targets)), item=item,
        history=history, starts=seen, n_items=n_items,
    )  # fmt: skip


def _listed(tensors: Any) -> tuple[Ints, Ints]:
    """Lists of items one after another, each sorted, and where each begins."""
    parts = [np.sort(one.numpy()).astype(np.int64) for one in tensors]
    starts = np.concatenate([[0], np.cumsum([part.size for part in parts])])
    return np.concatenate(parts), starts.astype(np.int64)


def _names(loader: Any, queries: _Queries) -> tuple[Array, Array]:
    """The ids of the queries' users, and of all items by RecBole's number."""
    dataset = loader._dataset
    users, items = (_tokens(dataset, field) for field in (dataset.uid_field, dataset.iid_field))
    return _told_apart(users[queries.users]), items


def _tokens(dataset: Any, field: str) -> Array:
    """The ids that a field of the data's files has, by RecBole's number; number 0 has none."""
    import pyarrow as pa

    tokens = np.asarray(dataset.field2id_token[field])[1:].astype(str)
    numbers = numbered(pa.chunked_array([pa.array(tokens.tolist(), pa.string())]))
    if not pa.types.is_string(numbers.type):
        ids = numbers.to_numpy()
        if ids.min(initial=0) >= 0:
            return np.concatenate([[-1], ids])
    return np.concatenate([[""], tokens])


def _told_apart(users: Array) -> Array:
    """Names of queries: of users who have several each is told by its number."""
    _, group, count = np.unique(users, return_inverse=True, return_counts=True)
    if (count == 1).all():
        return users
    order = np.argsort(group, kind="stable")
    place = np.empty(users.size, np.int64)
    place[order] = np.arange(users.size) - np.repeat(np.cumsum(count) - count, count)
    return np.array([f"{user}:{at + 1}" for user, at in zip(users, place, strict=True)])


# ---- candidates that RecBole draws ----


def _sampled(
    trainer: Any, loader: Any, ties: str, rng: Any, progress: Progress | None
) -> RankSample:
    n_drawn = int(loader.neg_sample_args["sample_num"])
    users, items, scores = _drawn_scores(trainer, loader, n_drawn, progress)
    fresh = _first_of_each(users, items)
    users, items, scores = users[fresh], items[fresh], scores[fresh]
    target, drawn = scores[:, :1], scores[:, 1:]
    above, equal = (drawn > target).sum(axis=1), (drawn == target).sum(axis=1)
    added = {"best": np.zeros_like(equal), "worst": equal}.get(ties)
    own = hasattr(loader._sampler, "datasets")  # it knows the phases, and draws none of their items
    catalogue = int(loader._dataset.item_num) - 1
    user_ids, item_ids = (
        _tokens(loader._dataset, field) for field in (loader.uid_field, loader.iid_field)
    )
    names, n_items = user_ids[users], np.full(users.size, catalogue)
    if own:
        n_targets, offset = _between(users, items, target[:, 0])
        n_items += n_targets - [len(loader._sampler.used_ids[user]) for user in users]
    else:  # another target of the user may be drawn, so that each has a list of its own
        names, n_targets, offset = _told_apart(names), np.ones_like(users), np.zeros_like(users)
    return RankSample.from_ranks(
        1 + above + (rng.integers(0, equal + 1) if added is None else added),
        n_items=n_items,
        design=Design.of(
            f"sampled:{1 + n_drawn},replacement=true,pool={'unseen' if own else 'all'},ties={ties},"
            f"excluded={str(own).lower()}"
        ),
        user=names,
        item=item_ids[items],
        n_targets=n_targets,
        offset=offset,
    )


def _drawn_scores(
    trainer: Any, loader: Any, n_drawn: int, progress: Progress | None
) -> tuple[Ints, Ints, Array]:
    """For each target its user and item, and its score beside those of its candidates."""
    torch = extras.load("torch", extra="torch", purpose="Scoring with a RecBole model")
    sizes = loader.uid2items_num[loader.uid_list]
    ends = np.cumsum(sizes)
    step = max(1, _ROWS // (1 + n_drawn))
    users, items, scores, done = [], [], [], 0
    while done < sizes.size:
        before = int(ends[done - 1]) if done else 0
        upto = max(done + 1, int(np.searchsorted(ends, before + step, side="right")))
        pairs = loader.collate_fn(np.arange(done, upto))[0]
        found = torch.atleast_1d(trainer.model.predict(pairs.to(trainer.device)))
        ours = found.float().cpu().numpy()
        start = 0
        for size in sizes[done:upto]:
            stop = start + size * (1 + n_drawn)
            scores.append(ours[start:stop].reshape(1 + n_drawn, size).T)
            users.append(pairs[loader.uid_field][start : start + size].cpu().numpy())
            items.append(pairs[loader.iid_field][start : start + size].cpu().numpy())
            start = stop
        done = upto
        if progress is not None:
            progress(done, int(sizes.size))
    every = np.concatenate(scores)
    if np.isnan(every).any():
        raise InputError(
            "`trainer` must have a model that returns numbers; one of its scores is NaN."
        )
    return np.concatenate(users), np.concatenate(items), every


def _first_of_each(users: Ints, items: Ints) -> Ints:
    """The rows of distinct pairs: who met an item twice has one target."""
    _, first = np.unique(np.stack([users, items]), axis=1, return_index=True)
    return np.sort(first)


def _between(users: Ints, items: Ints, scores: Array) -> tuple[Ints, Ints]:
    """How many targets the user of each has, and how many of the others are above it."""
    order = np.lexsort((items, -scores, users))
    _, start, count = np.unique(users[order], return_index=True, return_counts=True)
    n_targets, offset = np.empty_like(users), np.empty_like(users)
    n_targets[order] = np.repeat(count, count)
    offset[order] = np.arange(users.size) - np.repeat(start, count)
    return n_targets, offset


# ---- what RecBole gives ----


def _loader(data: Any, *, full: bool) -> Any:
    """The data loader, if it is of the wanted kind."""
    named = _recbole_class(data, "FullSortEvalDataLoader", "NegSampleEvalDataLoader")
    if named is None:
        raise InputError(
            "`test_data` must be a RecBole data loader for validation or testing, as returned by "
            f"`data_preparation`, not {type(data).__name__}."
        )
    if named == "FullSortEvalDataLoader":
        if not full:
            raise InputError(
                '`test_data` must draw candidates, with a mode such as "uni100"; this loader has '
                'all items (mode "full"). Use fullrank.integrations.recbole.rank.'
            )
        return data
    drawn = data.neg_sample_args
    if full:
        raise InputError(
            '`test_data` must have all items as candidates (mode "full"); this loader draws them '
            f"(mode {_mode(drawn)!r}). Use fullrank.integrations.recbole.sample."
        )
    if drawn["distribution"] != "uniform" or drawn["sample_num"] == "none":
        raise InputError(
            '`test_data` must draw candidates uniformly, with a mode such as "uni100", not '
            f"{_mode(drawn)!r}."
        )
    return data


def _mode(drawn: Any) -> str:
    short = {"uniform": "uni", "popularity": "pop"}.get(drawn["distribution"])
    return "labeled" if short is None else f"{short}{drawn['sample_num']}"


def _recbole_class(value: Any, *names: str) -> str | None:
    """Which of RecBole's classes a value is of, without an import of RecBole."""
    found = (
        one.__name__
        for one in type(value).__mro__
        if one.__module__.startswith("recbole.") and one.__name__ in names
    )
    return next(found, None)


def _load_best(torch: Any, trainer: Any) -> None:
    file = Path(trainer.saved_model_file)
    if not file.is_file():
        raise InputError(
            f"`load_best_model` must be False if there is no checkpoint; {file} does not exist. "
            "`Trainer.fit` writes it with saved=True."
        )
    saved = torch.load(file, map_location=trainer.device, weights_only=False)
    trainer.model.load_state_dict(saved["state_dict"])
    trainer.model.load_other_parameter(saved.get("other_parameter"))


@contextmanager
def _evaluating(trainer: Any, load_best_model: bool) -> Iterator[None]:
    """The trainer's model in evaluation mode; every part gets its mode back."""
    if _recbole_class(trainer, "AbstractTrainer") is None:
        raise InputError(
            "`trainer` must be a RecBole Trainer, which holds the trained model, not "
            f"{type(trainer).__name__}."
        )
    model = trainer.model
    if not callable(getattr(model, "full_sort_predict", None)) or not hasattr(model, "modules"):
        raise InputError(
            f"`trainer` must hold a model that is a PyTorch module, not {type(model).__name__}."
        )
    torch = extras.load("torch", extra="torch", purpose="Scoring with a RecBole model")
    with compatible():
        if checks.flag("load_best_model", load_best_model):
            _load_best(torch, trainer)
        modes = [(part, part.training) for part in model.modules()]
        model.eval()
        try:
            with torch.no_grad():
                yield
        finally:
            for part, training in modes:
                part.training = training
