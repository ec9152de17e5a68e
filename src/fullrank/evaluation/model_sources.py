"""The models of an evaluation: by name, saved, unfitted or fitted, factor files, and scorers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, KeysView, Mapping
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fullrank import models
from fullrank._lib import checks
from fullrank._lib.files import existing
from fullrank._lib.fingerprints import file_fingerprint, fingerprint
from fullrank._lib.specs import parse_spec
from fullrank.data import Interactions, Split
from fullrank.errors import InputError, NotFittedError
from fullrank.evaluation import fit_memory
from fullrank.evaluation.run_folder import RunFolder
from fullrank.models.base import Saved
from fullrank.models.registry import name_of, settings_of
from fullrank.scorers import SCORERS, as_scorer
from fullrank.scorers.factor_files import FactorFiles
from fullrank.scorers.reordered import named as named_scorer
from fullrank.scorers.user_files import UserFactors
from fullrank.tables import ids
from fullrank.tables.ids import Ids

_SAVED = ".safetensors"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A model to evaluate: its name, its description, and how to obtain its scorer.

    `about` goes into the manifest, and a resumed run must find it again. `scorer(keeper)`
    makes the scorer; a model that is fitted is given to the keeper, if there is one, so that it
    need not be fitted twice. `personal` is false where every user gets the same scores.
    """

    name: str
    about: Mapping[str, Any]
    scorer: Callable[[Keeper | None], Any]
    personal: bool = True


class Keeper(NamedTuple):
    """The folder of a run, and the number of a model in it."""

    folder: RunFolder
    model: int


def make_model(text: str) -> Any:
    """Make a model of fullrank from text such as ``"ease:regularization=500"``.

    Examples
    --------
    >>> make_model("ease:regularization=500")
    EASE(regularization=500.0)
    """
    spec = parse_spec("model", text)
    make: Any = models.MODELS.get(spec.name)
    if make is None:
        make = SCORERS.get(spec.name)
    if make is None:
        raise models.MODELS.unknown(spec.name, also=tuple(SCORERS))
    if spec.main is not None:
        raise InputError(
            f"`model` must have named settings, as in name:setting=value, not {text!r}."
        )
    known = settings_of(make)
    if known is not None and not {*spec.settings} <= {*known}:
        raise checks.unknown_settings("model", spec.name, known, spec.settings)
    return make(**spec.settings)


def make_entries(given: Any, split: Split | None, *, marked: bool = True) -> list[Entry]:
    """Return an entry for each model of a mapping from names, a list of texts, or one model.

    Without `marked`, scorers get no fingerprint, because a fingerprint reads all their content.
    """
    if isinstance(given, str):
        given = [given]
    if isinstance(given, list | tuple | set | Iterator | KeysView):
        given = named(given)
    if not isinstance(given, Mapping):  # one model by itself
        given = {getattr(given, "__name__", type(given).__name__): given}
    if not given:
        raise InputError("`models` must hold at least one model; it is empty.")
    for name in given:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InputError(f"`models` must have printable, non-empty names, not {name!r}.")
    return [_entry(name, thing, split, marked) for name, thing in given.items()]


def named(given: Any) -> dict[str, Any]:
    """Return a mapping from texts that are their own names, or start with ``name=``.

    Examples
    --------
    >>> named(["ease:regularization=500", "best=mf"])
    {'ease:regularization=500': 'ease:regularization=500', 'best': 'mf'}
    """
    found: dict[str, Any] = {}
    for text in given:
        if not isinstance(text, str):
            raise InputError(
                "`models` must map names to models, or be a list of names such as 'ease'; this one "
                f"contains an object of type {type(text).__name__}."
            )
        name, equals, rest = text.partition("=")
        label, what = (name, rest) if equals and ":" not in name else (text, text)
        if label in found:
            raise InputError(f"`models` must have distinct names; {label!r} occurs twice.")
        found[label] = what
    return found


