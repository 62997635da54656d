"""Trains MODEL on an opd or grpo export: one step of Σ w · nll for each row, with weights of both signs.

    python train_policy.py DIR linear|tree MODEL OUT

The weights were computed with the model that sampled, and are constants: no gradient flows through them. Each step also prints the
mean of log π - log πθ over the row's tokens, from student_logprobs (opd). It is 0 at the first step if MODEL is the model that sampled,
and tells later how far training has left it. There is no clip and no regulariser.
"""
import json
import sys

import torch
from transformers import AutoModelForCausalLM

import train_tree
from shards import rows


def logprobs(model, row):
    """log π of each supervised token of a row, and the indices of these tokens."""
    if "tree_ids" in row:
        ids, labels = row["tree_ids"], row["tree_labels"]
        inputs = {"position_ids": torch.tensor(row["position_ids"], device=model.device)[None], "attention_mask": train_tree.mask(row, model.device)}
    else:
        ids, labels, inputs = row["input_ids"], row["labels"], {}
    ids, labels = torch.tensor(ids, device=model.device), torch.tensor(labels, device=model.device)
    at = (labels != -100).nonzero()[:, 0]  # supervised is what has a label: a weight may be 0
    logits = model(input_ids=ids[None], logits_to_keep=at - 1, use_cache=False, **inputs).logits[0]
    return -torch.nn.functional.cross_entropy(logits, labels[at], reduction="none"), at


def loss(model, row):
    log_pi, at = logprobs(model, row)
    weights = torch.tensor(row["loss_weights"], device=model.device)[at]
    return -(weights * log_pi).sum()


def drift(model, row):
    """Mean of log π - log πθ over a row, in words; none without student_logprobs, which only opd has."""
    if "student_logprobs" not in row:
        return ""
    with torch.no_grad():
        log_pi, at = logprobs(model, row)
    mean = (log_pi - torch.tensor(row["student_logprobs"], device=model.device)[at]).mean().item()
    return f", drift {mean:.4f}"


def main(folder, view, name, out):
    with open(f"{folder}/manifest.json") as f:
        manifest = json.load(f)
    if manifest["recipe"] not in ("opd", "grpo"):
        raise SystemExit(f"the export has the recipe {manifest['recipe']}: use train_trl.py or train_tree.py")
    on_gpu = torch.cuda.is_available()
    model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16 if on_gpu else torch.float32,
                                                 attn_implementation="flex_attention" if on_gpu and view == "tree" else "sdpa")
    model = model.to("cuda" if on_gpu else "cpu").train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)
    supervised = sum(f["supervised_tokens"] for f in manifest["files"] if f["view"] == view)
    count = sum(f["rows"] for f in manifest["files"] if f["view"] == view)
    for step, row in enumerate(rows(folder, view)):
        away = drift(model, row)
        value = loss(model, row) / (supervised / count)  # one constant: the row's own count would weight turns by their neighbours
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        weights = row["loss_weights"]
        print(f"step {step}: {len(weights)} tokens, weights {min(weights):.3f} to {max(weights):.3f}, loss {value.item():.4f}{away}")
    model.save_pretrained(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
