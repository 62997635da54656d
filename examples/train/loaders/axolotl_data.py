"""Loads an export's rows as `axolotl train axolotl.yaml` does, and prints what it would train on.

    axolotl_data.py EXPORT MODEL
"""
import os
import sys

from axolotl.cli.args import PreprocessCliArgs
from axolotl.cli.config import load_cfg
from axolotl.common.datasets import load_datasets

from supervised import Supervised


def main(export, model):
    os.chdir(export)
    prepared = os.path.join(os.environ["HF_HOME"], "prepared")
    cfg = load_cfg("axolotl.yaml", base_model=model, output_dir=prepared, dataset_prepared_path=prepared, bf16=False, optimizer="adamw_torch")
    found = Supervised()
    for row in load_datasets(cfg=cfg, cli_args=PreprocessCliArgs()).train_dataset:
        found.add(row["input_ids"], row["labels"])
    found.show("axolotl", "transformers", "datasets")


if __name__ == "__main__":
    main(*sys.argv[1:])
