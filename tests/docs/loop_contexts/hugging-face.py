"""The reader's own: a model that returns a loss and logits, and its data."""

import logging
import warnings

import numpy as np
import torch
import transformers

import fullrank as fr

transformers.logging.set_verbosity_error()
logging.getLogger("accelerate").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")
torch.manual_seed(0)
data = fr.datasets.load("simulated")
split = data.split("leave-one-out", rng=0)
weights = torch.as_tensor(fr.models.EASE(regularization=200).fit(split.train).weights_).float()
history = split.train.matrix()
longest = int(np.diff(history.indptr).max())


class Model(torch.nn.Module):
    """Scores of all items from a padded history; what is in the history gets -inf."""

    def __init__(self):
        super().__init__()
        self.weights = torch.nn.Parameter(weights)

    def forward(self, history, labels=None, user=None):
        seen = torch.zeros(len(history), len(self.weights) + 1).scatter_(1, history, 1.0)[:, :-1]
        logits = (seen @ self.weights).masked_fill(seen > 0, -torch.inf)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


def row(user, item):
    seen = history[[user]].indices
    padded = np.pad(seen, (0, longest - len(seen)), constant_values=history.shape[1])
    return {"history": padded.astype(np.int64), "labels": int(item), "user": int(user)}


model = Model()
test_data = [row(user, item) for user, item in zip(*split.test.pairs(), strict=True)]
arguments = {"use_cpu": True, "report_to": "none", "disable_tqdm": False}
