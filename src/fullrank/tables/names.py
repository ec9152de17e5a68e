"""The usual names of columns in users' files: one list for every reader.

A role is what the library needs. Its names are written in lower case without punctuation, so that
``user_id``, ``userId`` and ``User-ID`` are equal, and the most likely name comes first. A given
name, as in ``columns={"user": "who"}`` or ``--column user=who``, has precedence.
"""

from __future__ import annotations

from collections.abc import Mapping

NAMES: Mapping[str, tuple[str, ...]] = {
    "user": (
        "user", "userid", "uid", "useridx", "customer", "customerid", "reviewerid",
        "query", "queryid", "qid",
    ),
    "item": (
        "item", "itemid", "iid", "itemidx", "movie", "movieid", "product", "productid", "asin",
        "book", "bookid", "isbn", "artist", "artistid", "track", "trackid", "song", "songid", "sid",
        "business", "businessid", "article", "articleid", "location", "locationid",
        "doc", "docid", "docno",
    ),
    # of interactions
    "value": (
        "value", "rating", "ratings", "bookrating", "score", "weight", "stars", "count", "plays",
    ),
    "timestamp": ("timestamp", "time", "ts", "unixtime", "datetime", "date", "position"),
    "split": ("split", "fold", "subset", "part", "set", "partition"),
    # of ranks
    "rank": ("rank", "ranks", "targetrank"),
    "more_than": ("morethan",),
    "model": ("model", "modelname", "method", "algorithm", "system", "recommender"),
    "seed": ("seed", "randomseed"),
    "sample_size": ("samplesize", "ncandidates", "numcandidates"),
    "n_items": ("nitems", "numitems", "catalogsize", "cataloguesize"),
    "n_targets": ("ntargets", "numtargets"),
    "offset": ("offset",),
    "weight": ("weight",),
    "time": ("time",),
    # of scored candidates
    "score": ("score", "scores", "prediction", "pred"),
    "label": ("label", "relevance", "rel", "relevant", "target"),
}  # fmt: skip

# Names, even where they look like numbers: text files are read with these as text.
IDS = ("user", "item", "model", "seed", "split")
