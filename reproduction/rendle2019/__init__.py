"""Rendle 2019: Evaluation Metrics for Item Recommendation under Sampling."""
