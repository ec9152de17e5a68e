"""Exact ranks of factor models on a GPU: tensor cores as the filter, float64 where they fail.

Part of `ranking` (extra `cuda`): imports what ranking may import; only ranking imports it.
"""
