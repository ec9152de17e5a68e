"""Li's dissertation: regression and factorisation models, linear models with learned parameters."""
