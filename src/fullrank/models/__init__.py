"""Reference models: make one with settings, `fit` it, and get its scorer; `save` and `load` it.

Beside the flow: imports `losses` and `_lib` to `ranking`; evaluation, testing and cli import it.
"""

from fullrank.models.base import Model, Saved, learned
from fullrank.models.grid_search import GridSearch, grid_search
from fullrank.models.item_item.debiased_ease import DebiasedEASE
from fullrank.models.item_item.dlae import DLAE
from fullrank.models.item_item.ease import EASE
from fullrank.models.item_item.edlae import EDLAE
from fullrank.models.item_item.item_knn import ItemKNN
from fullrank.models.item_item.slim import SLIM
from fullrank.models.low_rank.debiased_ials import DebiasedIALS
from fullrank.models.low_rank.edlae_low_rank import LowRankEDLAE
from fullrank.models.low_rank.ials import IALS
from fullrank.models.low_rank.lrr import LRR
from fullrank.models.low_rank.mf import MF
from fullrank.models.low_rank.nearby import HeadTail, LambdaSearch, Sparsified
from fullrank.models.low_rank.pure_svd import PureSVD
from fullrank.models.neural.cdae import CDAE
from fullrank.models.neural.embedding_mf import EmbeddingMF
from fullrank.models.neural.lightgcn import LightGCN
from fullrank.models.neural.multi_vae import MultiDAE, MultiVAE
from fullrank.models.neural.neumf import NeuMF
from fullrank.models.popularity import Popularity
from fullrank.models.registry import MODELS, register, unregister
from fullrank.models.saving import load
from fullrank.models.training.history import History

MODELS.bring(
    {
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
)

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
    "Saved",
    "Sparsified",
    "grid_search",
    "learned",
    "load",
    "register",
    "unregister",
]
