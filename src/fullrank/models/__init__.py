"""Models: settings in, `fit(interactions)`, and a scorer out; `save` and `load` keep them."""

from collections.abc import Mapping

from fullrank.models._base import Model
from fullrank.models._loop.history import History
from fullrank.models._saving import load
from fullrank.models.cdae import CDAE
from fullrank.models.debiased_ease import DebiasedEASE
from fullrank.models.debiased_ials import DebiasedIALS
from fullrank.models.dlae import DLAE
from fullrank.models.ease import EASE
from fullrank.models.edlae import EDLAE
from fullrank.models.edlae_low_rank import LowRankEDLAE
from fullrank.models.embedding_mf import EmbeddingMF
from fullrank.models.grid_search import GridSearch, grid_search
from fullrank.models.ials import IALS
from fullrank.models.item_knn import ItemKNN
from fullrank.models.lightgcn import LightGCN
from fullrank.models.lrr import LRR
from fullrank.models.mf import MF
from fullrank.models.multi_vae import MultiDAE, MultiVAE
from fullrank.models.nearby import HeadTail, LambdaSearch, Sparsified
from fullrank.models.neumf import NeuMF
from fullrank.models.popularity import Popularity
from fullrank.models.pure_svd import PureSVD
from fullrank.models.slim import SLIM

MODELS: Mapping[str, type[Model]] = {
    "popularity": Popularity,
    "item-knn": ItemKNN,
    "pure-svd": PureSVD,
    "mf": MF,
    "lrr": LRR,
    "slim": SLIM,
    "ease": EASE,
    "debiased-ease": DebiasedEASE,
    "dlae": DLAE,
    "edlae": EDLAE,
    "low-rank-edlae": LowRankEDLAE,
    "ials": IALS,
    "debiased-ials": DebiasedIALS,
    "lambda-search": LambdaSearch,
    "head-tail": HeadTail,
    "sparsified": Sparsified,
    "embedding-mf": EmbeddingMF,
    "lightgcn": LightGCN,
    "neumf": NeuMF,
    "multi-vae": MultiVAE,
    "multi-dae": MultiDAE,
    "cdae": CDAE,
}

__all__ = [
    "CDAE",
    "DLAE",
    "EASE",
    "EDLAE",
    "IALS",
    "LRR",
    "MF",
    "MODELS",
    "SLIM",
    "DebiasedEASE",
    "DebiasedIALS",
    "EmbeddingMF",
    "GridSearch",
    "HeadTail",
    "History",
    "ItemKNN",
    "LambdaSearch",
    "LightGCN",
    "LowRankEDLAE",
    "Model",
    "MultiDAE",
    "MultiVAE",
    "NeuMF",
    "Popularity",
    "PureSVD",
    "Sparsified",
    "grid_search",
    "load",
]
