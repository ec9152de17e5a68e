"""The reader's own: a LightningModule that trains, and loaders of users, items and seen items."""

import logging
import warnings

import lightning.pytorch as pl
import torch

import fullrank as fr

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")
torch.manual_seed(0)
torch.set_num_threads(1)
split = fr.datasets.load("simulated").split("leave-one-out", rng=0)
history = split.train.matrix()


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.users = torch.nn.Embedding(split.train.n_users, 16)
        self.items = torch.nn.Embedding(split.train.n_items, 16)
        self.popular = torch.nn.Parameter(torch.zeros(split.train.n_items))
        for table in (self.users, self.items):
            torch.nn.init.normal_(table.weight, std=0.1)

    def forward(self, users):
        return self.users(users) @ self.items.weight.T + self.popular

    def training_step(self, batch, batch_idx):
        users, items = batch
        return torch.nn.functional.cross_entropy(self(users), items)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.05)


def together(batch):
    return {
        "user": torch.tensor([user for user, _ in batch]),
        "item": torch.tensor([item for _, item in batch]),
        "seen": [torch.as_tensor(history[[user]].indices) for user, _ in batch],
    }


def pairs(data):
    return [(int(u), int(i)) for u, i in zip(*data.pairs(), strict=True)]


train_loader = torch.utils.data.DataLoader(pairs(split.train), batch_size=2048, shuffle=True)
val_loader = torch.utils.data.DataLoader(pairs(split.test), batch_size=256, collate_fn=together)
settings = {"enable_progress_bar": False, "enable_model_summary": False, "logger": False}
