"""The reader's own: interactions, one of each user held out, and a frame of training."""

import pandas as pd

import fullrank as fr

split = fr.datasets.load("simulated").split("leave-one-out", rng=0)
train, test = split.train, split.test
users, items = train.pairs()
frame = pd.DataFrame({"user_id": train.user_ids[users], "item_id": train.item_ids[items]})
