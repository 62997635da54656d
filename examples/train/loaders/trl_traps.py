"""What TRL does without an error.

    trl_traps.py MODEL
"""
import logging
import sys

import datasets
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer

import traps


class Warnings(logging.Handler):
    def __init__(self):
        super().__init__()
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


def trainer(model, rows, **settings):
    settings = SFTConfig(output_dir=str(traps.folder()), use_cpu=True, bf16=False, report_to="none", max_steps=1, per_device_train_batch_size=1, **settings)
    return SFTTrainer(model, settings, train_dataset=datasets.Dataset.from_list(rows))


def main(model):
    tokenizer, ids = AutoTokenizer.from_pretrained(model), [1] * 2000
    rows = [{"input_ids": ids, "labels": [1] * 2000}, {"input_ids": ids, "labels": [-100] * 1500 + [1] * 500}]
    cut = next(iter(trainer(model, rows).get_train_dataloader()))
    assert cut["input_ids"].shape[-1] == 1024, cut["input_ids"].shape
    traps.show("TRL cuts rows at 1024 tokens by default")
    assert len(trainer(model, rows).train_dataset) == 1
    traps.show("TRL drops rows without a label before token 1024")

    warnings = Warnings()
    logging.getLogger("trl").addHandler(warnings)
    messages = traps.conversation(calls=False)
    row = {"prompt": messages[:-1], "completion": messages[-1:], "chat_template_kwargs": {"enable_thinking": False}}
    t = trainer(model, [row], max_length=None)
    assert any("not a prefix" in text for text in warnings.texts), warnings.texts
    batch = next(iter(t.get_train_dataloader()))
    found = traps.trained(tokenizer, batch["input_ids"][0].tolist(), batch["labels"][0].tolist())
    assert "LABEL" in found and not found.startswith("<think>"), found
    traps.show("TRL only warns of a prompt that does not begin the whole, and trains on a part of the label")
    traps.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
