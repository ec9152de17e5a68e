"""Which model is better: `compare`, its result and its input.

Part of `inference`: imports what inference may import.
"""
