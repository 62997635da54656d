"""What NeMo Automodel does without an error.

    automodel_traps.py MODEL
"""
import sys

from nemo_automodel.components.datasets.llm.chat_dataset import ChatDataset
from transformers import AutoTokenizer

import traps


def trained(model, messages, **settings):
    tokenizer = AutoTokenizer.from_pretrained(model)
    row = ChatDataset(traps.lines([{"messages": messages, "tools": traps.TOOLS}]), tokenizer, **settings)[0]
    return tokenizer.decode([token for token in row["labels"] if token != -100])


def main(model):
    assert "HISTORY" in trained(model, traps.conversation(calls=False, reasoning=False))
    traps.show("Automodel trains on the history without mask_history")
    assert "HISTORY" not in trained(model, traps.conversation(calls=False, reasoning=False), mask_history=True)

    assert '"arguments": {"query": "last query"}' not in trained(model, traps.conversation(reasoning=False), mask_history=True)
    traps.show("Automodel turns the arguments of calls into text, which the template escapes")
    traps.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
