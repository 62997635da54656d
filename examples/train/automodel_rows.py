"""Reads the linear view of an export for NeMo Automodel: token ids, and labels that are shifted as its trainer expects.

    dataset:
      _target_: automodel_rows.py:Rows
"""
import pathlib

import torch
from datasets import load_dataset

FOLDER = pathlib.Path(__file__).resolve().parent


class Rows(torch.utils.data.Dataset):
    def __init__(self, folder=FOLDER, **unused):
        files = sorted(str(path) for path in pathlib.Path(folder, "linear").glob("*.parquet"))
        self.rows = load_dataset("parquet", data_files=files, split="train", columns=["input_ids", "labels"])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids, labels = self.rows[i]["input_ids"], self.rows[i]["labels"]
        return {"input_ids": ids[:-1], "labels": labels[1:], "attention_mask": [1] * (len(ids) - 1),
                "___PAD_TOKEN_IDS___": {"input_ids": 0, "labels": -100, "attention_mask": 0}}
