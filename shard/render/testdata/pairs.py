"""Pairs (state, label) as transformers and tokenizers give them: the reference of the tests.

JSON lines {"folder", "state", "label", "tools", "arguments", "options"} come in; {"prompt", "answer"}, lists
of ids, or {"error"} go out. Special tokens' texts in messages are split by a character that is taken out
again before the encoding, so that only the template's own become tokens.
"""
import copy
import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
from tokenizers import Tokenizer
from transformers import AutoTokenizer

MARK = "\uf123"


class Model:
    def __init__(self, folder):
        self.template = AutoTokenizer.from_pretrained(folder)
        self.bpe = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self.bpe.encode_special_tokens = True
        with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as file:
            added = json.load(file)["added_tokens"]
        special = [(t["content"], t["id"]) for t in added if t["special"]]
        self.special = sorted(special, key=lambda t: -len(t[0]))

    def at(self, text, i):
        return next(((s, n) for s, n in self.special if text.startswith(s, i)), (None, None))

    def marked(self, v):
        if isinstance(v, list):
            return [self.marked(x) for x in v]
        if isinstance(v, dict):
            return {self.marked(k): self.marked(x) for k, x in v.items()}
        if not isinstance(v, str):
            return v
        out, i = [], 0
        while i < len(v):
            s, _ = self.at(v, i)
            out.append(v[i] if s is None else s[0] + MARK + s[1:])
            i += 1 if s is None else len(s)
        return "".join(out)

    def text(self, messages, ask, header):
        messages = copy.deepcopy(messages)
        for m in messages:
            for c in m.get("tool_calls", []):
                if ask["arguments"] == "object":
                    c["function"]["arguments"] = json.loads(c["function"]["arguments"])
        messages = [self.marked(m) for m in messages]
        return self.template.apply_chat_template(messages, tools=ask["tools"] or None, tokenize=False,
                                                 add_generation_prompt=header, **ask["options"])

    def pieces(self, text):
        plain, i = "", 0
        while i < len(text):
            s, n = self.at(text, i)
            if s is None:
                plain += text[i]
                i += 1
                continue
            yield plain, None
            yield s, n
            plain, i = "", i + len(s)
        yield plain, None

    def ids(self, text):
        out = []
        for piece, n in self.pieces(text):
            out += [n] if n is not None else self.bpe.encode(piece.replace(MARK, ""), add_special_tokens=False).ids
        return out

    def pair(self, ask):
        prompt = self.text(ask["state"], ask, True)
        whole = self.text(ask["state"] + [ask["label"]], ask, False)
        if not whole.startswith(prompt):
            return {"error": "not continuing"}
        answer = whole[len(prompt):]
        stop = self.template.eos_token
        return {"prompt": self.ids(prompt), "answer": self.ids(answer[: answer.rindex(stop) + len(stop)])}


models = {}
for line in sys.stdin:
    ask = json.loads(line)
    try:
        model = models.setdefault(ask["folder"], None) or Model(ask["folder"])
        models[ask["folder"]] = model
        answer = model.pair(ask)
    except Exception as e:
        answer = {"error": repr(e)}
    print(json.dumps(answer), flush=True)
