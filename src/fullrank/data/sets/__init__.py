"""Data sets by name: registry, download, cache, parsers, and a simulated data set.

Imports `_lib`, `tables`, `metrics` and the rest of `data`, whose names it fills.
"""
