"""The one training loop of the models that learn by gradients."""