def _entry(name: str, thing: Any, split: Split | None, marked: bool) -> Entry:
    if isinstance(thing, str) and thing.lower().endswith(_SAVED):
        thing = Path(thing)
    if isinstance(thing, Path) and thing.suffix.lower() == _SAVED:
        return _saved(name, thing, _needed(name, split))
    if isinstance(thing, FactorFiles):
        return Entry(
            name=name,
            about={"kind": "factors", **thing.to_dict()},
            scorer=lambda _: thing.scorer(),
        )
    if isinstance(thing, str):
        thing = make_model(thing)
    if isinstance(thing, type) and callable(getattr(thing, "fit", None)):
        thing = thing()
    if _is_unfitted(thing):
        learned = _needed(name, split)
        return fitted_entry(name, thing, learned.train, learned.history)
    if isinstance(thing, UserFactors):
        about = {"kind": "user factors", "column": thing.column}
        if marked:
            about["fingerprint"] = fingerprint(np.asarray(thing.item_factors))
        return Entry(name=name, about=about, scorer=lambda _: thing)
    personal = _is_personal(thing)
    if isinstance(thing, Saved):
        thing = _with_history(thing, None if split is None else split.history)
    scorer = as_scorer(thing)
    about = {"kind": "scorer", "about": repr(scorer)}
    if marked:
        about["fingerprint"] = fingerprint(scorer)
    return Entry(name=name, about=about, scorer=lambda _: scorer, personal=personal)


def _needed(name: str, split: Split | None) -> Split:
    if split is None:
        raise InputError(
            f"`data` must be a split, because {name} needs a training part. For other data, give "
            "a fitted model or a scorer."
        )
    return split


def _is_personal(model: Any) -> bool:
    return getattr(model, "personal", True) is not False


def _is_unfitted(thing: Any) -> bool:
    """Whether something is a model that has yet to learn."""
    if isinstance(thing, Saved):
        return not hasattr(thing, "interactions_")
    if not all(callable(getattr(thing, one, None)) for one in ("fit", "scorer")):
        return False
    if any(name.endswith("_") and name[0] != "_" for name in getattr(thing, "__dict__", ())):
        return False  # what is learned ends in _
    try:
        thing.scorer()
    except (NotFittedError, AttributeError):
        return True
    return False


def fitted_entry(name: str, model: Any, train: Interactions, history: Interactions) -> Entry:
    """A model that is yet to be fitted, and scores users by their history."""
    fit_memory.check_fit(name, model, train)
    keeps = isinstance(model, Saved) and name_of(type(model)) is not None

    def scorer(keeper: Keeper | None) -> Any:
        kept = None if keeper is None or not keeps else keeper.folder.kept_model(keeper.model)
        if kept is not None:
            return _with_history(models.load(kept), history)
        fitted = model.fit(train)
        if not isinstance(fitted, Saved):
            return _foreign_scorer(name, model, train, history)
        if keeper is not None and keeps:
            keeper.folder.keep_model(keeper.model, fitted.save)
        return _with_history(fitted, history)

    return Entry(name=name, about=_about(model), scorer=scorer, personal=_is_personal(model))


def _about(model: Any) -> dict[str, Any]:
    """What a resumed run must find again: of a class from outside, its code as well."""
    kind = type(model)
    known = [one for one in settings_of(kind) or () if hasattr(model, one)]
    own = {one: getattr(model, one) for one in known}
    about = {
        "kind": "fitted",
        "model": name_of(kind) or f"{kind.__module__}.{kind.__qualname__}",
        "settings": _plain(own),
    }
    if not kind.__module__.startswith("fullrank."):
        code = [
            vars(one)
            for one in kind.__mro__
            if not one.__module__.startswith(("fullrank.", "builtins"))
        ]
        methods = [{n: f for n, f in one.items() if hasattr(f, "__code__")} for one in code]
        about["fingerprint"] = fingerprint(methods, getattr(model, "__dict__", None))
    return about


