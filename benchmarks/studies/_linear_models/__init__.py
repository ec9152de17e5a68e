"""Chapter 3 of the dissertation: what the study linear_models is made of."""
