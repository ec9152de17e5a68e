"""Helpers for every folder: input checks, files, memory, progress, seeds, text, threads.

It knows nothing about ranking. Every folder may import it; it imports only `errors`.
"""
