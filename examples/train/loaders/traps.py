"""What trainers do without an error, on small conversations: each trap fails if its trainer no longer does it."""
import json
import os
import pathlib
import tempfile

TOOLS = [{"type": "function", "function": {"name": "search", "description": "Searches.", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}}}]


def call(query, text=False):
    arguments = {"query": query}
    return {"id": query, "type": "function", "function": {"name": "search", "arguments": json.dumps(arguments) if text else arguments}}


def conversation(calls=True, reasoning=True, text=False):
    """A state whose history has an action, and the label behind it. Arguments are text if asked for."""
    first, last = {"role": "assistant", "content": "HISTORY"}, {"role": "assistant", "content": "LABEL"}
    if reasoning:
        first["reasoning_content"], last["reasoning_content"] = "EARLIER THOUGHT", "LAST THOUGHT"
    if calls:
        first["tool_calls"], last["tool_calls"] = [call("earlier query", text)], [call("last query", text)]
    between = {"role": "tool", "content": "OBSERVATION", "tool_call_id": "earlier query"} if calls else {"role": "user", "content": "OBSERVATION"}
    return [{"role": "system", "content": "SYSTEM"}, {"role": "user", "content": "TASK"}, first, between, last]


def folder():
    return pathlib.Path(tempfile.mkdtemp(dir=os.environ["HF_HOME"]))


def lines(rows):
    """A file with a row per line."""
    name = folder() / "rows.jsonl"
    name.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(name)


def trained(tokenizer, ids, labels):
    """The text of the supervised tokens."""
    return tokenizer.decode([token for token, label in zip(ids, labels, strict=True) if label != -100])


def show(name):
    """Says that a trap was seen."""
    print(f"\ntrap: {name}", flush=True)


def end():
    os._exit(0)  # some loaders leave threads that never end
