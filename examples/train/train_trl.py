"""Trains MODEL on the linear or the packed view of an export with TRL and a weight per token: loss = Σ w · nll.

    python train_trl.py DIR linear|packed MODEL OUT
"""
import json
import sys

import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


class WeightedSFTTrainer(SFTTrainer):
    """SFTTrainer with the loss Σ w · nll, divided by a constant. A divisor per batch would weight labels by their neighbours."""

    def __init__(self, *args, divisor, **kwargs):
        super().__init__(*args, **kwargs)
        if self.args.max_length is not None:
            raise ValueError("max_length must be None: it truncates rows, and drops those that have no label left")
        self.divisor = divisor
        self.model_accepts_loss_kwargs = False  # so batches and devices are averaged, which the constant divisor requires
        self.data_collator = with_weights(self.data_collator)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        targets, weights = inputs.pop("labels")[:, 1:], inputs.pop("loss_weights")[:, 1:]
        at = (targets != -100).any(0).nonzero()[:, 0]  # compute logits only at labels
        out = model(**inputs, use_cache=False, logits_to_keep=at)
        nll = torch.nn.functional.cross_entropy(out.logits.flatten(0, 1), targets[:, at].flatten(), reduction="none")
        loss = (weights[:, at].flatten() * nll).sum() / self.divisor
        return (loss, out) if return_outputs else loss


def with_weights(collate):
    """Wraps TRL's collator, which omits the weights and which padding_free does not allow to be replaced."""
    def call(rows):
        batch = collate(rows)
        if "seq_lengths" in rows[0] and "position_ids" not in batch:
            raise ValueError("packed rows need padding_free=True: without it the sequences of a bin see each other")
        weights = [torch.tensor(row["loss_weights"]) for row in rows]
        if "position_ids" in batch:  # padding-free: one long row
            weights = [torch.cat(weights)]
        width = batch["labels"].shape[1]
        batch["loss_weights"] = torch.stack([torch.nn.functional.pad(w, (0, width - len(w))) for w in weights])
        return batch
    return call


def trainer(folder, view, model, tokenizer, out, **settings):
    on_gpu = torch.cuda.is_available()
    config = SFTConfig(**{
        "output_dir": out,
        "max_length": None,  # the default, 1024, truncates rows silently
        "padding_free": view == "packed",
        "remove_unused_columns": False,  # else TRL drops the weights before the collator
        "per_device_train_batch_size": 1 if view == "packed" else 2, "learning_rate": 1e-5, "num_train_epochs": 1, "logging_steps": 1,
        "bf16": on_gpu, "use_cpu": not on_gpu, "save_strategy": "no", "report_to": "none",
    } | settings)
    columns = ["input_ids", "labels", "loss_weights"] + ["seq_lengths"] * (view == "packed")
    with open(f"{folder}/manifest.json") as f:
        files = [file for file in json.load(f)["files"] if file["view"] == view]
    supervised = sum(file["supervised_tokens"] for file in files) / sum(file["rows"] for file in files)
    return WeightedSFTTrainer(model=model, args=config, processing_class=tokenizer, divisor=supervised * config.per_device_train_batch_size,
                              train_dataset=load_dataset(folder, view, split="train").select_columns(columns))


def main(folder, view, name, out):
    on_gpu = torch.cuda.is_available()
    model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16 if on_gpu else torch.float32,
                                                 attn_implementation="flash_attention_2" if on_gpu else "sdpa")
    t = trainer(folder, view, model, AutoTokenizer.from_pretrained(name), out)
    t.train()
    t.save_model(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
