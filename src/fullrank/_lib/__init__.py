"""What every folder stands on: input checks, files, memory, progress, seeds, text, threads.

Knows nothing of ranking. Every folder may import it; it imports `errors` alone.
"""
