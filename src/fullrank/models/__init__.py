"""Models: settings in, `fit(interactions)`, and a scorer out."""

from collections.abc import Mapping

from fullrank.models._base import Model
from fullrank.models.ease import EASE
from fullrank.models.popularity import Popularity

MODELS: Mapping[str, type[Model]] = {"popularity": Popularity, "ease": EASE}

__all__ = ["EASE", "MODELS", "Model", "Popularity"]
