"""The reader's own: interactions in RecBole's format, and the settings of two models."""

import logging
import sys
import warnings
from pathlib import Path

import fullrank as fr

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
sys.argv = sys.argv[:1]  # RecBole reads settings from it
data = fr.datasets.load("simulated")
users, items = data.pairs()
Path("shop").mkdir()
with open("shop/shop.inter", "w") as file:
    file.write("user_id:token\titem_id:token\ttimestamp:float\n")
    for user, item, time in zip(users, items, data.timestamps, strict=True):
        file.write(f"u{user}\ti{item}\t{time}\n")
settings = {
    "data_path": ".",
    "load_col": {"inter": ["user_id", "item_id", "timestamp"]},
    "eval_args": {"split": {"LS": "valid_and_test"}, "order": "TO", "mode": "full"},
    "epochs": 20,
    "eval_step": 10,
    "learning_rate": 0.01,
    "gpu_id": "",
    "show_progress": False,
}
