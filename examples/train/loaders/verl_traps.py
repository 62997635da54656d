"""What verl does without an error.

    verl_traps.py MODEL
"""
import sys

import pandas
from transformers import AutoTokenizer
from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset

import traps


def main(model):
    tokenizer = AutoTokenizer.from_pretrained(model)
    name = str(traps.folder() / "rows.parquet")
    pandas.DataFrame([{"messages": traps.conversation(calls=False, reasoning=False)}]).to_parquet(name)
    rows = MultiTurnSFTDataset(name, tokenizer, {"pad_mode": "no_padding", "max_length": 2048})
    ids, mask = rows[0]["input_ids"].tolist(), rows[0]["loss_mask"].tolist()
    assert "HISTORY" in traps.trained(tokenizer, ids, [token if on else -100 for token, on in zip(ids, mask)])
    traps.show("verl trains on the history")
    rows = MultiTurnSFTDataset(name, tokenizer, {"pad_mode": "no_padding", "max_length": 10, "truncation": "right"})
    assert len(rows[0]["input_ids"]) == 10
    traps.show("verl cuts rows with truncation")
    traps.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
