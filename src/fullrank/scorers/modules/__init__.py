"""PyTorch modules as scorers: called on pairs, for blocks of scores, or by their factors.

Part of `scorers`: imports what scorers may import.
"""
