"""Train a model and evaluate it in five lines; then try other models, a file and a new user.

python examples/02_train_and_evaluate.py
"""

import tempfile
from pathlib import Path

import fullrank
from fullrank import datasets, models

split = datasets.load("simulated").split("leave-one-out", rng=0)
model = models.EASE(regularization=100).fit(split.train)
ranks = fullrank.rank(model.scorer(), split.test, exclude=split.train)
for metric, value in ranks.metrics(["recall@10", "ndcg@10", "auc"]).items():
    print(f"{metric} {value:.4f}")

# Other models need only one other line.
for other in (models.Popularity(), models.ItemKNN(n_neighbors=50), models.PureSVD(n_factors=20)):
    ranks = fullrank.rank(other.fit(split.train).scorer(), split.test, exclude=split.train)
    print(f"{type(other).__name__}: recall@10 {ranks.metrics(['recall@10'])['recall@10']:.4f}")

# A model can be saved in a file, and scores new users from their items.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "ease.safetensors")
    model.save(path)
    again = models.load(path)
liked = split.train.item_ids[[10, 20, 30]]
new = fullrank.Interactions.from_arrays(["me"] * 3, liked, item_ids=split.train.item_ids)
best = again.scorer(new).scores([0])[0].argsort()[::-1]
print("a user with", liked, "may like", split.train.item_ids[best[:5]])
