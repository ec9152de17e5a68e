"""The registry of data sets: where each comes from and in which file formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fullrank.data.sets.formats import FORMATS


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A data set of the registry, described before it is read.

    Attributes
    ----------
    name, about : str
    split : str
        The split that its files come with, or empty.
    page, licence, citation : str
        The publisher's page, what the publisher allows, and what to cite.
    urls : tuple of str
        The addresses of the publisher's files, if they can be downloaded.
    formats : tuple of str
        The formats that its files may have; `files` lists their names.
    """

    name: str
    about: str
    split: str = ""
    page: str = ""
    licence: str = "none stated"
    citation: str = ""
    urls: tuple[str, ...] = ()
    md5: str | None = None  # of the only file, where the publisher gives it out
    max_bytes: int = 50 * 10**6  # a download larger than this is not what it should be
    by_hand: str = ""  # why it cannot be fetched
    formats: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()  # what the publisher calls it, beside <name>.zip and the like
    n_items: int | None = None  # the catalogue is 0..n_items−1, though the files lack some
    bundled: bool = False  # comes with the repository and the source archive
    simulated: bool = False

    @property
    def files(self) -> tuple[str, ...]:
        """The files of each form, one line of text for each."""
        return tuple(" + ".join(FORMATS[name].files) for name in self.formats)

    @property
    def may_have_split(self) -> bool:
        """Whether some form of its files comes with a split."""
        return bool(self.split) or any(any(FORMATS[one].files.values()) for one in self.formats)

    def __str__(self) -> str:
        told = {
            "split": self.split
            or "none: `fullrank evaluate --split` or Interactions.split makes one",
            "files": ", or ".join(self.files) or f"{self.name}.parquet, prepared",
            "download": ", ".join(self.urls) or (self.by_hand or "no"),
            "page": self.page,
            "licence": self.licence,
            "cite": self.citation,
        }
        if self.simulated:
            told = {}
        lines = [f"  {label:<9} {text}" for label, text in told.items() if text]
        return "\n".join([f"{self.name}: {self.about}", *lines])


class Registry(Mapping[str, Dataset]):
    """Data sets by name; printed, a table of them."""

    def __init__(self, *datasets: Dataset) -> None:
        self._datasets = {dataset.name: dataset for dataset in datasets}

    def __getitem__(self, name: str) -> Dataset:
        return self._datasets[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._datasets)

    def __len__(self) -> int:
        return len(self._datasets)

    def __str__(self) -> str:
        width = max(map(len, self)) + 2
        return "\n".join(f"{one.name:<{width}}{one.about}" for one in self.values())

    def __repr__(self) -> str:
        return f"Registry({', '.join(self)})"


_GROUPLENS = "https://files.grouplens.org/datasets/movielens"
_MOVIELENS = (
    "F. M. Harper, J. A. Konstan. The MovieLens Datasets: History and Context. "
    "ACM Transactions on Interactive Intelligent Systems 5(4), 2015."
)
_NCF = "https://raw.githubusercontent.com/hexiangnan/neural_collaborative_filtering/master/Data"
_APR = "https://raw.githubusercontent.com/hexiangnan/adversarial_personalized_ranking/master/Data"
_LIGHTGCN = "https://raw.githubusercontent.com/gusye1234/LightGCN-PyTorch/master/data"
_LIGHTGCN_PAPER = (
    "X. He, K. Deng, X. Wang, Y. Li, Y. Zhang, M. Wang. LightGCN. SIGIR 2020 (for the split)"
)

