"""Debiased iALS: iALS with a loss that assumes that some missing items are positives."""

from __future__ import annotations

from dataclasses import dataclass

from fullrank._lib import checks
from fullrank.errors import InputError
from fullrank.models.low_rank import alternating
from fullrank.models.low_rank.ials import IALS


@dataclass(kw_only=True, eq=False)
class DebiasedIALS(IALS):
    """iALS with a loss that pulls the scores of observed pairs less towards zero.

    With an equal `positive_weight` for all users it is equivalent to iALS with other settings, by
    the theorem that it is based on. It is nevertheless fitted on its own loss. Settings,
    attributes, time and memory are those of :class:`IALS`, with one additional setting.

    Parameters
    ----------
    positive_weight : float
        c > 0, the weight of observed pairs.
    unobserved_weight : float
        α₀, which must be below 1: at 1, nothing limits the scores of observed pairs.

    Notes
    -----
    The loss is Σ_observed (c(ŷ − 1)² − c·α₀·ŷ²) + α₀·Σ_all ŷ² and the norms of :class:`IALS` (Li,
    dissertation, section 4.3.2). For given items, users get 1/(1 − α₀) times what iALS gives them
    at α₀′ = α₀/((1 − α₀)c) and λ′ = λ/((1 − α₀)c) (Theorem 2, appendix A.3.1). Over both sides,
    users and items get 1/√(1 − α₀) times what iALS gives at the same α₀′ and λ′ = λ/c, where the
    penalties of all rows agree, as they do for ν = 0 (with ν > 0 they contain α₀).

    Examples
    --------
    >>> from fullrank.data import Interactions
    >>> data = Interactions.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 3])
    >>> model = DebiasedIALS(n_factors=2, regularization=0.01, unobserved_weight=0.5).fit(data)
    >>> abs(model.scorer().scores([0]).round(1))
    array([[1., 1., 0., 0.]])
    """

    positive_weight: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.positive_weight = checks.positive("positive_weight", self.positive_weight)
        if self.unobserved_weight >= 1:
            raise InputError(
                f"`unobserved_weight` must be below 1, not {self.unobserved_weight:g}."
            )

    def _loss(self) -> alternating.Loss:
        c, alpha = self.positive_weight, self.unobserved_weight
        return alternating.Loss(observed=c * (1.0 - alpha), pull=c, unobserved=alpha)
