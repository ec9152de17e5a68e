"""The reader's own: a trained model, and a loader of users, held-out items and training items."""

import torch

import fullrank as fr

split = fr.datasets.load("simulated").split("leave-one-out", rng=0)
factors = fr.models.PureSVD(n_factors=16).fit(split.train).scorer()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.users = torch.nn.Parameter(torch.as_tensor(factors.user_factors).clone())
        self.items = torch.nn.Parameter(torch.as_tensor(factors.item_factors).clone())

    def forward(self, users):
        return self.users[users] @ self.items.T


history = split.train.matrix()
rows = [
    {"user": int(user), "item": int(item), "seen": history[[user]].indices}
    for user, item in zip(*split.test.pairs(), strict=True)
]


def together(batch):
    return {
        "user": torch.tensor([row["user"] for row in batch]),
        "item": torch.tensor([row["item"] for row in batch]),
        "seen": [torch.as_tensor(row["seen"]) for row in batch],
    }


model = Model()
loader = torch.utils.data.DataLoader(rows, batch_size=256, collate_fn=together)
