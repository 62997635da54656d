"""Reads the trees of exports, and makes batches of them."""
import dataclasses
import glob
import hashlib
import json
import os

import pyarrow.parquet as pq
import torch

PADDING = 2  # node_kind


@dataclasses.dataclass(frozen=True)
class Tree:
    """One token tree. All lists have one entry for each token; indices count from the tree's first token."""
    ids: list
    positions: list
    parents: list  # the index of the predecessor on the path from the root; the root's is itself
    ends: list     # token q sees token k where k <= q < ends[k]
    weights: list  # of the loss, 0 where a token isn't supervised
    supervised: list
    states: int    # labelled states
    export: int = 0  # the number of its export


def read(folder, tokenizer_sha256, number=0):
    """The trees of an export, with its number, and what to record about it."""
    with open(os.path.join(folder, "manifest.json"), "rb") as f:
        text = f.read()
    manifest = json.loads(text)
    if manifest["tokenizer"]["sha256"] != tokenizer_sha256:
        raise SystemExit(f"{folder} was made with another tokenizer than this student's: {manifest['tokenizer']['sha256']}")
    names = sorted(glob.glob(os.path.join(folder, "tree", "*.parquet")))
    if not names:
        raise SystemExit(f"{folder} has no tree view: export with --view tree")
    trees = [dataclasses.replace(tree, export=number) for name in names for batch in pq.ParquetFile(name).iter_batches(batch_size=16)
             for row in batch.to_pylist() for tree in split(row)]
    if any(weight < 0 for tree in trees for weight in tree.weights):
        raise SystemExit(f"{folder} has negative weights: this program trains on labels of a teacher")
    return trees, {"folder": os.path.basename(os.path.normpath(folder)), "manifest_sha256": hashlib.sha256(text).hexdigest(), **counts(trees)}


def counts(trees):
    return {"trees": len(trees), "states": sum(tree.states for tree in trees),
            "label_tokens": sum(sum(tree.supervised) for tree in trees), "tokens": sum(len(tree.ids) for tree in trees)}


def split(row):
    """The trees of a row of the tree view."""
    starts, above = row["node_start"], row["node_parent"]
    parents = [max(i - 1, 0) for i in range(len(row["tree_ids"]))]
    for node, start in enumerate(starts):
        # A node continues the last token of its parent, where the next node in the row begins.
        parents[start] = start if above[node] < 0 else starts[above[node] + 1] - 1
    roots = [start for node, start in enumerate(starts) if above[node] < 0 and row["node_kind"][node] != PADDING]
    return [cut(row, parents, root, row["subtree_end"][root]) for root in roots]


def cut(row, parents, begin, end):
    """The tree of a row whose tokens are begin to end - 1."""
    return Tree(ids=row["tree_ids"][begin:end], positions=row["position_ids"][begin:end],
                parents=[parent - begin for parent in parents[begin:end]], ends=[e - begin for e in row["subtree_end"][begin:end]],
                weights=row["loss_weights"][begin:end], supervised=[label != -100 for label in row["tree_labels"][begin:end]],
                states=sum(begin <= span["start"] < end for span in row["spans"]))


@dataclasses.dataclass(frozen=True)
class Batch:
    """Trees side by side, padded at their end: all but mask are [trees, tokens]."""
    ids: torch.Tensor
    positions: torch.Tensor
    parents: torch.Tensor
    mask: torch.Tensor  # [trees, queries, keys]
    weights: torch.Tensor
    supervised: torch.Tensor


def collate(trees):
    longest = max(len(tree.ids) for tree in trees)

    def padded(name, dtype, fill=0):
        return torch.tensor([getattr(tree, name) + [fill] * (longest - len(tree.ids)) for tree in trees], dtype=dtype)

    at = torch.arange(longest)
    ends = padded("ends", torch.long, fill=longest)  # padding sees all of the trunk, and nothing sees it
    return Batch(ids=padded("ids", torch.long), positions=padded("positions", torch.long), parents=padded("parents", torch.long),
                 mask=(at[None, None, :] <= at[None, :, None]) & (at[None, :, None] < ends[:, None, :]),
                 weights=padded("weights", torch.get_default_dtype(), 0.0), supervised=padded("supervised", torch.bool, False))


def batches(trees, states, rng, window=128):
    """Yields lists of trees of at least `states` labelled states, without end.

    All trees are drawn once before any is drawn again. Trees of like length are put together, within windows of the random order;
    what is left of a window begins the first batch of the next one.
    """
    left = []
    while True:
        order = rng.sample(trees, len(trees))
        for begin in range(0, len(order), window):
            ready, batch = [], left
            for tree in sorted(order[begin:begin + window], key=lambda tree: len(tree.ids)):
                batch.append(tree)
                if sum(tree.states for tree in batch) >= states:
                    ready.append(batch)
                    batch = []
            left = batch
            rng.shuffle(ready)
            yield from ready
