"""Inference from a sample: estimates, bounds, comparisons, plans and their statistics.

Imports `_lib` to `estimators` in the order of the folders; reporting may import it.
"""

from fullrank.inference.bounding.bounds import bounds
from fullrank.inference.bounding.result import Bounds, SeveralBounds
from fullrank.inference.comparison.compare import compare
from fullrank.inference.comparison.curves import dominance as dominance
from fullrank.inference.comparison.result import Comparison, Difference
from fullrank.inference.estimation.diagnosis import Diagnosis
from fullrank.inference.estimation.estimate import estimate
from fullrank.inference.estimation.influence import PseudoValues, pseudo_values
from fullrank.inference.estimation.result import Estimate
from fullrank.inference.estimation.several_models import Estimates
from fullrank.inference.estimation.user_values import user_means as user_means
from fullrank.inference.explanation.explain import explain
from fullrank.inference.explanation.result import Explanation, Explanations
from fullrank.inference.planning.plan import plan
from fullrank.inference.planning.result import Option, Plan
from fullrank.inference.statistics.hypothesis_tests import paired_test
from fullrank.inference.statistics.means import mean_interval
from fullrank.inference.statistics.normal import Interval
from fullrank.inference.statistics.proportions import hoeffding, two_proportions, wald, wilson
from fullrank.inference.statistics.sample_size import users_needed
from fullrank.inference.statistics.two_samples import two_means

__all__ = [
    "Bounds",
    "Comparison",
    "Diagnosis",
    "Difference",
    "Estimate",
    "Estimates",
    "Explanation",
    "Explanations",
    "Interval",
    "Option",
    "Plan",
    "PseudoValues",
    "SeveralBounds",
    "bounds",
    "compare",
    "dominance",
    "estimate",
    "explain",
    "hoeffding",
    "mean_interval",
    "paired_test",
    "plan",
    "pseudo_values",
    "two_means",
    "two_proportions",
    "user_means",
    "users_needed",
    "wald",
    "wilson",
]
