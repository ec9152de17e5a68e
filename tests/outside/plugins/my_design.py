"""A design: a few candidates for every target, and many for those among the first three."""

from dataclasses import dataclass
from typing import ClassVar

from fullrank import designs


@designs.register
@dataclass(frozen=True)
class TwoStage(designs.Design):
    name: ClassVar[str] = "two_stage"
    main: ClassVar[str] = "first"  # what "two_stage:50" sets
    first: int = 50
    second: int = 500

    def rounds(self, n_items, sample_size=None):
        return designs.Rounds((self.first, self.second), (3,), self.replacement)
