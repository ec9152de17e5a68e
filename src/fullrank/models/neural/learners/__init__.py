"""The parameters and losses of the neural models, and their kernels (extra `torch`).

Part of `models`: imports what models may import.
"""
