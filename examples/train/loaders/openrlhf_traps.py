"""What OpenRLHF does without an error.

    openrlhf_traps.py MODEL
"""
import sys
import types

import datasets
from openrlhf.datasets.sft_dataset import SFTDataset
from transformers import AutoTokenizer

import traps


def load(tokenizer, rows, max_len, multiturn=False, **keys):
    args = types.SimpleNamespace(data=types.SimpleNamespace(**keys))
    return SFTDataset(datasets.Dataset.from_list(rows), tokenizer, max_len, types.SimpleNamespace(args=args), num_processors=1, multiturn=multiturn)


def main(model):
    tokenizer = AutoTokenizer.from_pretrained(model)
    keys = {"input_key": "prompt", "output_key": "completion"}
    text = {"prompt": "a b c d e f", "completion": " g h i j k l" + tokenizer.eos_token}
    whole = tokenizer(text["prompt"] + text["completion"], add_special_tokens=False)["input_ids"]
    (row,) = load(tokenizer, [text], len(whole) - 3, **keys)
    ids = row[0][0].tolist()
    assert len(ids) == len(whole) - 3 and ids[:-1] == whole[:len(ids) - 1] and ids[-1] == tokenizer.eos_token_id != whole[len(ids) - 1]
    traps.show("OpenRLHF cuts rows over max_len and overwrites the last id")
    assert len(load(tokenizer, [text], 8, **keys)) == 0
    traps.show("OpenRLHF drops rows whose prompt has max_len - 2 tokens or more")

    chat = {"messages": traps.conversation(calls=False, reasoning=False), "tools": traps.TOOLS}
    (row,) = load(tokenizer, [chat], 2048, multiturn=True, input_key="messages", output_key=None, apply_chat_template=True)
    assert "search" not in tokenizer.decode(row[0][0]) and "search" in tokenizer.apply_chat_template(chat["messages"], tools=chat["tools"], tokenize=False)
    traps.show("OpenRLHF never passes tools to the template")
    assert "HISTORY" in tokenizer.decode([token for token, on in zip(row[0][0].tolist()[1:], row[2][0].tolist()) if on])
    traps.show("OpenRLHF trains on the history with multiturn")
    traps.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
