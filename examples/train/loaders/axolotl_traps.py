"""What axolotl does without an error.

    axolotl_traps.py MODEL
"""
import sys

import yaml
from axolotl.cli.args import PreprocessCliArgs
from axolotl.cli.config import load_cfg
from axolotl.common.datasets import load_datasets
from transformers import AutoTokenizer

import traps


def rows(model, rows, dataset, **settings):
    out = traps.folder()
    config = out / "axolotl.yaml"
    config.write_text(yaml.safe_dump({
        "base_model": model, "output_dir": str(out / "out"), "dataset_prepared_path": str(out / "prepared"), "sequence_len": 2048, "val_set_size": 0,
        "datasets": [{"path": traps.lines(rows), "ds_type": "json", **dataset}], "micro_batch_size": 1, "gradient_accumulation_steps": 1, "num_epochs": 1,
        "optimizer": "adamw_torch", "learning_rate": 1e-5, "bf16": False, **settings}))
    return list(load_datasets(cfg=load_cfg(str(config)), cli_args=PreprocessCliArgs()).train_dataset)


def main(model):
    tokenizer = AutoTokenizer.from_pretrained(model)
    tokens = [{"input_ids": [1] * n, "attention_mask": [1] * n, "labels": [1] * n} for n in (10, 11, 100)]
    assert sorted(len(row["input_ids"]) for row in rows(model, tokens, {"type": None}, sequence_len=50)) == [10, 11]
    traps.show("axolotl drops rows over sequence_len")

    chat = [{"messages": traps.conversation(calls=False, reasoning=False)}] * 2
    row, _ = rows(model, chat, {"type": "chat_template", "field_messages": "messages"})
    assert "HISTORY" in traps.trained(tokenizer, row["input_ids"], row["labels"])
    traps.show("axolotl trains on the history of messages without flags")
    traps.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
