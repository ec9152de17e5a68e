"""Sampled and adaptive ranks on a GPU, equal to those of the CPU.

Part of `ranking` (extra `cuda`): imports what ranking may import; only ranking imports it.
"""
