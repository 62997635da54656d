"""Answers for the reference: one JSON request a line, one JSON answer a line.

reference.py TOKENIZER_JSON: {"encode": [text, …]} → ids; {"decode": [ids, …]} → texts;
{"normalize": [text, …]} → texts; {"split": [text, …]} → pieces of the pre-tokenizer, without their offsets;
{"load": [text, …]} keeps texts; {"time": "encode" or "encode_batch_fast"} → how many seconds of the processor all of them took, one after the other;
{"ordinary": true} → encode without looking for special tokens from then on. A tokenizer that does not load answers {"error"}.
reference.py --pattern: {"pattern": p, "find": [text, …]} → lists of [start, end], in bytes of UTF-8.
"""
import json
import sys
import time

from tokenizers import Regex, Tokenizer, pre_tokenizers


def find(pattern, text):
    """Where the pattern matches: an isolated split has a piece for each match; inverted and removed, only those."""
    split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    byte = [0]
    for char in text:
        byte.append(byte[-1] + len(char.encode()))
    return [[byte[a], byte[b]] for _, (a, b) in split.pre_tokenize_str(text)]


def answers(request, tokenizer):
    if "find" in request:
        try:
            return [find(request["pattern"], t) for t in request["find"]]
        except Exception as error:  # a pattern that the reference does not take
            return {"error": str(error)}
    if "encode" in request:
        return [e.ids for e in tokenizer.encode_batch(request["encode"], add_special_tokens=False)]
    if "decode" in request:
        return [tokenizer.decode(ids, skip_special_tokens=False) for ids in request["decode"]]
    if "normalize" in request:
        return [tokenizer.normalizer.normalize_str(t) for t in request["normalize"]]
    if "split" in request:
        return [[p for p, _ in tokenizer.pre_tokenizer.pre_tokenize_str(t)] for t in request["split"]]
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
if sys.argv[1] != "--pattern":
    try:
        tokenizer = Tokenizer.from_file(sys.argv[1])
    except Exception as error:
        print(json.dumps({"error": str(error)}), flush=True)
        sys.exit()
for line in sys.stdin:
    print(json.dumps(answers(json.loads(line), tokenizer)), flush=True)
