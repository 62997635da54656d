"""Loads an export's rows as `automodel automodel.yaml` does, and prints what it would train on.

    automodel_data.py EXPORT MODEL
"""
import os
import sys

import yaml
from nemo_automodel.components.config.loader import ConfigNode
from nemo_automodel.recipes._typed_config import RecipeConfig

from supervised import Supervised


def main(export, model):
    os.chdir(export)
    with open("automodel.yaml") as f:
        config = {name: value for name, value in yaml.safe_load(f).items() if name in ("dataset", "dataloader", "packed_sequence", "step_scheduler")}
    found = Supervised()
    for batch in RecipeConfig(ConfigNode(config)).dataloader.build(dp_rank=0, dp_world_size=1):
        for ids, labels, mask in zip(batch["input_ids"].tolist(), batch["labels"].tolist(), batch["attention_mask"].tolist()):
            found.add_shifted(ids[:sum(mask)], labels[:sum(mask)])
    found.show("nemo-automodel", "transformers", "datasets")


if __name__ == "__main__":
    main(*sys.argv[1:])
