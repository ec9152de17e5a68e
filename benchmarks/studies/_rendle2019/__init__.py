"""Rendle 2019: what the study rendle2019 is made of."""
