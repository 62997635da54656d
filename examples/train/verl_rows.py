"""Reads the linear view of an export for verl's SFT trainer, with a weight per token: verl's loss is Σ mask · nll ÷ Σ mask of a batch.

    data.custom_cls.path=verl_rows.py data.custom_cls.name=Rows data.pad_mode=no_padding
"""
import pyarrow as pa
import pyarrow.parquet as pq
import torch


class Rows(torch.utils.data.Dataset):
    def __init__(self, parquet_files, tokenizer=None, config=None, processor=None, max_samples=-1):
        names = [parquet_files] if isinstance(parquet_files, str) else list(parquet_files)
        table = pa.concat_tables(pq.read_table(name, columns=["input_ids", "loss_weights"]) for name in names)
        self.table = table if max_samples < 0 else table.slice(0, max_samples)

    def __len__(self):
        return len(self.table)

    def __getitem__(self, i):
        ids, weights = (torch.tensor(self.table[column][i].as_py()) for column in ("input_ids", "loss_weights"))
        return {"input_ids": ids, "position_ids": torch.arange(len(ids)), "loss_mask": weights}
