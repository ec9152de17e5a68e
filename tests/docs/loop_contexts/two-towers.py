"""The reader's own: two towers, features of users and items, and a split."""

import torch

import fullrank as fr

torch.manual_seed(0)
split = fr.datasets.load("simulated").split("leave-one-out", rng=0)
train, test = split.train, split.test
factors = fr.models.PureSVD(n_factors=32).fit(train).scorer()
user_features = torch.tensor(factors.user_factors).float()
item_features = torch.tensor(factors.item_factors).float()
user_tower = torch.nn.Linear(32, 32, bias=False)
torch.nn.init.orthogonal_(user_tower.weight)
item_tower = torch.nn.Linear(32, 32, bias=False)
item_tower.load_state_dict(user_tower.state_dict())
