"""The five papers, and every one of their tables and figures.

Stored results name an item by the number of its paper ("002 Table 1"); `item_name` gives the name
that readers see. The outcome that a study records for an item takes precedence over the reason
given here. Rendle's two tables have no number and are counted in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


@dataclass(frozen=True)
class Paper:
    """A paper by author and year, and its title."""

    name: str
    title: str = ""
    where: str = ""

    @property
    def reference(self) -> str:
        return f"{self.name}, {self.title} ({self.where})" if self.title else self.name


# in the order they appeared
PAPERS = {
    "002": Paper(
        "Rendle 2019",
        "Evaluation Metrics for Item Recommendation under Sampling",
        "arXiv:1912.02263",
    ),
    "001": Paper("Li et al. 2020", "On Sampling Top-K Recommendation Evaluation", "KDD"),
    "004": Paper(
        "Jin et al. 2021",
        "On Estimating Recommendation Evaluation Metrics under Sampling",
        "AAAI",
    ),
    "000": Paper(
        "Li et al. 2023",
        "Towards Reliable Item Sampling for Recommendation Evaluation",
        "AAAI",
    ),
    "003": Paper("Li (dissertation)"),
}


class Size(NamedTuple):
    """Users and items of a data set, as a paper prints them."""

    users: int
    items: int


# Jin et al. 2021, Table 5 (the first four), Li et al. 2023, Table 5 (the last three), and Li
# (dissertation), Table 2: all agree
SIZES = {
    "ml-1m": Size(6_040, 3_706),
    "citeulike": Size(5_551, 16_980),
    "pinterest-20": Size(55_187, 9_916),
    "yelp": Size(25_677, 25_815),
    "ml-20m": Size(136_677, 20_720),
}


def item_name(item: str) -> str:
    """The name of a table or figure by author and year.

    Examples
    --------
    >>> item_name("004 Table 2")
    'Jin et al. 2021, Table 2'
    """
    number, _, rest = item.partition(" ")
    return f"{PAPERS[number].name}, {rest}"


@dataclass(frozen=True)
class Item:
    """What a table or figure shows; why it holds no result; or which other one it repeats."""

    shows: str
    nothing: str = ""
    repeats: str = ""


def _items() -> dict[str, Item]:
    lines = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()[1:]
    return {item: Item(*rest) for item, *rest in (line.split(" | ") for line in lines)}


ITEMS = _items()
