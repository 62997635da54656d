"""Prints the supervised tokens of the linear view of an export; with a text as third argument also its tokens behind each stop token.

    linear.py EXPORT MODEL [TEXT]
"""
import glob
import json
import sys

import pyarrow.parquet as pq
from transformers import AutoTokenizer

from supervised import Supervised


def main(export, model, behind=""):
    with open(f"{export}/manifest.json") as f:
        stop = json.load(f)["tokenizer"]["stop_id"]
    extra = AutoTokenizer.from_pretrained(model).encode(behind, add_special_tokens=False) if behind else []
    found = Supervised()
    for name in sorted(glob.glob(f"{export}/linear/*.parquet")):
        for row in pq.read_table(name, columns=["input_ids", "labels"]).to_pylist():
            ids, labels = row["input_ids"], row["labels"]
            found.add(ids, labels)
            for end in [i + 1 for i, label in enumerate(labels) if label == stop and extra]:
                found.add(ids[:end] + extra, [-100] * end + extra)
    found.show("pyarrow")


if __name__ == "__main__":
    main(*sys.argv[1:])
