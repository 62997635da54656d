"""Trains MODEL on the messages view of an export: renders each labelled state with MODEL's template as a separate row.

    python train_messages.py DIR MODEL OUT
"""
import json
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from shards import rows, weighted_nll


def pairs(folder, tokenizer):
    """Yields ids, labels and weights of st ⊕ ãt, up to the token that ends the label."""
    with open(f"{folder}/manifest.json") as f:
        manifest = json.load(f)
    if manifest["special_text"] or manifest["served"]:
        raise SystemExit("messages contain texts of special tokens, or labels have a server's token ids: only the token views represent these correctly")
    template = manifest["template"] or {"arguments": "object", "options": {}}
    stop = (manifest["tokenizer"] or {"stop": tokenizer.eos_token})["stop"]

    def render(messages, tools, header):
        return tokenizer.apply_chat_template(messages, tools=tools, add_generation_prompt=header, tokenize=False, **template["options"])

    for row in rows(folder, "messages"):
        state, tools, label = (json.loads(row[column]) for column in ("messages_json", "tools_json", "label_json"))
        messages = state + [label["message"]]
        for call in [call for m in messages for call in m.get("tool_calls", []) if template["arguments"] == "object"]:
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        prompt, whole = render(messages[:-1], tools, True), render(messages, tools, False)
        if not whole.startswith(prompt):
            raise SystemExit(f"{row['row_id']}: the label does not continue the prompt")
        answer = whole[len(prompt):whole.rindex(stop) + len(stop)]
        before, after = (tokenizer(text, add_special_tokens=False).input_ids for text in (prompt, answer))
        weights = label["weights"] or [1.0] * len(after)
        yield before + after, [-100] * len(before) + after, [0.0] * len(before) + weights


def main(folder, name, out):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    for step, (ids, labels, weights) in enumerate(pairs(folder, AutoTokenizer.from_pretrained(name))):
        value = weighted_nll(model, ids, labels, weights)
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: {len(ids)} tokens, loss {value.item():.4f}")
    model.save_pretrained(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