def _foreign_scorer(name: str, model: Any, train: Interactions, history: Interactions) -> Any:
    """The scorer of a model from outside; without ids its rows are those of what it was given."""
    data: Interactions = train
    given: tuple[Interactions, ...] = ()
    if "history" in signature(model.scorer).parameters and history is not train:
        data = _over_items(history, train.item_ids)
        given = (data,)
    scorer = as_scorer(model.scorer(*given))
    if any(getattr(scorer, side, None) is not None for side in ("user_ids", "item_ids")):
        return scorer
    sizes = (scorer.n_users or data.n_users, scorer.n_items)
    if sizes != (data.n_users, data.n_items):
        raise InputError(
            f"`models` must score the {data.n_users:,} users and {data.n_items:,} items of the "
            f"data, or have `user_ids` and `item_ids`; {name} scores {sizes[0]:,} users "
            f"and {sizes[1]:,} items."
        )
    return named_scorer(scorer, data)


def _saved(name: str, path: Path, split: Split) -> Entry:
    model = models.load(existing(path, "models"))
    about = {"kind": "saved", "about": repr(model), "fingerprint": file_fingerprint(path)}
    scorer = _with_history(model, split.history)
    _warn_of_leak(name, model, split)
    personal = _is_personal(model)
    return Entry(name=name, about=about, scorer=lambda _: scorer, personal=personal)


def _with_history(model: Any, history: Interactions | None) -> Any:
    """The scorer of the users who are asked about; its items are those that the model knows."""
    learned = model.interactions_
    if history is None or learned is history:
        return model.scorer()
    if all(
        np.array_equal(getattr(learned, part), getattr(history, part))
        for part in ("user_ids", "item_ids", "indptr", "indices")
    ):
        return model.scorer()
    if (learned.item_ids.dtype.kind == "U") != (history.item_ids.dtype.kind == "U"):
        return model.scorer()  # nothing is known of these items: `aligned` says so
    return model.scorer(_over_items(history, learned.item_ids))


def _over_items(history: Interactions, item_ids: Ids) -> Interactions:
    """The histories over the items that a model knows, in its order.

    What it does not know is left out here: where it is asked about, `aligned` refuses.
    """
    if np.array_equal(history.item_ids, item_ids):
        return history
    rows = ids.find("item_ids", history.item_ids, item_ids)
    users, items = history.pairs()
    known = rows[items] >= 0
    return Interactions.from_arrays(
        history.user_ids[users[known]],
        item_ids[rows[items[known]]],
        user_ids=history.user_ids,
        item_ids=item_ids,
    )


def _warn_of_leak(name: str, model: Any, split: Split) -> None:
    """Say so if a saved model has learned from what it is asked about."""
    learned, test = model.interactions_, split.test
    if any(
        getattr(learned, side).dtype.kind != getattr(test, side).dtype.kind
        for side in ("user_ids", "item_ids")
    ):
        return  # numbers and text: it will be refused
    users, items = test.pairs()
    users = ids.find("user_ids", test.user_ids, learned.user_ids)[users]
    items = ids.find("item_ids", test.item_ids, learned.item_ids)[items]
    asked = np.where(
        (users < 0) | (items < 0), -1, users.astype(np.int64) * learned.n_items + items
    )
    own_users, own_items = learned.pairs()
    n_both = int(np.isin(asked, own_users.astype(np.int64) * learned.n_items + own_items).sum())
    if n_both:
        import warnings

        from fullrank.errors import DataWarning

        warnings.warn(
            f"{name} was trained on {n_both:,} of the {asked.size:,} test interactions; its "
            "metrics will be too high. Train it on the training part of the same split.",
            DataWarning,
            stacklevel=5,
        )


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON has them."""
    found = {}
    for name, value in settings.items():
        plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        known = plain is None or isinstance(plain, bool | int | float | str | list | tuple)
        found[name] = plain if known else f"{type(plain).__name__} {fingerprint(plain)}"
    return found
