"""Studies of our own, which back the numbers in the documentation."""
