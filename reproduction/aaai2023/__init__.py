"""Li et al. 2023 (AAAI): Towards Reliable Item Sampling for Recommendation Evaluation."""
