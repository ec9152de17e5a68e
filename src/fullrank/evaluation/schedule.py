"""The schedule of an evaluation: every model over every shard, without those already finished."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from fullrank import __version__
from fullrank._lib import checks
from fullrank._lib.checks import RandomState
from fullrank._lib.fingerprints import fingerprint
from fullrank._lib.progress import Steps
from fullrank.data import Split
from fullrank.data.named_rows import in_rows
from fullrank.data.shards import Shard, ShardedTargets
from fullrank.data.targets import ANY
from fullrank.designs import Design, Exact
from fullrank.designs.draws import seed_key
from fullrank.engines import Engine, Serial
from fullrank.errors import InputError
from fullrank.estimators.methods import Named
from fullrank.estimators.registry import method_of
from fullrank.evaluation.anchors import Anchors, borrows, make_anchors
from fullrank.evaluation.budget import affordable, chosen_users
from fullrank.evaluation.model_sources import Entry, Keeper, make_entries
from fullrank.evaluation.problem import (
    AT_ONCE,
    Problem,
    Ranks,
    added,
    rank_shard,
    usual_size,
)
from fullrank.evaluation.result import Evaluation
from fullrank.evaluation.run_folder import RunFolder
from fullrank.scorers import as_scorer
from fullrank.scorers.alignment import aligned
from fullrank.scorers.scorer import Scorer
from fullrank.scorers.user_files import UserFactors, UserFile


class Ranking(NamedTuple):
    """What a model ranks, and how."""

    targets: Any
    design: Design
    shards: list[Shard]
    keep_rows: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Work:
    """The cleaned arguments of `evaluate`."""

    entries: list[Entry]
    targets: Any  # ShardedTargets, or a UserFile
    exclude: Any  # Interactions, a sparse matrix or None
    anchors: Anchors
    asked: Mapping[str, Any]
    design: Design | None  # None where a budget decides
    n_users: int | None
    budget: float | None
    metrics: tuple[str, ...]
    seed: int
    engine: Engine
    device: str | None
    shard_size: int | None
    keep_rows: bool
    level: float
    steps: Steps
    name: str | None
    method: Named

    def done(self, folder: RunFolder | None) -> Evaluation:
        """Rank with every model; finished shards in the folder are not repeated."""
        start = time.perf_counter()
        settled = None if folder is None else folder.begin(self.asked)
        scorer = None
        if settled is None:
            if self.budget is not None:
                if folder is not None:  # whose model is kept there must be known before it is
                    folder.settle(self.asked, None)
                scorer = self._scorer(0, self.entries[0], folder)
            settled = self._settled(scorer)
            if folder is not None:
                folder.settle(self.asked, settled)
        design = Design.of(settled["design"])
        targets = self.targets
        if settled["n_users"] is not None:
            targets = chosen_users(targets, settled["n_users"], self.seed)
        size = checks.integer("shard_size", settled["shard_size"], low=1)
        if folder is None and self._needs_no_shards(targets):
            size = targets.n_users
        shards = targets.shards(size)
        found = {}
        with self.engine:
            for model, entry in enumerate(self.entries):
                make = partial(self._scorer, model, entry, folder, scorer if model == 0 else None)
                scorer = None
                how = Ranking(targets, design, shards, self.keep_rows)
                found[entry.name] = self._ranked(model, entry.name, make, how, folder)
            how = Ranking(targets, Exact(), shards, keep_rows=False)
            found, borrowed = self._lent(found, settled.get("without_anchor"), how, folder)
        about = self._about(settled, time.perf_counter() - start)
        return Evaluation(
            samples=MappingProxyType(found),
            metrics=self.metrics,
            about=MappingProxyType({**about, "borrowed": borrowed}),
            confidence_level=self.level,
            method=self.method,
        )

    def _about(self, settled: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """What was asked for, and what became of it."""
        bought = {"design": settled["design"], "n_users": settled["n_users"]}
        return {
            **self.asked,
            "asked": list(self.asked),
            "name": self.name,
            "settled": None if self.budget is None else bought,
            "engine": repr(self.engine),
            "device": self.device or "cpu",
            "seconds": round(seconds, 3),
        }

    def _settled(self, scorer: Any) -> dict[str, Any]:
        """What the arguments leave open: a budget's design, anchors, and the size of shards."""
        targets = self.targets if scorer is None else self._excluding(self.targets, scorer)
        design, some = self.design, self.n_users
        if design is None:
            assert self.budget is not None
            design, some = affordable(
                self.budget, scorer, targets, metric=self.metrics[0], most=some, seed=self.seed
            )
        n_items = self.targets.n_items
        # what cannot be drawn is refused before a model is trained
        fixed = design if n_items is None or isinstance(design, Exact) else design.drawable(n_items)
        per_user = fixed.cost(n_items or ANY)
        n_users = some or self.targets.n_users
        size = self.shard_size or usual_size(n_users, per_user, self.device)
        without = self.anchors.refusal(n_users)
        how = {"design": str(design), "n_users": some}
        return {**how, "shard_size": size, "without_anchor": without}

    def _lent(
        self,
        found: dict[str, Ranks],
        without: str | None,
        how: Ranking,
        folder: RunFolder | None,
    ) -> tuple[dict[str, Ranks], str | None]:
        """The samples with the shape of the anchors, which are ranked now, and a line on it."""
        others = {entry.name for entry in self.entries if not entry.personal}
        some = [one for name, one in found.items() if self.anchors.given or name not in others]
        if self.anchors.asked is None or not any(borrows(one) for one in some):
            return found, None
        if without is not None:
            return found, without
        ranks = []
        for model, entry in enumerate(self.anchors.entries(), start=len(self.entries)):
            make = partial(self._scorer, model, entry, folder)
            ranks.append(self._ranked(model, entry.name, make, how, folder))
        return self.anchors.lent(found, ranks, others), self.anchors.says

    def _needs_no_shards(self, targets: Any) -> bool:
        """Whether all users can be ranked in one call: shards are for resuming and for workers."""
        here = isinstance(self.engine, Serial) and isinstance(targets, ShardedTargets)
        free = self.shard_size is None and self.keep_rows
        return here and free and targets.n_users <= AT_ONCE

    def _scorer(self, model: int, entry: Entry, folder: RunFolder | None, ready: Any = None) -> Any:
        if ready is not None:
            return ready
        with self.steps(f"preparing {entry.name}"):
            made = entry.scorer(None if folder is None else Keeper(folder, model))
            if isinstance(made, UserFactors):
                return made
            return self._aligned(as_scorer(made), entry.name)

    def _aligned(self, scorer: Scorer, name: str) -> Scorer:
        """The scorer with the data's rows, found by id."""
        t = self.targets
        if isinstance(t, UserFile):  # whose rows are its ids
            return aligned(scorer, user_ids=None, item_ids=None, name=name)
        ids = {"user_ids": t.user_ids, "item_ids": t.item_ids}
        return aligned(scorer, **ids, users=t.users, name=name)

    def _ranked(
        self,
        model: int,
        name: str,
        make: Callable[[], Any],
        how: Ranking,
        folder: RunFolder | None,
    ) -> Ranks:
        """The ranks of one model: of all its shards, in order."""
        shards = how.shards
        done = {} if folder is None else folder.kept(model)
        missing = [at for at in range(len(shards)) if at not in done]
        found: dict[int, Ranks] = {}
        total = shards[-1].stop
        so_far = total - sum(shards[at].stop - shards[at].start for at in missing)
        if missing:
            scorer = make()
            problem = Problem(
                scorer=scorer,
                targets=self._excluding(how.targets, scorer),
                design=how.design,
                seed=self.seed,
                threads=self.engine.threads,
                device=self.device,
                keep_rows=how.keep_rows,
            )
            with self.steps(f"ranking with {name}") as show:
                if show is not None:
                    show(so_far, total)
                    if len(shards) == 1 and isinstance(self.engine, Serial):
                        problem = replace(problem, progress=show)
                results = self.engine.map(rank_shard, problem, [shards[at] for at in missing])
                for place, sample in results:
                    at = missing[place]
                    if folder is None:
                        found[at] = sample
                    else:
                        folder.keep(model, at, sample)
                    so_far += shards[at].stop - shards[at].start
                    if show is not None:
                        show(so_far, total)
        if folder is not None:
            return added(list(folder.samples(model, len(shards), name)))
        return added([found[at] for at in range(len(shards))])

    def _excluding(self, targets: Any, scorer: Any) -> Any:
        """The targets with what is excluded, in the rows of the catalogue of this scorer."""
        if self.exclude is None:
            return targets
        items = targets.item_ids
        if items is not None and scorer.n_items > items.size:
            items = scorer.item_ids
        seen = in_rows(
            self.exclude, user_ids=targets.user_ids, item_ids=items, n_items=scorer.n_items
        )
        return targets.excluding(seen)


