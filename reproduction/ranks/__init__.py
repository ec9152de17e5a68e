"""Exact ranks of the papers' five models: search, training and the files in results/ranks."""
