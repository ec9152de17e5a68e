"""How sure a number is: intervals, bounds, comparisons, winners and plans."""

from fullrank.inference.bounds import Bounds
from fullrank.inference.bounds import bounds as bounds
from fullrank.inference.diagnosis import Diagnosis
from fullrank.inference.estimates import Estimate
from fullrank.inference.estimates import estimate as estimate
from fullrank.inference.influence import PseudoValues, pseudo_values
from fullrank.inference.interval import Interval
from fullrank.inference.plan import Option, Plan
from fullrank.inference.plan import plan as plan

__all__ = [
    "Bounds",
    "Diagnosis",
    "Estimate",
    "Interval",
    "Option",
    "Plan",
    "PseudoValues",
    "bounds",
    "estimate",
    "plan",
    "pseudo_values",
]
