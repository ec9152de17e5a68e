"""Jin et al. 2021: what the study aaai2021 is made of."""
