"""Renders lines of {"folder", "variables"} with the tokenizer of the folder: {"text"} or
{"error"} out. The clock stands still."""

import datetime
import json
import sys

import transformers
import transformers.utils.chat_template_utils as utils


class Still(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2025, 3, 7, 4, 5, 6)


utils.datetime = Still
loaded = {}
for line in sys.stdin:
    request = json.loads(line)
    folder = request["folder"]
    if folder not in loaded:
        loaded[folder] = transformers.AutoTokenizer.from_pretrained(folder)
    variables = json.loads(request["variables"])
    try:
        messages = variables.pop("messages")
        answer = {"text": loaded[folder].apply_chat_template(messages, tokenize=False, **variables)}
    except Exception as e:
        answer = {"error": f"{type(e).__name__}: {e}"}
    print(json.dumps(answer), flush=True)
