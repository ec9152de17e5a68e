"""Counting on the CPU: the paths of each kind of scorer and their compiled kernels.

Part of `ranking`: imports what ranking may import; only ranking imports it.
"""
