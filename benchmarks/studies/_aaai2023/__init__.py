"""Li et al. 2023: what the study aaai2023 is made of."""
