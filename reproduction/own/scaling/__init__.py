"""Time and memory as users, items and machines grow."""
