"""What a sampled metric means in the full catalogue: `explain`.

Part of `inference`: imports what inference may import.
"""
