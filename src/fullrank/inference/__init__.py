"""How sure a number is: intervals, bounds, comparisons, winners and plans."""

from fullrank.inference.diagnosis import Diagnosis
from fullrank.inference.estimates import Estimate
from fullrank.inference.estimates import estimate as estimate
from fullrank.inference.influence import PseudoValues, pseudo_values
from fullrank.inference.interval import Interval
from fullrank.inference.plan import Option, Plan
from fullrank.inference.plan import plan as plan

__all__ = [
    "Diagnosis",
    "Estimate",
    "Interval",
    "Option",
    "Plan",
    "PseudoValues",
    "estimate",
    "plan",
    "pseudo_values",
]
