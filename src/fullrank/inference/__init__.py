"""How sure a number is: intervals, bounds, comparisons, winners and plans."""

from fullrank.inference._bounds_result import Bounds
from fullrank.inference.bounding import bounds
from fullrank.inference.comparing import compare
from fullrank.inference.comparison import Comparison, Difference
from fullrank.inference.diagnosis import Diagnosis
from fullrank.inference.dominance import dominance as dominance
from fullrank.inference.estimates import Estimate, estimate
from fullrank.inference.explaining import Explanation, explain
from fullrank.inference.influence import PseudoValues, pseudo_values
from fullrank.inference.interval import Interval
from fullrank.inference.means import mean_interval
from fullrank.inference.paired_tests import paired_test
from fullrank.inference.planning import Option, Plan, plan
from fullrank.inference.proportions import hoeffding, two_proportions, wald, wilson
from fullrank.inference.sample_size import users_needed
from fullrank.inference.two_samples import two_means
from fullrank.inference.user_means import user_means as user_means
from fullrank.inference.winning import Winner, winner

__all__ = [
    "Bounds",
    "Comparison",
    "Diagnosis",
    "Difference",
    "Estimate",
    "Explanation",
    "Interval",
    "Option",
    "Plan",
    "PseudoValues",
    "Winner",
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
    "winner",
]
