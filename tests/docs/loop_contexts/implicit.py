"""The reader's own: interactions, one of each user held out."""

import fullrank as fr

split = fr.datasets.load("simulated").split("leave-one-out", rng=0)
train, test = split.train, split.test
