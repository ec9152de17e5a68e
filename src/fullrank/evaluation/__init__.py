"""Complete evaluations: data × models × a design, shard by shard, in a folder that can resume.

Above the flow: imports `_lib` to `reporting`, `models` and `engines`; cli may import it.
"""

from fullrank.data.sets.sources import load_interactions, load_split
from fullrank.evaluation.evaluate import evaluate
from fullrank.evaluation.model_sources import make_model
from fullrank.evaluation.result import Evaluation
from fullrank.evaluation.train import train_model

__all__ = [
    "Evaluation",
    "evaluate",
    "load_interactions",
    "load_split",
    "make_model",
    "train_model",
]
