"""Estimators, intervals, bounds and plans: errors and coverage on known truths."""
