"""PyTorch modules as scorers: called on pairs, or by their factors.

Part of `scorers`: imports what scorers may import.
"""
