"""Trains MODEL on the linear view of an export with Tinker and a weight per token: loss = Σ w · nll.

    python tinker_rows.py DIR MODEL OUT [RANK]
"""
import asyncio
import math
import pathlib
import random
import sys

import chz
import tinker
import torch
from datasets import load_dataset
from tinker_cookbook.supervised import train
from tinker_cookbook.supervised.types import SupervisedDataset, SupervisedDatasetBuilder


def datum(row):
    """A row as Tinker reads it: the target of a token is the next one, with the weight of that one."""
    ids, weights = row["input_ids"], row["loss_weights"]
    targets = {"target_tokens": torch.tensor(ids[1:]), "weights": torch.tensor(weights[1:])}
    return tinker.Datum(model_input=tinker.ModelInput.from_ints(tokens=ids[:-1]),
                        loss_fn_inputs={name: tinker.TensorData.from_torch(values) for name, values in targets.items()})


class Rows(SupervisedDataset):
    def __init__(self, folder, batch_size):
        files = sorted(str(path) for path in pathlib.Path(folder, "linear").glob("*.parquet"))
        self.rows = load_dataset("parquet", data_files=files, split="train", columns=["input_ids", "loss_weights"])
        self.order, self.batch_size = list(range(len(self.rows))), batch_size

    def set_epoch(self, seed=0):
        random.Random(seed).shuffle(self.order)

    def __len__(self):
        return math.ceil(len(self.rows) / self.batch_size)

    def get_batch(self, index):
        return [datum(self.rows[i]) for i in self.order[index * self.batch_size:(index + 1) * self.batch_size]]


@chz.chz
class Builder(SupervisedDatasetBuilder):
    folder: str
    batch_size: int = 32

    def __call__(self):
        return Rows(self.folder, self.batch_size), None


def main(folder, model, out, rank="32"):
    asyncio.run(train.main(train.Config(log_path=out, model_name=model, recipe_name="relabel", dataset_builder=Builder(folder=folder),
                                        learning_rate=1e-4, num_epochs=1, lora_rank=int(rank))))


if __name__ == "__main__":
    main(*sys.argv[1:])
