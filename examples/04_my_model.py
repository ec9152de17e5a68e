"""Rank and compare models of your own: factors, and a function.

python examples/04_my_model.py
"""

import numpy as np

import fullrank
from fullrank import datasets
from fullrank.scorers import CallableScorer

split = datasets.load("simulated").split("leave-one-out", rng=0)

# Factors from anywhere: here the singular vectors of the training matrix.
matrix = split.train.matrix().toarray()
left, size, right = np.linalg.svd(matrix, full_matrices=False)
ids = {"user_ids": split.train.user_ids, "item_ids": split.train.item_ids}  # of the rows
factors = fullrank.FactorScorer(left[:, :20] * size[:20], right[:20].T, **ids)

# Any function of users: here the popularity of items.
counts = split.train.item_counts().astype(float)
popular = CallableScorer(lambda users: np.tile(counts, (len(users), 1)), **ids)

ranks = {
    name: fullrank.rank(scorer, split.test, exclude=split.train)
    for name, scorer in {"factors": factors, "popular": popular}.items()
}
print(fullrank.compare(ranks, "recall@10, ndcg@10", rng=0))
