"""RecBole's MF-BPR, one epoch for each line read; run by the Python that has RecBole.

    python _recbole_epochs.py folder '{"batch_size": 2048, …}'

The folder has `pairs/pairs.inter`, RecBole's own format. For each line on its standard input it
trains an epoch and prints its seconds; at the end it prints the memory that training added.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import warnings


def main() -> None:
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
    folder, asked = sys.argv[1], json.loads(sys.argv[2])
    import torch

    from fullrank.integrations import recbole

    recbole.compatible()  # with numpy 2 and pandas 3
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation
    from recbole.trainer import Trainer
    from recbole.utils import get_model, init_seed

    torch.set_num_threads(asked["threads"])
    sys.argv = sys.argv[:1]  # RecBole reads it too
    config = Config(
        model="BPR",
        dataset="pairs",
        config_dict={
            "data_path": folder,
            "checkpoint_dir": folder,
            "load_col": {"inter": ["user_id", "item_id"]},
            "eval_args": {"split": {"RS": [1, 0, 0]}, "order": "RO", "mode": "full"},
            "train_neg_sample_args": {"distribution": "uniform", "sample_num": 1},
            "train_batch_size": asked["batch_size"],
            "embedding_size": asked["n_factors"],
            "learning_rate": asked["learning_rate"],
            "weight_decay": 0.0,
            "use_gpu": asked["device"] == "cuda",
            "show_progress": False,
            "state": "CRITICAL",
        },
    )
    init_seed(config["seed"], config["reproducibility"])
    data = create_dataset(config)
    train, *_ = data_preparation(config, data)
    model = get_model("BPR")(config, train.dataset).to(config["device"])
    trainer = Trainer(config, model)
    before = peak()
    print(json.dumps({"pairs": len(train.dataset), "torch": torch.__version__}), flush=True)
    for epoch, _ in enumerate(sys.stdin):
        start = time.perf_counter()
        trainer._train_epoch(train, epoch, show_progress=False)  # what `fit` repeats
        if asked["device"] == "cuda":
            torch.cuda.synchronize()
        print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)
    print(json.dumps({"megabytes": peak() - before}), flush=True)


def peak() -> float:
    """The most memory that this process has held, in MB."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


if __name__ == "__main__":
    main()
