"""Li et al. 2020: what the study kdd2020 is made of."""
