"""Data sets by name: what is known of each, fetching, the cache, parsers, a simulated one.

Imports `_lib`, `tables`, `metrics` and the rest of `data`, whose names it fills.
"""
