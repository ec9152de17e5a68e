"""Compatibility of RecBole 1.2.1 with current versions of numpy, pandas, scipy and torch.

RecBole uses names that numpy 2 and scipy 1.13 dropped, fills missing values in a way that pandas 3
ignores, and loads checkpoints that torch 2.6 refuses. Only RecBole's own modules are patched: in
them, `np` is a copy of numpy's namespace with the missing names. The libraries themselves are not
changed, so other code is not affected.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import Any

import numpy as np

_PACKAGE = "recbole"
_ABSENT = object()
_ORIGINALS: dict[int, ModuleType] = {}  # by the id of a copy, of which each is made once and kept
# what RecBole calls them, and what numpy 1 made of it
_NUMPY = {
    "float_": np.float64,
    "complex_": np.complex128,
    "unicode_": np.str_,
    "bool8": np.bool_,
    "float": np.float64,
    "int": np.int_,
    "complex": np.complex128,
    "object": np.object_,
    "str": np.str_,
    "long": np.int_,
    "unicode": np.str_,
}
_LOADING = (  # the modules that load checkpoints, which hold more than weights
    "recbole.trainer.trainer",
    "recbole.quick_start.quick_start",
    "recbole.model.context_aware_recommender.kd_dagfm",
    "recbole.model.general_recommender.convncf",
    "recbole.model.general_recommender.nais",
    "recbole.model.general_recommender.neumf",
    "recbole.model.general_recommender.ract",
    "recbole.model.sequential_recommender.s3rec",
)


def compatible() -> Compatibility:
    """Make RecBole 1.2.1 work with numpy 2, pandas 3, scipy 1.13 or newer and torch 2.6 or newer.

    Call it once, before you create a `Config`; it lasts until the process ends. In a ``with`` block
    it ends with the block, which must then contain all work with RecBole. `rank` and `sample` do
    not need the call, because they apply the changes while they run.

    Only RecBole's modules change, whether they are already loaded or loaded later:

    - their `np` has the names that numpy 2 dropped (`float_`, `bool8`, `unicode_`, …), and `Config`
      no longer sets names in numpy itself;
    - their `dok_matrix` has `_update`, with which LightGCN, NGCF and others build their graphs;
    - missing features are filled, which pandas 3 would silently not do;
    - checkpoints are loaded completely, as up to torch 2.5, so that `Trainer.evaluate` finds the
    best model. Loading a checkpoint executes code in it: load only checkpoints that you trust.

    Returns
    -------
    Compatibility
        A context manager; `undo()` ends it manually.

    Notes
    -----
    `recbole.quick_start` imports Ray, of which RecBole requires a version up to 2.6.3. Without Ray,
    use `Config`, `create_dataset`, `data_preparation`, `get_model` and `get_trainer`.

    Examples
    --------
    >>> from fullrank.integrations import recbole
    >>> with recbole.compatible():
    ...     pass  # Config, create_dataset, …
    """
    return Compatibility()


class Compatibility:
    """RecBole's modules with what they need, until `undo`; made by `compatible`."""

    def __init__(self) -> None:
        self._done = False
        _Changes.begin()

    def undo(self) -> None:
        """Give RecBole's modules back what they had, unless another call still needs it."""
        if not self._done:
            self._done = True
            _Changes.end()

    def __enter__(self) -> Compatibility:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.undo()


def _loaded() -> list[ModuleType]:
    """RecBole's modules that are loaded."""
    found = [*sys.modules.items()]
    return [one for name, one in found if name.startswith(f"{_PACKAGE}.") and one is not None]


class _Changes:
    """What was changed, so that it can be put back; calls may be nested."""

    calls = 0
    before: list[tuple[Any, str, Any]] = []  # noqa: RUF012  # one for the process
    finder: _Finder | None = None

    @classmethod
    def begin(cls) -> None:
        cls.calls += 1
        if cls.calls > 1:
            return
        for module in _loaded():
            change(module)
        cls.finder = _Finder()
        sys.meta_path.insert(0, cls.finder)

    @classmethod
    def end(cls) -> None:
        cls.calls -= 1
        if cls.calls:
            return
        if cls.finder in sys.meta_path:
            sys.meta_path.remove(cls.finder)
        while cls.before:
            owner, name, value = cls.before.pop()
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
        for module in _loaded():  # what one took from another by `import *` while that was changed
            for name, value in [*vars(module).items()]:
                if id(value) in _ORIGINALS:
                    setattr(module, name, _ORIGINALS[id(value)])

    @classmethod
    def set(cls, owner: Any, name: str, value: Any) -> None:
        cls.before.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)


