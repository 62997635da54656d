"""Shared functions of these programs: reading the rows of an export, and the loss."""
import glob
import os

import pyarrow.parquet as pq
import torch


def rows(folder, view):
    """Yields the rows of a view as dicts, with few in memory at a time."""
    names = sorted(glob.glob(os.path.join(folder, view, "*.parquet")))
    if not names:
        raise SystemExit(f"{folder} has no {view} view")
    for name in names:
        for batch in pq.ParquetFile(name).iter_batches(batch_size=16):
            yield from batch.to_pylist()


def weighted_nll(model, ids, labels, weights, **inputs):
    """Σ w · nll over the supervised tokens of one row: the logits at i - 1 predict token i."""
    ids, labels = torch.tensor(ids, device=model.device), torch.tensor(labels, device=model.device)
    at = (labels != -100).nonzero()[:, 0]
    logits = model(input_ids=ids[None], logits_to_keep=at - 1, use_cache=False, **inputs).logits[0]
    nll = torch.nn.functional.cross_entropy(logits, labels[at], reduction="none")
    return (torch.tensor(weights, device=model.device)[at] * nll).sum()
