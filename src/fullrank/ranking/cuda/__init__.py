"""Ranking on a GPU: what prepares the work, and the Triton kernels shared by both counts.

Part of `ranking` (extra `cuda`): imports what ranking may import; only ranking imports it.
"""
