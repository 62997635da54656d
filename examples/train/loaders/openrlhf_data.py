"""Loads an export's rows as openrlhf.sh has OpenRLHF's SFT trainer do, and prints what it would train on.

    openrlhf_data.py EXPORT MODEL
"""
import argparse
import os
import sys
import types

from openrlhf.datasets.sft_dataset import SFTDataset
from openrlhf.datasets.utils import blending_datasets
from transformers import AutoTokenizer

from supervised import Supervised, arguments


def options(given):
    """The options of the data set, with the defaults of openrlhf.cli.train_sft, whose parser cannot be imported."""
    parser = argparse.ArgumentParser()
    for name, default in ("dataset", None), ("input_key", "input"), ("output_key", None), ("input_template", "User: {}\nAssistant: "):
        parser.add_argument(f"--data.{name}", default=default)
    parser.add_argument("--data.max_len", type=int, default=2048)
    parser.add_argument("--data.apply_chat_template", action="store_true")
    return {name.removeprefix("data."): value for name, value in vars(parser.parse_known_args(given)[0]).items()}


def main(export, model):
    os.chdir(export)
    data = types.SimpleNamespace(**options(arguments("openrlhf.sh", "deepspeed", model, "out")))
    strategy = types.SimpleNamespace(args=types.SimpleNamespace(data=data, use_ms=False), print=print, is_rank_0=lambda: True)
    rows = SFTDataset(blending_datasets(data.dataset, None, strategy), AutoTokenizer.from_pretrained(model), data.max_len, strategy,
                      input_template=data.input_template, num_processors=1)
    found = Supervised()
    for i in range(len(rows)):
        ids, _, mask = (x[0].tolist() for x in rows[i])
        found.add_masked(ids, [0] + mask[:-1])  # its mask has the index of the token before
    found.show("openrlhf", "transformers", "datasets")


if __name__ == "__main__":
    main(*sys.argv[1:])
