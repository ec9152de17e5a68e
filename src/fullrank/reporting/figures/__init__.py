"""Figures in plain numbers, and how matplotlib and plotly draw them.

Part of `reporting`: imports what reporting may import.
"""
