"""PyTorch modules as scorers: called on pairs or for blocks of scores, or used by their factors.

Part of `scorers`: imports what scorers may import.
"""
