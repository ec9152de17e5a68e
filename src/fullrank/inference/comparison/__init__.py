"""Which model is better: `compare`, its result, and what it is given.

Part of `inference`: imports what inference may import.
"""
