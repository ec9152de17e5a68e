"""All tables and figures of the papers with their outcomes, and the estimators compared."""
