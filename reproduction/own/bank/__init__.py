"""The rank bank: exact ranks of five models on nineteen data sets, a third of them sealed."""
