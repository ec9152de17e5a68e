"""The studies: which paper each repeats, the data sets it needs, and the module that runs it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fullrank._lib import checks
from fullrank.data import DATASETS
from fullrank.data.sets import cache as cache
from fullrank.data.sets import listing
from fullrank.errors import InputError
from reproduction.papers import PAPERS

_ALL_PAPERS, _OWN = "All of these papers", "Our own"


@dataclass(frozen=True)
class Study:
    """A study; its module has `study(asked)` and `REPEATS`, and may have `figures` and `options`.

    `needs` are the data sets without which it cannot run, `uses` those that it adds if present.
    """

    name: str
    module: str  # below reproduction
    about: str
    paper: str | None = None  # a key of PAPERS; None: of all of them
    needs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()

    @property
    def own(self) -> bool:
        return self.module.startswith("own.")

    @property
    def group(self) -> str:
        """The heading it is listed under."""
        if self.own:
            return _OWN
        return PAPERS[self.paper].reference if self.paper else _ALL_PAPERS

    def require(self, names: Iterable[str] | None = None) -> None:
        """Raise an error unless the data sets that it needs, or `names`, are present."""
        absent = _absent(self.needs if names is None else names)
        if not absent:
            return
        downloads = [name for name in absent if DATASETS[name].urls]
        files = f"{absent[0]}.parquet" if len(absent) == 1 else "NAME.parquet of each"
        how = f"set FULLRANK_DATA to a folder that has {files}"
        if downloads:
            them = "it" if absent == downloads[:1] else _and(downloads)
            name = downloads[0] if len(downloads) == 1 else "NAME"
            how = f"fetch {them} with `fullrank datasets {name} --download`, or {how}"
        without = "; --quick needs no data" if names is None else ""
        raise InputError(
            f"The study {self.name} needs {_and(absent)}, looked for in {_looked_in()} and not "
            f"found: {how}{without}."
        )

    def omitted(self) -> str:
        """A sentence on the optional data sets that are not present, or an empty string."""
        absent = _absent(self.uses)
        if not absent:
            return ""
        return (
            f"The study {self.name} also uses {_and(absent)}, looked for in {_looked_in()} and "
            f"not found: it runs without."
        )


def _paper(name: str, paper: str | None, about: str, **data: tuple[str, ...]) -> Study:
    return Study(name, f"{name}.study", about, paper, **data)


def _own(folder: str, name: str, about: str, *needs: str) -> Study:
    return Study(name, f"own.{folder}.{name}", about, needs=needs)


_BANK = ("ml-1m", "pinterest-20-part", "citeulike-a", "yelp-diffnet")
_ALL = (
    _paper("rendle2019", "002", "Both tables, Figures 1-3, and the order by corrected metrics."),
    _paper(
        "kdd2020", "001", "Mapping functions from sampled to global hit rates.",
        uses=("book-crossing",),
    ),
    _paper("aaai2021", "004", "Six estimators from 100 items, winners and rank distributions."),
    _paper("aaai2023", "000", "Estimators with priors, adaptive sampling: errors, winners, depth."),
    _paper(
        "linear_models", "003", "Linear models for users outside the training data (chapter 3).",
        needs=("ml-1m",), uses=("ml-20m", "netflix", "msd"),
    ),
    _paper(
        "gowalla_losses", "003", "Nine losses on Gowalla (Tables 12 and 13, Figures 13 and 14).",
        needs=("gowalla",),
    ),
    _paper("user_sampling", "003", "Sampled users with full rankings against sampled items."),
    _paper("ranks", None, "Exact ranks of five models on five data sets, for all studies.",
           needs=_BANK),
    Study("reproduction_index", "index.study", "All tables and figures; the estimators compared."),
    _own("bank", "hundred", "A hundred candidates: errors and intervals on the tuning sets."),
    _own("bank", "hundred_sealed", "The same on the sealed data sets, the last judgement."),
    _own("bank", "rank_bank", "Exact ranks of five models on nineteen data sets, both protocols."),
    _own("inference", "bounds", "Do bounds hold, and how wide are they?", "citeulike-a", "ml-1m"),
    _own("inference", "intervals", "Coverage of 95 % intervals, and of the diagnosis."),
    _own("inference", "plan", "Errors predicted by `plan` against measured errors.", _BANK[1]),
    _own("inference", "several_targets", "Several targets per user on Gowalla.", "gowalla"),
    _own("inference", "shapes", "Shapes of four real rank distributions.", *_BANK[:3], "gowalla"),
    _own(
        "inference", "smoothing", "Smoothed likelihood against EM stopped early.",
        *_BANK[:3], "amazon-video-games",
    ),
    _own("inference", "winner_probability", "Are the probabilities of `p_best` right?", _BANK[1]),
    _own("models", "demo_models", "The settings of the models in the demo.", "ml-latest-small"),
    _own("models", "gowalla_ease", "EASE on Gowalla: cost of fitting and ranking.", "gowalla"),
    _own("models", "gowalla_models", "iALS, popularity and PureSVD on Gowalla.", "gowalla"),
    _own("models", "ml1m_ials", "iALS on ml-1m with training items ranked.", "ml-1m"),
    _own("models", "ml1m_models", "Linear models on ml-1m, tuned and tested once.", "ml-1m"),
    _own("models", "ml1m_neural", "Neural models on ml-1m with training items ranked.", "ml-1m"),
    _own("scaling", "scale", "Ten million users, a hundred thousand items: memory and time."),
    _own("scaling", "sizing", "The cost of a billion users, from measured rates."),
)  # fmt: skip
STUDIES = {study.name: study for study in _ALL}


def get(name: str) -> Study:
    """The study of this name."""
    return STUDIES[checks.choice("study", name, sorted(STUDIES))]


def grouped() -> dict[str, list[Study]]:
    """The studies by heading: the papers in the order they appeared, then our own."""
    groups: dict[str, list[Study]] = {}
    for study in STUDIES.values():
        groups.setdefault(study.group, []).append(study)
    return groups


def _looked_in() -> str:
    given = cache.data_folder() or "which is not set"
    return f"FULLRANK_DATA ({given}) and the cache ({cache.folder()})"


def _absent(names: Iterable[str]) -> list[str]:
    return [name for name in names if not listing.is_here(name)]


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
