"""The reader's own: a model that attends to a history, padded histories, and a split."""

import numpy as np
import torch

import fullrank as fr

split = fr.datasets.load("simulated").split("leave-one-out", rng=0)
train, test = split.train, split.test
vectors = fr.models.PureSVD(n_factors=32).fit(train).scorer().item_factors


class SASRec(torch.nn.Module):
    """Causal attention over the items of a history; item 0 pads, and vectors are given."""

    def __init__(self):
        super().__init__()
        padded = torch.nn.functional.pad(torch.tensor(vectors).float(), (0, 0, 1, 0))
        self.items = torch.nn.Embedding.from_pretrained(padded, padding_idx=0)
        self.drop = torch.nn.Dropout(0.2)

    def forward(self, histories):
        own = self.drop(self.items(histories))
        states = torch.nn.functional.scaled_dot_product_attention(own, own, own, is_causal=True)
        return states @ self.items.weight.T


model = SASRec()
seen = train.matrix()
histories = np.zeros((train.n_users, 50), np.int64)
for user in range(train.n_users):
    last = seen[[user]].indices[-50:] + 1
    histories[user, 50 - len(last) :] = last
