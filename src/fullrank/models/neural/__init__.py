"""Models trained by gradients (extra `torch`).

Part of `models`: imports what models may import.
"""
