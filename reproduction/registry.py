"""The studies: which paper each repeats, the data sets it needs, and the module that runs it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fullrank import _checks
from fullrank.data import DATASETS
from fullrank.data import _cache as cache
from fullrank.errors import InputError
from fullrank.evaluation import catalogue
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


STUDIES = {
    study.name: study
    for study in (
        Study(
            "rendle2019",
            "rendle2019.study",
            "Both tables and Figures 1-3, and whether corrected metrics keep the order.",
            paper="002",
        ),
        Study(
            "kdd2020",
            "kdd2020.study",
            "Mapping functions from sampled to global hit rates.",
            paper="001",
            uses=("book-crossing",),
        ),
        Study(
            "aaai2021",
            "aaai2021.study",
            "Six estimators from 100 sampled items, winners and rank distributions.",
            paper="004",
        ),
        Study(
            "aaai2023",
            "aaai2023.study",
            "Estimators with priors and adaptive sampling: errors, winners, depth.",
            paper="000",
        ),
        Study(
            "linear_models",
            "linear_models.study",
            "Linear models for users outside the training data (chapter 3).",
            paper="003",
            needs=("ml-1m",),
            uses=("ml-20m", "netflix", "msd"),
        ),
        Study(
            "gowalla_losses",
            "gowalla_losses.study",
            "Matrix factorisation with nine losses on Gowalla (Tables 12, 13; Figures 13, 14).",
            paper="003",
            needs=("gowalla",),
        ),
        Study(
            "user_sampling",
            "user_sampling.study",
            "Sampled users with full rankings against all users with sampled items.",
            paper="003",
        ),
        Study(
            "ranks",
            "ranks.study",
            "Exact ranks of five models on five data sets, trained once for all studies.",
            needs=("ml-1m", "pinterest-20-part", "citeulike-a", "yelp-diffnet"),
        ),
        Study(
            "reproduction_index",
            "index.study",
            "Every table and figure of the five papers, and the estimators compared.",
        ),
        Study(
            "bounds",
            "own.inference.bounds",
            "Do bounds hold, how wide are they, and do they match the design?",
            needs=("citeulike-a", "ml-1m"),
        ),
        Study(
            "intervals",
            "own.inference.intervals",
            "Coverage of nominal 95 % intervals, and whether the diagnosis finds the gaps.",
        ),
        Study(
            "plan",
            "own.inference.plan",
            "Errors predicted by `plan` against measured errors.",
            needs=("pinterest-20-part",),
        ),
        Study(
            "several_targets",
            "own.inference.several_targets",
            "Several targets per user: Gowalla with a factor model.",
            needs=("gowalla",),
        ),
        Study(
            "shapes",
            "own.inference.shapes",
            "The shapes of four real rank distributions, for simulations with a known truth.",
            needs=("ml-1m", "pinterest-20-part", "citeulike-a", "gowalla"),
        ),
        Study(
            "smoothing",
            "own.inference.smoothing",
            "Smoothed likelihood against EM stopped early, on the same samples.",
            needs=("ml-1m", "pinterest-20-part", "citeulike-a", "amazon-video-games"),
        ),
        Study(
            "winner_probability",
            "own.inference.winner_probability",
            "Are the probabilities stated by `winner` calibrated?",
            needs=("pinterest-20-part",),
        ),
        Study(
            "demo_models",
            "own.models.demo_models",
            "The settings of the models in `fullrank demo`, chosen on validation items.",
            needs=("ml-latest-small",),
        ),
        Study(
            "gowalla_ease",
            "own.models.gowalla_ease",
            "EASE on Gowalla, with 40,981 items: cost of fitting and ranking.",
            needs=("gowalla",),
        ),
        Study(
            "gowalla_models",
            "own.models.gowalla_models",
            "iALS on Gowalla beside the dissertation's, with popularity and PureSVD.",
            needs=("gowalla",),
        ),
        Study(
            "ml1m_ials",
            "own.models.ml1m_ials",
            "iALS on MovieLens 1M with training items ranked, as in Jin et al. 2021.",
            needs=("ml-1m",),
        ),
        Study(
            "ml1m_models",
            "own.models.ml1m_models",
            "Linear models on MovieLens 1M, tuned on a validation split and tested once.",
            needs=("ml-1m",),
        ),
        Study(
            "ml1m_neural",
            "own.models.ml1m_neural",
            "Neural models on MovieLens 1M with training items ranked, tuned and tested.",
            needs=("ml-1m",),
        ),
        Study(
            "scale",
            "own.scaling.scale",
            "Ten million users and a hundred thousand items: memory and time.",
        ),
        Study(
            "sizing",
            "own.scaling.sizing",
            "Cost of a billion users and a hundred million items, from measured rates.",
        ),
    )
}


def get(name: str) -> Study:
    """The study of this name."""
    return STUDIES[_checks.choice("study", name, sorted(STUDIES))]


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
    return [name for name in names if not catalogue.is_here(name)]


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
