"""Jin et al. 2021 (AAAI): On Estimating Recommendation Evaluation Metrics under Sampling."""
