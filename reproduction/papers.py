"""The five papers, and every one of their tables and figures.

Stored results name an item by the number of its paper ("002 Table 1"); `item_name` gives the name
that readers see. The outcome that a study records for an item takes precedence over the reason
given here. Rendle's two tables have no number and are counted in order.
"""

from __future__ import annotations

from dataclasses import dataclass


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


_NOTATION = Item("notation", nothing="names of quantities")
_SIZES = Item("sizes of the data sets", nothing="ours are on the page of each study")

ITEMS: dict[str, Item] = {
    "002 Table 1": Item("exact metrics of three models (section 3.2)"),
    "002 Table 2": Item("the same from 99 sampled items (section 4.3)"),
    "002 Figure 1": Item("what each metric gives a rank"),
    "002 Figure 2": Item("expected sampled metrics as the sample grows"),
    "002 Figure 3": Item("sampled metrics as functions of the true rank"),
    #
    "001 Table 1": _NOTATION,
    "001 Table 2": Item("parameter of the beta distribution, four models on four data sets"),
    "001 Table 3": Item("winners by sampled and by global hit ratio"),
    "001 Table 4": _SIZES,
    "001 Table 5": Item("hit ratios at mapped cut-offs, three sampling schemes, n = 100"),
    "001 Table 6": Item("the same, n = 1,000"),
    "001 Table 7": Item("errors of six mapping functions"),
    "001 Figure 1": Item("global and sampled hit ratio of several models"),
    "001 Figure 2": Item("hit ratio, its mapped sample and the ranks behind them"),
    "001 Figure 3": Item("beta distributions beside the ranks"),
    "001 Figure 4": Item("mapping functions relative to that of uniform ranks"),
    "001 Figure 5": Item("mapping functions of neighbouring parameters"),
    "001 Figure 6": Item("why a better model gains from the mapping", nothing="a sketch"),
    "001 Figure 7": Item("mapped curves laid over each other, from both sides"),
    "001 Figure 8": Item("mapped curves as the sample grows"),
    #
    "004 Table 1": _NOTATION,
    "004 Table 2": Item("six estimators of metrics at 10, ml-1m"),
    "004 Table 3": Item("the same, citeulike"),
    "004 Table 4": Item("how often the best model is named, ml-1m"),
    "004 Table 5": _SIZES,
    "004 Table 6": Item("five estimators of metrics at 10, pinterest-20"),
    "004 Table 7": Item("the same, yelp"),
    "004 Table 8": Item("how often the best model is named, citeulike"),
    "004 Table 9": Item("the same, yelp"),
    "004 Table 10": Item("the same, pinterest-20"),
    "004 Figure 1": Item("learned distributions of the rank up to 200, ml-1m"),
    "004 Figure 2": Item("learned distributions and recall of three models, ml-1m"),
    "004 Figure 3": Item("learned distributions from 100 and 500 candidates, citeulike"),
    #
    "000 Table 1": Item("errors of Recall, n = 100, two data sets"),
    "000 Table 2": Item("errors of NDCG, fixed and adaptive, two data sets"),
    "000 Table 3": Item("how often the best model is named, pinterest-20"),
    "000 Table 4": _NOTATION,
    "000 Table 5": _SIZES,
    "000 Table 6": Item("errors of Recall, n = 100, three data sets"),
    "000 Table 7": Item("errors of NDCG, fixed and adaptive, three data sets"),
    "000 Table 8": Item("how often the best model is named, three data sets"),
    "000 Table 9": Item("errors of AP, n = 100"),
    "000 Table 10": Item("errors of NDCG, n = 500"),
    "000 Table 11": Item("errors of Recall, fixed and adaptive"),
    "000 Figure 1": Item("ranks among 100 candidates, and the error at each cut-off, ml-20m"),
    "000 Figure 2": Item("cost of a deeper sample: sampling efficiency, yelp"),
    #
    "003 Table 1": _NOTATION,
    "003 Table 2": _SIZES,
    "003 Table 3": Item("errors of Recall, n = 100", repeats="000 Table 6"),
    "003 Table 4": Item("errors of Recall, fixed and adaptive", repeats="000 Table 11"),
    "003 Table 5": Item("how often the best model is named, three data sets, eight estimators"),
    "003 Table 6": Item("errors of Recall, users or items sampled"),
    "003 Table 7": Item("errors of NDCG, users or items sampled"),
    "003 Table 8": Item("regression and factorisation models, ml-20m"),
    "003 Table 9": Item("the same, Netflix"),
    "003 Table 10": Item("linear models with learned parameters, ml-20m and Netflix"),
    "003 Table 11": _SIZES,
    "003 Table 12": Item("losses and their debiased forms, matrix factorisation"),
    "003 Table 13": Item("MINE+ and debiased CCL beside other models"),
    "003 Table 14": Item("grid of the factorisation model, ml-20m"),
    "003 Table 15": Item("the same, Netflix"),
    "003 Table 16": Item("grid of the low-rank regression, ml-20m"),
    "003 Table 17": Item("the same, Netflix"),
    "003 Table 18": Item("linear models with learned parameters, MSD"),
    "003 Table 19": Item("settings of MINE+"),
    "003 Table 20": Item("settings of debiased CCL"),
    "003 Figure 1": Item("explicit and implicit feedback", nothing="a drawing"),
    "003 Figure 2": Item("global and sampled recall of several models, yelp"),
    "003 Figure 3": Item("recall, its mapped sample and the ranks", repeats="001 Figure 2"),
    "003 Figure 4": Item("beta distributions beside the ranks", repeats="001 Figure 3"),
    "003 Figure 5": Item("mapping functions relative to the uniform one, yelp"),
    "003 Figure 6": Item("learned distributions of the rank up to 200, pinterest-20"),
    "003 Figure 7": Item("ranks among 100 candidates", repeats="000 Figure 1"),
    "003 Figure 8": Item("the error at each cut-off", repeats="000 Figure 1"),
    "003 Figure 9": Item("sampling efficiency", repeats="000 Figure 2"),
    "003 Figure 10": Item("mapped recall curves, pinterest-20"),
    "003 Figure 11": Item("how two linear models shrink singular values"),
    "003 Figure 12": Item("singular values and parameters that were learned"),
    "003 Figure 13": Item("numbers of negatives and positives, Gowalla"),
    "003 Figure 14": Item("weight of the negatives, and temperature"),
}
