"""The values consistent with a sample: `bounds`, events, region, polytope, program.

Part of `inference`: imports what inference may import.
"""
