"""What the models that learn by gradients train: tensors, layers, and their kernels."""
