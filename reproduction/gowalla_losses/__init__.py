"""Li's dissertation: losses and their debiased forms on Gowalla."""
