"""Scripts for those who work on fullrank: what they measure is the project, not recommenders."""
