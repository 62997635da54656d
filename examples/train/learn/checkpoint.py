"""Checkpoints of the student: a folder with model.pt and metadata.json."""
import dataclasses
import hashlib
import json
import os
import shutil
import sys

import torch

from model import Shape, Student

TOKENIZER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tokenizer")


def tokenizer_sha256():
    """The SHA-256 of the student's tokenizer.json, as manifests of exports have it."""
    with open(os.path.join(TOKENIZER, "tokenizer.json"), "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def vocabulary():
    """The number of the tokenizer's ids."""
    with open(os.path.join(TOKENIZER, "tokenizer.json"), encoding="utf-8") as f:
        tokenizer = json.load(f)
    return len(tokenizer["model"]["vocab"]) + len(tokenizer["added_tokens"])


def content_sha256(model):
    """The SHA-256 of the weights: of each tensor, in order of its name, the name, the shape and the bytes."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {list(tensor.shape)}\n".encode())
        digest.update(tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()


def start(init):
    """A model with its optimizer, and the SHA-256 of the checkpoint that it continues: random and None where init is None."""
    if init is None:
        model, sha256 = Student(Shape(vocabulary())), None
    else:
        model, stored = load(init)
        sha256 = content_sha256(model)
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.95), weight_decay=0.02)
    if init is not None:
        optimizer.load_state_dict(stored["optimizer"])
    return model, optimizer, sha256


def load(folder):
    """The model of a checkpoint, and all that its file has."""
    stored = torch.load(os.path.join(folder, "model.pt"), weights_only=True)
    if stored["tokenizer_sha256"] != tokenizer_sha256():
        raise SystemExit(f"{folder} was trained with another tokenizer: make the checkpoint again")
    model = Student(Shape(**stored["shape"]))
    model.load_state_dict(stored["model"])
    return model, stored


def save(folder, model, optimizer, metadata):
    """Writes a checkpoint, which replaces an earlier one, and returns its metadata. The folder gets its name when it is complete."""
    metadata = {"sha256": content_sha256(model), "tokenizer_sha256": tokenizer_sha256(), "parameters": sum(p.numel() for p in model.parameters()), **metadata}
    partial = folder.rstrip("/") + ".partial"
    os.makedirs(partial, exist_ok=True)
    torch.save({"shape": dataclasses.asdict(model.shape), "tokenizer_sha256": metadata["tokenizer_sha256"], "model": model.state_dict(),
                "optimizer": optimizer.state_dict()}, os.path.join(partial, "model.pt"))
    with open(os.path.join(partial, "metadata.json"), "w", encoding="utf-8") as f:
        f.write(json.dumps(metadata, indent=1) + "\n")
    if os.path.isdir(folder):
        print(f"{folder} is replaced", file=sys.stderr)
        shutil.rmtree(folder)
    os.rename(partial, folder)
    return metadata
