"""What the neural models train: tensors, layers, and their kernels (extra `torch`).

Part of `models`: imports what models may import.
"""