DATASETS: Registry = Registry(
    Dataset(
        name="ml-latest-small",
        about="MovieLens, the small edition of October 2016: 671 users, 9,066 films",
        page="https://grouplens.org/datasets/movielens/",
        licence="GroupLens: research; may be redistributed under the same terms",
        citation=_MOVIELENS,
        by_hand="no: the publisher now distributes a later edition under this name",
        formats=("ratings.csv",),
        bundled=True,
    ),
    Dataset(
        name="simulated",
        about="simulated data modelled on MovieLens: 1,000 users, 3,000 items",
        simulated=True,
    ),
    Dataset(
        name="ml-100k",
        about="MovieLens 100K: 943 users, 1,682 films, 100,000 ratings",
        page="https://grouplens.org/datasets/movielens/100k/",
        licence="GroupLens: research; may not be redistributed",
        citation=_MOVIELENS,
        urls=(f"{_GROUPLENS}/ml-100k.zip",),
        md5="0e33842e24a9c977be4e0107933c0723",
        formats=("u.data",),
    ),
    Dataset(
        name="ml-1m",
        about="MovieLens 1M: 6,040 users, 3,706 films, 1,000,209 ratings",
        split="leave-one-out by time, in NCF's files",
        page="https://grouplens.org/datasets/movielens/1m/",
        licence="GroupLens: research; may not be redistributed",
        citation=_MOVIELENS,
        urls=(f"{_GROUPLENS}/ml-1m.zip",),
        md5="c4d9eecfca2ab87c1945afe126590906",
        formats=("ncf", "ratings.dat"),
    ),
    Dataset(
        name="ml-20m",
        about="MovieLens 20M: 138,493 users, 26,744 films, 20,000,263 ratings",
        page="https://grouplens.org/datasets/movielens/20m/",
        licence="GroupLens: research; may be redistributed under the same terms",
        citation=_MOVIELENS,
        urls=(f"{_GROUPLENS}/ml-20m.zip",),
        md5="cd245b17a1ae2cc31bb14903e1204af3",
        max_bytes=400 * 10**6,
        formats=("vae", "ratings.csv"),
    ),
    Dataset(
        name="pinterest-20",
        about="Pinterest: 55,187 users, 9,916 pins",
        split="leave-one-out",
        page="https://github.com/hexiangnan/neural_collaborative_filtering",
        citation="X. Geng, H. Zhang, J. Bian, T.-S. Chua. Learning Image and User Features for "
        "Recommendation in Social Networks. ICCV 2015; X. He et al. Neural Collaborative "
        "Filtering. WWW 2017 (for the split).",
        urls=(f"{_NCF}/pinterest-20.train.rating", f"{_NCF}/pinterest-20.test.rating"),
        max_bytes=100 * 10**6,
        formats=("ncf",),
        n_items=9_916,
    ),
    Dataset(
        name="pinterest-20-part",
        about="Pinterest: the first 37,501 users, 9,916 pins",
        split="leave-one-out",
        citation="As pinterest-20.",
        n_items=9_916,
    ),
    Dataset(
        name="yelp",
        about="Yelp: 25,677 users, 25,815 businesses",
        split="leave-one-out by time",
        page="https://github.com/hexiangnan/adversarial_personalized_ranking",
        citation="X. He, Z. He, X. Du, T.-S. Chua. Adversarial Personalized Ranking for "
        "Recommendation. SIGIR 2018.",
        urls=(f"{_APR}/yelp.train.rating", f"{_APR}/yelp.test.rating"),
        max_bytes=100 * 10**6,
        formats=("ncf",),
    ),
    Dataset(
        name="citeulike-a",
        about="CiteULike: 5,551 users, 16,980 articles, 204,986 interactions",
        page="https://github.com/js05212/citeulike-a",
        citation="H. Wang, B. Chen, W.-J. Li. Collaborative Topic Regression with Social "
        "Regularization for Tag Recommendation. IJCAI 2013.",
        urls=("https://raw.githubusercontent.com/js05212/citeulike-a/master/users.dat",),
        formats=("users.dat",),
    ),
    Dataset(
        name="book-crossing",
        about="Book-Crossing: 278,858 users, 271,379 books, 1,149,780 ratings (a rating of 0 is "
        "implicit feedback)",
        page="https://grouplens.org/datasets/book-crossing/",
        licence="free for research that cites it",
        citation="C.-N. Ziegler, S. M. McNee, J. A. Konstan, G. Lausen. Improving Recommendation "
        "Lists Through Topic Diversification. WWW 2005.",
        by_hand="no: its publisher's site is gone; get BX-CSV-Dump.zip by hand",
        formats=("book-crossing",),
        archives=("BX-CSV-Dump.zip",),
    ),
    Dataset(
        name="netflix",
        about="Netflix Prize: 480,189 users, 17,770 films, 100,480,507 ratings",
        page="https://www.netflixprize.com",
        licence="research; may not be redistributed",
        citation="J. Bennett, S. Lanning. The Netflix Prize. KDD Cup and Workshop 2007.",
        by_hand="no: Netflix has withdrawn it; get its files by hand",
        formats=("vae", "netflix", "netflix-films"),
        archives=("nf_prize_dataset.tar.gz", "training_set.tar"),
    ),
    Dataset(
        name="msd",
        about="Million Song Dataset, Taste Profile: 1,019,318 users, 384,546 songs, 48,373,586 "
        "pairs",
        page="https://millionsongdataset.com/tasteprofile/",
        licence="research, by The Echo Nest",
        citation="B. McFee, T. Bertin-Mahieux, D. P. W. Ellis, G. R. G. Lanckriet. The Million "
        "Song Dataset Challenge. WWW 2012.",
        urls=(
            "https://millionsongdataset.com/sites/default/files/challenge/train_triplets.txt.zip",
        ),
        max_bytes=10**9,
        formats=("vae", "triplets"),
        archives=("train_triplets.txt.zip",),
    ),
    Dataset(
        name="gowalla",
        about="Gowalla: 29,858 users, 40,981 places, 1,027,370 interactions",
        split="LightGCN's, 80/20 at random for each user",
        page="https://github.com/gusye1234/LightGCN-PyTorch",
        licence="MIT (the repository)",
        citation=f"E. Cho, S. A. Myers, J. Leskovec. Friendship and Mobility. KDD 2011; "
        f"{_LIGHTGCN_PAPER}.",
        urls=(f"{_LIGHTGCN}/gowalla/train.txt", f"{_LIGHTGCN}/gowalla/test.txt"),
        formats=("lightgcn",),
    ),
    Dataset(
        name="yelp2018",
        about="Yelp 2018: 31,668 users, 38,048 businesses, 1,561,406 interactions",
        split="LightGCN's, 80/20 at random for each user",
        page="https://github.com/gusye1234/LightGCN-PyTorch",
        citation=f"The Yelp dataset challenge, 2018; {_LIGHTGCN_PAPER}.",
        urls=(f"{_LIGHTGCN}/yelp2018/train.txt", f"{_LIGHTGCN}/yelp2018/test.txt"),
        formats=("lightgcn",),
    ),
    Dataset(
        name="amazon-books",
        about="Amazon Books: 52,643 users, 91,599 books, 2,984,108 interactions",
        split="LightGCN's, 80/20 at random for each user",
        page="https://github.com/gusye1234/LightGCN-PyTorch",
        citation=f"R. He, J. McAuley. Ups and Downs. WWW 2016; {_LIGHTGCN_PAPER}.",
        urls=(f"{_LIGHTGCN}/amazon-book/train.txt", f"{_LIGHTGCN}/amazon-book/test.txt"),
        formats=("lightgcn",),
    ),
    Dataset(
        name="yelp-diffnet",
        about="Yelp: 17,235 users, 37,378 businesses, 207,945 interactions",
        split="train, valid and test",
        licence="MIT (the repository)",
        citation="L. Wu et al. A Neural Influence Diffusion Model for Social Recommendation. "
        "SIGIR 2019.",
    ),
    Dataset(
        name="lastfm-2k",
        about="Last.fm: 1,892 users, 17,632 artists, 92,834 play counts",
        page="https://grouplens.org/datasets/hetrec-2011/",
        citation="I. Cantador, P. Brusilovsky, T. Kuflik. HetRec 2011 at RecSys 2011.",
    ),
    Dataset(
        name="amazon-video-games",
        about="Amazon Video Games: 31,013 users, 23,715 games, 287,107 interactions in time order",
        licence="Apache-2.0 (the repository)",
        citation="W.-C. Kang, J. McAuley. Self-Attentive Sequential Recommendation. ICDM 2018.",
    ),
)
