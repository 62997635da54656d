"""Trains MODEL on the tree view of an export: each token sees only its own branch, and each label has its weight.

    python train_tree.py DIR MODEL OUT
"""
import sys

import torch
from torch.nn.attention.flex_attention import create_block_mask, create_mask
from transformers import AutoModelForCausalLM

from shards import rows, weighted_nll


def mask(row, device):
    """Token q sees token k where k <= q < subtree_end[k]: a block mask for FlexAttention, which trains only on GPUs, else a dense mask."""
    end = torch.tensor(row["subtree_end"], device=device)
    make = create_block_mask if end.is_cuda else create_mask
    return make(lambda b, h, q, k: (k <= q) & (q < end[k]), None, None, len(end), len(end), device=device)


def loss(model, row):
    position_ids = torch.tensor(row["position_ids"], device=model.device)[None]
    return weighted_nll(model, row["tree_ids"], row["tree_labels"], row["loss_weights"],
                        position_ids=position_ids, attention_mask=mask(row, model.device))


def main(folder, name, out):
    on_gpu = torch.cuda.is_available()
    model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16 if on_gpu else torch.float32,
                                                 attn_implementation="flex_attention" if on_gpu else "sdpa").to("cuda" if on_gpu else "cpu").train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    for step, row in enumerate(rows(folder, "tree")):
        value = loss(model, row)
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: {len(row['tree_ids'])} tokens, loss {value.item():.4f}")
    model.save_pretrained(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
