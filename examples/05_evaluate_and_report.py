"""Evaluate and compare three models by adaptive sampling, with a folder of results and a report.

python examples/05_evaluate_and_report.py [folder]
"""

import sys
from pathlib import Path

from fullrank import datasets
from fullrank.evaluation import evaluate

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "run")
split = datasets.load("simulated").split("leave-one-out", rng=0)
found = evaluate(
    ["ease:regularization=200", "item-knn:n_neighbors=50", "popularity"],
    split,
    design="adaptive",
    metrics="ndcg@10, recall@10",
    out=folder,
)
print(found)
print("Report:", folder / "report.html")
