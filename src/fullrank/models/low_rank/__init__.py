"""Low-rank models: iALS, MF, PureSVD, LRR, low-rank EDLAE, and nearby models.

Part of `models`: imports what models may import.
"""
