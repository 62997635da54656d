"""What LLaMA-Factory does without an error.

    llama_factory_traps.py MODEL
"""
import json
import os
import pathlib
import sys

import yaml
from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
from llamafactory.hparams import get_train_args, read_args
from llamafactory.model import load_tokenizer

import traps


def row(model, messages, **settings):
    """The text and the supervised text of a conversation."""
    name = pathlib.Path(traps.lines([{"messages": messages, "tools": json.dumps([tool["function"] for tool in traps.TOOLS])}]))
    tags = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant", "observation_tag": "tool", "function_tag": "function_call", "system_tag": "system"}
    info = {"rows": {"file_name": name.name, "formatting": "openai", "columns": {"messages": "messages", "tools": "tools"}, "tags": tags}}
    (name.parent / "dataset_info.json").write_text(json.dumps(info))
    options = {"stage": "sft", "do_train": True, "finetuning_type": "full", "dataset": "rows", "dataset_dir": str(name.parent), "template": "qwen3", "model_name_or_path": model,
               "output_dir": os.path.join(name.parent, "out"), "bf16": False, "report_to": "none", **settings}
    (name.parent / "settings.yaml").write_text(yaml.safe_dump(options))
    sys.argv = ["llamafactory-cli", str(name.parent / "settings.yaml")]
    model_args, data_args, training_args, _, _ = get_train_args(read_args())
    tokenizer = load_tokenizer(model_args)
    template = get_template_and_fix_tokenizer(tokenizer["tokenizer"], data_args)
    (found,) = get_dataset(template, model_args, data_args, training_args, stage="sft", **tokenizer)["train_dataset"]
    return tokenizer["tokenizer"].decode(found["input_ids"]), traps.trained(tokenizer["tokenizer"], found["input_ids"], found["labels"])


def main(model):
    whole, _ = row(model, traps.conversation(text=True))
    assert "last query" in whole and "LABEL" not in whole and "LAST THOUGHT" not in whole, whole
    traps.show("LLaMA-Factory loses the text and the reasoning of a message with calls")
    plain = traps.conversation(calls=False, reasoning=False)
    assert "HISTORY" in row(model, plain)[1]
    traps.show("LLaMA-Factory trains on the history without mask_history")
    assert "HISTORY" not in row(model, plain, mask_history=True)[1]
    plain[1]["content"] = "TASK " * 3000
    whole, trained = row(model, plain)
    assert len(whole) < 12000, len(whole)
    traps.show("LLaMA-Factory cuts rows over cutoff_len, 2048 by default")
    traps.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
