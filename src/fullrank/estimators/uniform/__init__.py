"""Estimators for candidates drawn uniformly, one a file.

Part of `estimators`: imports what estimators may import.
"""
