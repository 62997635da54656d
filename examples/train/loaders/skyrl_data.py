"""Loads an export's rows as skyrl.sh has SkyRL's SFT trainer do, and prints what it would train on.

    skyrl_data.py EXPORT MODEL CHECKOUT

CHECKOUT is a folder with SkyRL's repository: its package 0.3.0 has no such loader.
"""
import os
import sys

from supervised import Supervised, arguments


def main(export, model, checkout):
    sys.path[:0] = [checkout, os.path.join(checkout, "skyrl-gym")]
    from skyrl.train.config.sft_config import SFTConfig, validate_sft_cfg
    from skyrl.train.dataset.pretokenized import load_from_pretokenized

    os.chdir(export)
    config = SFTConfig.from_cli_overrides(arguments("skyrl.sh", "python", model, "out")[2:])  # after -m and the module
    validate_sft_cfg(config)
    found = Supervised()
    for path in config.pretokenized_dataset_paths:
        for row in load_from_pretokenized(path, max_length=config.max_length):
            found.add_masked(row["input_ids"], [0] * (len(row["input_ids"]) - row["num_actions"]) + row["loss_mask"])
    found.show("datasets", checkout=checkout)


if __name__ == "__main__":
    main(*sys.argv[1:])
