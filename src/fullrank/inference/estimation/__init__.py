"""From a sample to metrics with intervals: `estimate`, errors, diagnosis.

Part of `inference`: imports what inference may import.
"""
