"""Ranks among 100 candidates, from a file to full-catalogue metrics: estimate, bounds, plan.

python examples/03_ranks_from_a_file.py
"""

import tempfile
from pathlib import Path

import fullrank
from fullrank import datasets, models

# Make a file of ranks, such as you may have: one line per user.
split = datasets.load("simulated").split("leave-one-out", rng=0)
scorer = models.EASE(regularization=200).fit(split.train).scorer()
drawn = fullrank.sample_ranks(
    scorer, split.test, exclude=split.train, design="sampled:100,replacement=true", rng=0
)
lines = [f"{user},{rank}\n" for user, rank in zip(drawn.rows.user, drawn.rows.rank, strict=True)]

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "ranks.csv")
    path.write_text("user,rank\n" + "".join(lines))
    sample = fullrank.RankSample.read(
        path, sample_size=100, n_items=3000, design="sampled:replacement=true"
    )

print(fullrank.estimate(sample, metrics="recall@10, recall@50"))
print()
print(fullrank.bounds(sample, "recall@10, recall@50"))
print()
designs = ["sampled:100", "sampled:1000", "adaptive:25,limit=400", "exact"]
print(fullrank.plan("recall@10", pilot=sample, n_users=50_000, margin="5%", designs=designs))
print()
exact = fullrank.rank(scorer, split.test, exclude=split.train)
print("exact:", exact.metrics("recall@10, recall@50"))
