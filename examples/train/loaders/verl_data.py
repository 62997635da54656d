"""Loads an export's rows as verl.sh has verl's SFT trainer do, and prints what it would train on.

    verl_data.py EXPORT MODEL
"""
import os
import sys

import verl.trainer
from hydra import compose, initialize_config_dir
from transformers import AutoTokenizer
from verl.trainer.sft_trainer import create_sft_dataset

from supervised import Supervised, arguments


def main(export, model):
    os.chdir(export)
    given = arguments("verl.sh", "torchrun", model, "out")
    given = given[given.index("verl.trainer.sft_trainer") + 1:]
    with initialize_config_dir(os.path.join(os.path.dirname(verl.trainer.__file__), "config"), version_base=None):
        data = compose("sft_trainer_engine", given).data
    rows = create_sft_dataset(data.train_files, data, AutoTokenizer.from_pretrained(model), None, max_samples=data.train_max_samples)
    found = Supervised()
    for i in range(len(rows)):
        found.add_masked(rows[i]["input_ids"].tolist(), rows[i]["loss_mask"].tolist())
    found.show("verl", "transformers", "datasets")


if __name__ == "__main__":
    main(*sys.argv[1:])
