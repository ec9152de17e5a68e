"""The reader's own: vectors of users and items, an index of the items, and a split."""

import faiss
import numpy as np

import fullrank as fr

faiss.omp_set_num_threads(1)
split = fr.datasets.load("simulated").split("leave-one-out", rng=0)
train, test = split.train, split.test
factors = fr.models.PureSVD(n_factors=32).fit(train).scorer()
users = np.ascontiguousarray(factors.user_factors, np.float32)
items = np.ascontiguousarray(factors.item_factors, np.float32)
coarse = faiss.IndexFlatIP(32)
index = faiss.IndexIVFFlat(coarse, 32, 64, faiss.METRIC_INNER_PRODUCT)
index.train(items)
index.add(items)
index.nprobe = 4
