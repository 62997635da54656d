"""Answers for the reference: one JSON request a line, one JSON answer a line.

What fails answers {"error"}.
{"open": TOKENIZER_JSON} → []: what follows is asked of this tokenizer;
{"encode": [text, …]} → for each the ids as 32-bit integers in base64, and the text that they decode to; {"decode": [ids, …]} → texts;
{"normalize": [text, …]} → texts;
{"load": [text, …]} keeps texts; {"time": "encode" or "encode_batch_fast"} → how many seconds of the processor all of them took, one after the other;
{"ordinary": true} → encode without looking for special tokens from then on;
{"pattern": p, "find": [text, …]} → lists of [start, end], in bytes of UTF-8; needs no tokenizer.
"""
import array
import base64
import functools
import json
import sys
import time

from tokenizers import Regex, Tokenizer, pre_tokenizers


def find(pattern, text):
    """Where the pattern matches: an isolated split has a piece for each match; inverted and removed, only those."""
    split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    byte = places(text)
    return [[byte[a], byte[b]] for _, (a, b) in split.pre_tokenize_str(text)]


@functools.lru_cache(maxsize=1)
def places(text):
    """Where each character begins, in bytes."""
    byte = [0]
    for char in text:
        byte.append(byte[-1] + len(char.encode()))
    return byte


def encoded(texts):
    ids = [e.ids for e in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
    decoded = tokenizer.decode_batch(ids, skip_special_tokens=False)
    return [[base64.b64encode(array.array("i", i).tobytes()).decode(), t] for i, t in zip(ids, decoded)]


def answers(request):
    global tokenizer
    if "open" in request:
        tokenizer = Tokenizer.from_file(request["open"])
        return []
    if "find" in request:
        return [find(request["pattern"], t) for t in request["find"]]
    if "encode" in request:
        return encoded(request["encode"])
    if "decode" in request:
        return [tokenizer.decode(ids, skip_special_tokens=False) for ids in request["decode"]]
    if "normalize" in request:
        return [tokenizer.normalizer.normalize_str(t) for t in request["normalize"]]
    if "load" in request:
        loaded[:] = request["load"]
        return []
    if "time" in request:
        encode = getattr(tokenizer, request["time"])
        start = time.process_time()
        for t in loaded:
            encode(t if request["time"] == "encode" else [t], add_special_tokens=False)
        return time.process_time() - start
    tokenizer.encode_special_tokens = request["ordinary"]
    return []


loaded = []
tokenizer = None
for line in sys.stdin:
    try:
        answer = answers(json.loads(line))
    except Exception as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
