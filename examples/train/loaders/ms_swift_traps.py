"""What ms-swift does without an error.

    ms_swift_traps.py MODEL LLAMA

LLAMA is a model of Llama 3.1, whose tokenizer puts bos_token in front.
"""
import sys

from swift.pipelines.train.sft import SwiftSft
from transformers import AutoTokenizer

import traps


def rows(model, rows, *options, kind="qwen3"):
    given = ["--model", model, "--model_type", kind, "--dataset", traps.lines(rows), "--output_dir", str(traps.folder()), "--torch_dtype", "float32",
             "--split_dataset_ratio", "0", "--tuner_type", "full", *options]
    found = SwiftSft(given)._prepare_dataset()[0]
    return [found[i] for i in range(len(found))]


def main(model, llama):
    tokenizer = AutoTokenizer.from_pretrained(model)
    (row,) = rows(model, [{"messages": traps.conversation(calls=False)}], "--template", "qwen3")
    assert "LABEL" in tokenizer.decode(row["input_ids"]) and "LAST THOUGHT" not in tokenizer.decode(row["input_ids"])
    traps.show("ms-swift loses reasoning_content")
    assert "HISTORY" in traps.trained(tokenizer, row["input_ids"], row["labels"])
    traps.show("ms-swift trains on the history without flags")
    (row,) = rows(model, [{"messages": traps.conversation(calls=False)}], "--template", "qwen3", "--loss_scale", "last_round")
    assert "HISTORY" not in traps.trained(tokenizer, row["input_ids"], row["labels"])

    ids = tokenizer("a b c d")["input_ids"] + [tokenizer.eos_token_id]
    scales = [0.0, 0.0, 0.5, 2.0, 1.0]
    line = {"messages": [{"role": "assistant", "content": {"token_ids": ids, "loss_scale": scales}}]}
    raw = "--template", "dummy", "--use_chat_template", "false"
    (row,) = rows(model, [line], *raw)
    assert row.get("loss_scale") is None and row["labels"] == [-100, -100, *ids[2:]]
    traps.show("ms-swift takes every weight above 0 for 1")
    (row,) = rows(model, [line], *raw, "--is_binary_loss_scale", "false")
    assert row["input_ids"] == ids and row["loss_scale"] == scales, row
    assert len(rows(model, [line, {"messages": [{"role": "assistant", "content": {"token_ids": ids[:3] + ids[-1:], "loss_scale": [1.0] * 4}}]}], *raw, "--max_length", "4")) == 1
    traps.show("ms-swift deletes rows over max_length")

    tokenizer = AutoTokenizer.from_pretrained(llama)
    ids = tokenizer("a b", add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
    line = {"messages": [{"role": "assistant", "content": {"token_ids": ids, "loss_scale": [1.0] * len(ids)}}]}
    (row,) = rows(llama, [line], *raw, kind="llama")
    assert row["input_ids"] == [tokenizer.bos_token_id, *ids], row
    traps.show("ms-swift puts bos_token in front of rows of token ids")
    traps.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