def make_work(
    models: Any,
    data: Any,
    *,
    exclude: Any,
    anchor: Any,
    seed: RandomState,
    marked: bool,
    **settings: Any,
) -> Work:
    """Check the arguments that depend on each other; the other settings are already checked.

    `marked` says whether data and models need fingerprints. Only a run that can resume needs them,
    because they read all data.
    """
    split = data if isinstance(data, Split) else None
    if isinstance(exclude, str):
        checks.choice("exclude", exclude, ("seen",))
        exclude = None if split is None else split.history
    exclude = checks.sparse_array(exclude)
    design, seen = settings["design"], "seen" in getattr(data, "columns", ())
    if isinstance(design, Exact) and design.order == "popularity" and exclude is None and not seen:
        raise InputError(
            "`design` must not have order=popularity when nothing is excluded, because "
            "popularity is counted in the excluded interactions. Use order=random."
        )
    if getattr(design, "pool", None) == "unseen" and exclude is None and not seen:
        raise InputError(
            "`design` must not have pool=unseen when nothing is excluded, because the seen items "
            "are then unknown."
        )
    entries = make_entries(models, split, marked=marked)
    targets: Any = data
    if isinstance(data, UserFile):
        if exclude is not None or settings["n_users"] or settings["budget"]:
            raise InputError(
                "`data` must not be a UserFile when `n_users`, `budget` or `exclude` is given: all "
                "its users are ranked, and its column `seen` lists the excluded items."
            )
        mark: str | None = data.fingerprint
    else:
        targets = ShardedTargets.of(data if split is None else split.test)
        parts = split.parts().values() if split else ()
        mark = fingerprint(targets, exclude, *parts) if marked else None
    anchors = make_anchors(
        anchor, design=settings["design"], targets=targets, split=split, exclude=exclude
    )
    key = seed_key(seed)
    about_data = {
        "n_users": targets.n_users,
        "n_targets": targets.n_targets,
        "n_items": targets.n_items if split is None else split.train.n_items,
        "fingerprint": mark,
    }
    asked = {
        "fullrank": __version__,
        "data": about_data,
        "split": None if split is None else {"name": split.kind, **_plain(split.settings)},
        "excluded": exclude is not None or "seen" in getattr(data, "columns", ()),
        "seed": key,
        "design": None if settings["design"] is None else str(settings["design"]),
        "n_users": settings["n_users"],
        "budget": settings["budget"],
        "anchor": anchors.asked,
        "metrics": list(settings["metrics"]),
        "keep_rows": settings["keep_rows"],
        "confidence_level": settings["level"],
        "models": [{"name": entry.name, **entry.about} for entry in entries],
        **_method(settings["method"]),
    }
    return Work(
        entries=entries,
        targets=targets,
        exclude=exclude,
        anchors=anchors,
        asked=asked,
        seed=key,
        **settings,
    )


def _method(method: Named) -> dict[str, str]:
    """The estimator, where another than the usual one was asked for."""
    usual = isinstance(method, str) and method.lower() == "auto"
    return {} if usual else {"method": method_of(method)[0]}


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    kinds = bool | int | float | str | None
    return {k: v if isinstance(v, kinds) else str(v) for k, v in settings.items()}
