"""Li et al. 2020 (KDD): On Sampling Top-K Recommendation Evaluation."""
