"""Runs `trl sft` on an export with its trl.yaml up to the first step, and prints what it would train on.

    trl_data.py EXPORT MODEL
"""
import os
import sys

from trl import SFTTrainer
from trl.scripts import sft

from supervised import Supervised


def show(trainer, **unused):
    found = Supervised()
    for batch in trainer.get_train_dataloader():
        starts = [i for i, position in enumerate(batch["position_ids"][0].tolist()) if position == 0] if "position_ids" in batch else [0]
        ids, labels = batch["input_ids"][0].tolist(), batch["labels"][0].tolist()
        for start, end in zip(starts, starts[1:] + [len(ids)]):
            found.add(ids[start:end], labels[start:end])
    found.show("trl", "transformers", "datasets")


def main(export, model):
    os.chdir(export)
    SFTTrainer.train = show
    sys.argv = ["sft", "--config", "trl.yaml", "--model_name_or_path", model, "--output_dir", os.path.join(os.environ["HF_HOME"], "out"),
                "--use_cpu", "true", "--bf16", "false"]
    sft.main(*sft.make_parser().parse_args_and_config(fail_with_unknown_args=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
