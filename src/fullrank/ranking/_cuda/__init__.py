"""Ranking on a GPU: Triton kernels and what prepares their work (extra `cuda`)."""
