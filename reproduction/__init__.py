"""The papers repeated, and studies of our own: run `python -m reproduction` in a source tree."""
