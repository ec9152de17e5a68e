"""What a sample cannot rule out: `bounds`, events, region, polytope, program.

Part of `inference`: imports what inference may import.
"""
