"""Loads an export's rows as `llamafactory-cli train llama_factory.yaml` does, and prints what it would train on.

    llama_factory_data.py EXPORT MODEL
"""
import os
import sys

from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
from llamafactory.hparams import get_train_args, read_args
from llamafactory.model import load_tokenizer

from supervised import Supervised


def main(export, model):
    os.chdir(export)
    sys.argv = ["llamafactory-cli", "llama_factory.yaml", f"model_name_or_path={model}", f"output_dir={os.environ['HF_HOME']}/out", "bf16=false"]
    model_args, data_args, training_args, _, _ = get_train_args(read_args())
    tokenizer = load_tokenizer(model_args)
    template = get_template_and_fix_tokenizer(tokenizer["tokenizer"], data_args)
    found = Supervised()
    for row in get_dataset(template, model_args, data_args, training_args, stage="sft", **tokenizer)["train_dataset"]:
        found.add(row["input_ids"], row["labels"])
    found.show("llamafactory", "transformers", "datasets")


if __name__ == "__main__":
    main(*sys.argv[1:])
