"""The exact ranks of five models: what the study ranks is made of."""
