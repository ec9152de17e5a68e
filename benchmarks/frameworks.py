"""Compare ranks, metrics and time with models and evaluations of other frameworks.

MovieLens (ml-latest-small), the last item of each user held out, training items excluded. A row for
each model: targets whose rank differs from a count over the framework's own scores (single
precision puts some that are closer than their rounding in another order; nothing else may differ),
each metric as fullrank and the framework compute it, where the definitions agree, and the time of
both evaluations, by medians of interleaved runs. The frameworks need environments of their own
(`.ci/run` makes them); a library that is not installed is left out, and with --into each
environment adds its rows to one file.

    .venv-peers/bin/python benchmarks/frameworks.py [rounds] [--only implicit,cornac] [--into FILE]
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # implicit asks for it

import numpy as np
from _framework_rows import Case, merge, movies, ratings, row, table
from _measure import headed, report

from fullrank import as_scorer
from fullrank.data import Split

NAME = "models of other frameworks"
K = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--only", help=f"some of {', '.join(LIBRARIES)}")
    parser.add_argument(
        "--into", type=Path, help="a JSON file to update; rows of other libraries are kept"
    )
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # of the frameworks
    split = movies()
    rows = []
    for name in given.only.split(",") if given.only else LIBRARIES:
        module, distribution, cases = LIBRARIES[name]
        if importlib.util.find_spec(module) is None:
            print(f"{name} is not installed: skipped.", file=sys.stderr)
            continue
        for case in cases(split, importlib.metadata.version(distribution)):
            rows.append(row(case, split, given.rounds))
            print(table(rows[-1:]), file=sys.stderr)
    if given.into is not None:
        rows = merge(rows, given.into)
        content = headed(NAME, {"models": rows})
        given.into.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
    report(NAME, {"models": rows})


def implicit(split: Split, version: str) -> Iterator[Case]:
    from implicit.als import AlternatingLeastSquares
    from implicit.bpr import BayesianPersonalizedRanking
    from implicit.evaluation import ranking_metrics_at_k
    from implicit.lmf import LogisticMatrixFactorization
    from scipy.sparse import csr_matrix

    def matrix(data: Any) -> Any:
        parts = data.indices.astype(np.int32), data.indptr.astype(np.int32)  # as its Cython needs
        return csr_matrix((np.ones(data.n_interactions, np.float32), *parts), data.matrix().shape)

    train, test = matrix(split.train), matrix(split.test)
    same = {"random_state": 1, "num_threads": 1}
    for name, model in (
        ("ALS", AlternatingLeastSquares(factors=64, iterations=10, **same)),
        ("BPR", BayesianPersonalizedRanking(factors=63, iterations=50, **same)),
        ("LMF", LogisticMatrixFactorization(factors=30, iterations=15, **same)),
    ):
        model.fit(train, show_progress=False)
        users = np.arange(train.shape[0])
        items, scores = model.recommend(
            users, None, N=train.shape[1], filter_already_liked_items=False
        )
        own = np.empty(scores.shape, np.float32)
        np.put_along_axis(own, items, scores, axis=1)

        def theirs(model: Any = model) -> dict[str, float]:
            found = ranking_metrics_at_k(
                model, train, test, K=K, show_progress=False, num_threads=1
            )
            return {
                "ndcg@10": found["ndcg"],
                "ap@10": found["map"],
                "capped_recall@10": found["precision"],
                "auc": found["auc"],
            }

        yield Case(
            library="implicit", version=version, model=name, own=own, theirs=theirs,
            scorer=lambda model=model: as_scorer(
                model, user_ids=split.train.user_ids, item_ids=split.train.item_ids
            ),
            others=("auc",),
        )  # fmt: skip


def cornac(split: Split, version: str) -> Iterator[Case]:
    from cornac.data import Dataset
    from cornac.eval_methods import ranking_eval
    from cornac.metrics import AUC, NDCG, Recall
    from cornac.models import BPR, MF, NMF, PMF

    train = Dataset.build(ratings(split.train))
    test = Dataset.build(
        ratings(split.test), global_uid_map=train.uid_map, global_iid_map=train.iid_map
    )
    columns = [train.iid_map[item] for item in split.train.item_ids.tolist()]
    for model in (
        BPR(k=32, max_iter=50, seed=1, num_threads=1),
        MF(k=32, max_iter=20, seed=1, num_threads=1),
        NMF(k=15, max_iter=30, seed=1, num_threads=1),
        PMF(k=10, max_iter=50, seed=1),
    ):
        model.fit(train)
        own = np.stack(
            [model.score(train.uid_map[user])[columns] for user in split.train.user_ids.tolist()]
        )

        def theirs(model: Any = model) -> dict[str, float]:
            values, _ = ranking_eval(
                model, [AUC(), NDCG(k=K), Recall(k=K)], train, test, rating_threshold=0.0
            )
            return dict(zip(("auc", "ndcg@10", "recall@10"), values, strict=True))

        yield Case(
            library="Cornac", version=version, model=model.name, own=own, theirs=theirs,
            scorer=lambda model=model: model,
        )  # fmt: skip


def lenskit(split: Split, version: str) -> Iterator[Case]:
    import pandas as pd
    from lenskit.als import BiasedMFScorer, ImplicitMFScorer
    from lenskit.batch import recommend
    from lenskit.data import ItemList, ItemListCollection, from_interactions_df
    from lenskit.metrics import NDCG, Recall, RecipRank, RunAnalysis
    from lenskit.metrics.ranking import LogRankWeight
    from lenskit.pipeline import topn_pipeline
    from lenskit.training import TrainingOptions

    columns = ["user_id", "item_id", "rating"]
    data = from_interactions_df(pd.DataFrame(ratings(split.train), columns=columns))
    test = ItemListCollection.from_df(
        pd.DataFrame(ratings(split.test), columns=columns), ["user_id"]
    )
    items = ItemList(split.train.item_ids)
    for name, scorer in (
        ("BiasedMF", BiasedMFScorer(embedding_size=32, epochs=10)),
        ("ImplicitMF", ImplicitMFScorer(embedding_size=32, epochs=10)),
        (
            "ImplicitMF, user_embeddings=prefer",
            ImplicitMFScorer(embedding_size=32, epochs=10, user_embeddings="prefer"),
        ),
    ):
        pipeline = topn_pipeline(scorer)
        pipeline.train(data, TrainingOptions(rng=1))
        own = np.stack(
            [
                pipeline.run("scorer", query=user, items=items).scores()
                for user in split.train.user_ids.tolist()
            ]
        )

        def theirs(pipeline: Any = pipeline) -> dict[str, float]:
            lists = recommend(pipeline, test.keys(), n=K, n_jobs=1)
            analysis = RunAnalysis()
            for metric in (Recall(K), RecipRank(), NDCG(K, weight=LogRankWeight(offset=1))):
                analysis.add_metric(metric)
            values = analysis.measure(lists, test).list_metrics().to_numpy().mean(axis=0)
            return dict(zip(("recall@10", "rr@10", "ndcg@10"), values, strict=True))

        yield Case(
            library="LensKit", version=version, model=name, own=own, theirs=theirs,
            scorer=lambda pipeline=pipeline: pipeline,
        )  # fmt: skip


def lightfm(split: Split, version: str) -> Iterator[Case]:
    from lightfm import LightFM
    from lightfm.evaluation import auc_score, precision_at_k, recall_at_k, reciprocal_rank
    from scipy.sparse import coo_matrix

    def matrix(data: Any) -> Any:
        users, items = (rows.astype(np.int32) for rows in data.pairs())
        ones = np.ones(users.size, np.float32)
        return coo_matrix((ones, (users, items)), shape=(data.n_users, data.n_items))

    train, test = matrix(split.train), matrix(split.test)
    both = {"test_interactions": test.tocsr(), "train_interactions": train.tocsr()}
    items = np.arange(split.train.n_items, dtype=np.int32)
    for loss in ("warp", "bpr"):
        model = LightFM(no_components=32, loss=loss, random_state=1).fit(train, epochs=20)
        own = np.stack([model.predict(user, items) for user in range(split.train.n_users)])

        def theirs(model: Any = model) -> dict[str, float]:
            return {
                "precision@10": precision_at_k(model, **both, k=K).mean(),
                "recall@10": recall_at_k(model, **both, k=K).mean(),
                "rr": reciprocal_rank(model, **both).mean(),
                "auc": auc_score(model, **both).mean(),
            }

        yield Case(
            library="LightFM (lightfm-next)", version=version, model=loss.upper(), own=own,
            theirs=theirs, ties="worst",
            scorer=lambda model=model: as_scorer(
                model, user_ids=split.train.user_ids, item_ids=split.train.item_ids
            ),
        )  # fmt: skip


def surprise(split: Split, version: str) -> Iterator[Case]:
    import pandas as pd
    from surprise import NMF, SVD, Dataset, Reader

    frame = pd.DataFrame(ratings(split.train), columns=["user", "item", "rating"])
    train = Dataset.load_from_df(frame, Reader(rating_scale=(0.5, 5))).build_full_trainset()
    users = [train.to_inner_uid(user) for user in split.train.user_ids.tolist()]
    items = [train.to_inner_iid(item) for item in split.train.item_ids.tolist()]
    for algorithm in (SVD(n_factors=32, random_state=1), NMF(n_epochs=20, random_state=1)):
        algorithm.fit(train)
        began = time.perf_counter()
        own = np.array([[algorithm.estimate(user, item) for item in items] for user in users])
        yield Case(
            library="Surprise", version=version, model=type(algorithm).__name__, own=own,
            scorer=lambda algorithm=algorithm: algorithm,
            seconds={"an estimate for each pair, once": round(time.perf_counter() - began, 2)},
        )  # fmt: skip


Cases = Callable[[Split, str], Iterator[Case]]
# the module, the distribution, the models
LIBRARIES: dict[str, tuple[str, str, Cases]] = {
    "implicit": ("implicit", "implicit", implicit),
    "cornac": ("cornac", "cornac", cornac),
    "lenskit": ("lenskit", "lenskit", lenskit),
    "lightfm": ("lightfm", "lightfm-next", lightfm),
    "surprise": ("surprise", "scikit-surprise", surprise),
}

if __name__ == "__main__":
    main()
