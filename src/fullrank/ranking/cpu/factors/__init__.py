"""Exact ranks of factor models on the CPU: filters of fewer digits, and the sums that decide.

Part of `ranking`: imports what ranking may import; only ranking imports it.
"""
