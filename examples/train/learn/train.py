"""Trains the student on the trees of exports.

    python train.py EXPORT… --out CKPT [--init CKPT] [--updates 700] [--peak 4e-3] [--labels 96] [--seed 0]
"""
import argparse
import collections
import json
import random
import sys
import time

import torch
from torch.nn import functional as F

import checkpoint
import trees

WARM_UP = 20  # updates


def arguments():
    parser = argparse.ArgumentParser(description="Trains the student on the trees of exports.")
    parser.add_argument("exports", nargs="+", metavar="EXPORT", help="folder of an export with the view tree")
    parser.add_argument("--out", required=True, metavar="CKPT", help="folder of the new checkpoint")
    parser.add_argument("--init", metavar="CKPT", help="checkpoint to continue from, with its optimizer state")
    parser.add_argument("--updates", type=int, default=700, help="steps of the optimizer")
    parser.add_argument("--peak", type=float, default=4e-3, help="learning rate after the warm-up, which falls linearly to a tenth")
    parser.add_argument("--labels", type=int, default=96, help="labelled states of a batch, at least")
    parser.add_argument("--seed", type=int, default=0, help="of the first weights and of the order of batches")
    return parser.parse_args()


def loss_of(model, batch):
    """Σ w · nll / Σ w over the supervised tokens, each predicted from its predecessor on its path."""
    hidden = model(batch.ids, batch.positions, batch.parents, batch.mask)
    rows, columns = batch.supervised.nonzero(as_tuple=True)
    logits = model.logits(hidden[rows, batch.parents[rows, columns]])
    weights = batch.weights[rows, columns]
    return (weights * F.cross_entropy(logits, batch.ids[rows, columns], reduction="none")).sum() / weights.sum()


def rate(step, updates, peak):
    """The learning rate of an update, counted from 0."""
    return peak * min(1, (step + 1) / WARM_UP) * (1 - 0.9 * step / updates)


def train(model, optimizer, data, updates, peak, labels, rng):
    """Takes the updates. Returns the mean loss of the last quarter of them, how many tokens all saw, padding included, and
    how many labelled states, by the number of their export."""
    stream = trees.batches(data, labels, rng)
    losses, tokens, drawn = [], 0, collections.Counter()
    for step in range(updates):
        for group in optimizer.param_groups:
            group["lr"] = rate(step, updates, peak)
        chosen = next(stream)
        for tree in chosen:
            drawn[tree.export] += tree.states
        batch = trees.collate(chosen)
        tokens += batch.ids.numel()
        loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if (step + 1) % 50 == 0:
            print(f"update {step + 1} of {updates}: loss {sum(losses[-50:]) / 50:.4f}", file=sys.stderr, flush=True)
    last = losses[updates * 3 // 4:]
    return sum(last) / len(last), tokens, drawn


def main():
    a = arguments()
    if a.updates < 1 or a.labels < 1:
        raise SystemExit("--updates and --labels must be at least 1")
    torch.set_num_threads(1)  # more only wait for each other at this size
    torch.manual_seed(a.seed)
    tokenizer_sha256 = checkpoint.tokenizer_sha256()
    data, exports = [], []
    for number, folder in enumerate(a.exports):
        more, about = trees.read(folder, tokenizer_sha256, number)
        data += more
        exports.append(about)
    if not any(tree.states for tree in data):
        raise SystemExit("the exports have no labelled state")
    model, optimizer, init = checkpoint.start(a.init)
    begin = time.monotonic()
    loss, tokens, drawn = train(model, optimizer, data, a.updates, a.peak, a.labels, random.Random(a.seed))
    for number, about in enumerate(exports):
        about["drawn"] = drawn[number]
    metadata = {"init_sha256": init, "exports": exports, "updates": a.updates, "peak": a.peak, "labels": a.labels, "seed": a.seed,
                "loss": loss, "tokens": tokens, "seconds": round(time.monotonic() - begin, 1)}
    print(json.dumps(checkpoint.save(a.out, model, optimizer, metadata)), flush=True)


if __name__ == "__main__":
    main()
