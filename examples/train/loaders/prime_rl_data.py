"""Loads an export's rows as prime_rl.sh has prime-rl's SFT do, and prints what it would train on.

    prime_rl_data.py EXPORT MODEL CHECKOUT

CHECKOUT is a folder with prime-rl's repository: it has no package.
"""
import os
import sys

from supervised import Supervised, arguments


def main(export, model, checkout):
    sys.path[:0] = [os.path.join(checkout, *names) for names in (("src",), ("packages", "prime-rl-configs", "src"))]
    from prime_rl.configs.sft import SFTConfig
    from prime_rl.trainer.sft.data import load_sft_dataset, setup_dataset
    from prime_rl.utils.config import cli
    from renderers.base import create_renderer
    from transformers import AutoTokenizer

    given = arguments(os.path.join(export, "prime_rl.sh"), "uv", checkout, model, "out", "1")
    config = cli(SFTConfig, args=given[2:])  # after run and sft
    tokenizer = AutoTokenizer.from_pretrained(config.tokenizer.name or config.model.name)
    rows = setup_dataset(tokenizer, config.data, max_epochs=1, raw_dataset=load_sft_dataset(config.data), renderer=create_renderer(tokenizer, config.renderer))
    found = Supervised()
    for row in rows:
        found.add_shifted(row["input_ids"], [target if on else -100 for target, on in zip(row["target_ids"], row["loss_mask"], strict=True)])
    found.show("renderers", "transformers", "datasets", checkout=checkout)


if __name__ == "__main__":
    main(*sys.argv[1:])
