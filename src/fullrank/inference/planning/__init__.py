"""How many users and items a wanted precision takes: `plan`.

Part of `inference`: imports what inference may import.
"""
