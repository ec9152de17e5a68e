"""Item–item models and their kernels: neighbours, SLIM, and linear autoencoders.

Part of `models`: imports what models may import.
"""
