"""Chapter 4 of the dissertation: what the study gowalla_losses is made of."""