class _Finder(MetaPathFinder):
    """Changes RecBole's modules right after they are loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{_PACKAGE}."):
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Changing(spec.loader)
                return spec
        return None


class _Changing(Loader):
    """A module's own loader, and the changes after it."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        if _Changes.calls:
            change(module)


def change(module: ModuleType) -> None:
    """Give one of RecBole's modules what it needs."""
    for name, original, changed in _swapped(module):
        if vars(module).get(name) is original:
            _Changes.set(module, name, changed)
    for owner, name, function in _methods(module):
        if owner is not None:
            _Changes.set(owner, name, function)


def _swapped(module: ModuleType) -> Iterator[tuple[str, Any, Any]]:
    """Names of a module: what they are, and what they become."""
    yield "np", np, _numpy()
    names = vars(module)
    if "sp" in names:
        sparse = importlib.import_module("scipy.sparse")
        yield "sp", sparse, _sparse(sparse)
    if module.__name__ in _LOADING and "torch" in names:
        yield "torch", names["torch"], _torch(names["torch"])
    if module.__name__ == "recbole.data.dataset.dataset":
        yield "pd", names["pd"], _pandas(names["pd"])


def _methods(module: ModuleType) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    """Methods that take others' place: the class, the name and the function."""
    if module.__name__ == "recbole.config.configurator":
        yield getattr(module, "Config", None), "compatibility_settings", _nothing_to_set
    if module.__name__ == "recbole.data.dataset.dataset":
        yield getattr(module, "Dataset", None), "_fill_nan", _fill_missing


def _copy(module: ModuleType, **names: Any) -> ModuleType:
    """A module of the same contents with further names."""
    other = ModuleType(module.__name__, module.__doc__)
    vars(other).update(vars(module))
    vars(other).update(names)
    _ORIGINALS[id(other)] = module
    return other


@functools.cache
def _numpy() -> ModuleType:
    return _copy(np, **_NUMPY)


@functools.cache
def _sparse(sparse: Any) -> ModuleType:
    if hasattr(sparse.dok_matrix, "_update"):
        return _copy(sparse)

    class dok_matrix(sparse.dok_matrix):  # type: ignore[misc]  # noqa: N801  # RecBole's name
        def _update(self, data: Any) -> None:
            # the keys are pairs of rows and columns of the matrix, of which numpy's are slow
            self._dict.update(data) if hasattr(self, "_dict") else self.update(data)

    return _copy(sparse, dok_matrix=dok_matrix)


@functools.cache
def _torch(torch: Any) -> ModuleType:
    @functools.wraps(torch.load)
    def load(*arguments: Any, **settings: Any) -> Any:
        settings.setdefault("weights_only", False)
        return torch.load(*arguments, **settings)

    return _copy(torch, load=load)


@functools.cache
def _pandas(pandas: Any) -> ModuleType:
    @functools.wraps(pandas.read_csv)
    def read_csv(*arguments: Any, **settings: Any) -> Any:
        table = pandas.read_csv(*arguments, **settings)
        for name in table.columns:  # of an empty list nothing is there to split
            if str(name).endswith((":token_seq", ":float_seq")):
                table[name] = table[name].fillna("")
        return table

    return _copy(pandas, read_csv=read_csv)


def _nothing_to_set(config: Any) -> None:
    """`Config.compatibility_settings`, which would set names in numpy for everyone."""


def _fill_missing(dataset: Any) -> None:
    """`Dataset._fill_nan`, with columns assigned: pandas 3 does not fill them in place."""
    for table_name in dataset.feat_name_list:
        table = getattr(dataset, table_name)
        for name in table:
            kind = dataset.field2type[name].value
            if kind == "token":
                table[name] = table[name].fillna(value=0)
            elif kind == "float":
                table[name] = table[name].fillna(value=table[name].mean())
            else:
                empty = np.array([], np.int64 if kind == "token_seq" else np.float64)
                table[name] = [
                    empty if isinstance(one, float) else one for one in table[name].tolist()
                ]
