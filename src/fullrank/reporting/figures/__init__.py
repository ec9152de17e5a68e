"""Figures in plain numbers, and how they are drawn: as SVG for pages, by matplotlib for print.

Part of `reporting`: imports what reporting may import.
"""
