"""Checks the programs of examples/train/learn on an export with the view tree.

    check_learn.py PROGRAMS EXPORT

Prints one line of JSON with what was measured.
"""
import concurrent.futures
import contextlib
import copy
import io
import json
import os
import random
import sys
import tempfile
import threading
import urllib.error
import urllib.request

programs, export = sys.argv[1:]
sys.path.insert(0, programs)

import torch

import checkpoint
import make_tokenizer
import train
import trees
from chat import Chat
from generate import Cache, Engine
from serve import Server

torch.set_num_threads(1)


def sequences(tree):
    """Each labelled state of a tree as a sequence of its own: ids, weights, and which tokens are its label."""
    within = {tree.parents[i] for i in range(len(tree.ids)) if tree.supervised[i]}  # what a label's token follows
    for end in range(len(tree.ids)):
        if not tree.supervised[end] or end in within:
            continue  # not the last token of a label
        path = [end]
        while tree.parents[path[0]] != path[0]:
            path.insert(0, tree.parents[path[0]])
        first = len(path)
        while tree.supervised[path[first - 1]]:
            first -= 1
        yield [tree.ids[i] for i in path], [tree.weights[i] for i in path], first


def alone(ids, weights, first):
    """A sequence as a tree with one branch."""
    n = len(ids)
    supervised = [i >= first for i in range(n)]
    return trees.Tree(ids, list(range(n)), [max(i - 1, 0) for i in range(n)], [n] * n, [w if s else 0.0 for w, s in zip(weights, supervised)], supervised, 1)


def gradient(model, data):
    """The loss of trees in one batch, and its gradient."""
    model.zero_grad()
    loss = train.loss_of(model, trees.collate(data))
    loss.backward()
    return loss.item(), torch.cat([p.grad.flatten() for p in model.parameters()])


def apart(model, data):
    """How far the gradient of trees is from that of their states alone, relative to its length."""
    model = copy.deepcopy(model).double()
    model.layers[0].share.data.normal_()  # no two tokens may have the same share by chance
    torch.set_default_dtype(torch.float64)
    try:
        together = gradient(model, data)[1]
        states = [alone(*s) for tree in data for s in sequences(tree)]
        separate = gradient(model, states)[1]
    finally:
        torch.set_default_dtype(torch.float32)
    return float((together - separate).norm() / separate.norm()), len(states)


@torch.inference_mode()
def cached(model, tree):
    """The largest difference between logits from the tree and from the cache, fed in pieces beside another conversation."""
    batch, worst = trees.collate([tree]), 0.0
    whole = model.logits(model(batch.ids, batch.positions, batch.parents, batch.mask))[0]
    for leaf in [i for i in range(len(tree.ids)) if i not in tree.parents]:
        path = [leaf]
        while tree.parents[path[0]] != path[0]:
            path.insert(0, tree.parents[path[0]])
        ids, cache, at = [tree.ids[i] for i in path], Cache(model, 3, len(path) + 8), 0
        for piece in (len(ids) // 2, 1, 1, len(ids) - len(ids) // 2 - 2):
            hidden = cache.feed([2, 0], [ids[at:at + piece], [7, 8, 9][:1 + at % 3]])[0, :piece]
            worst = max(worst, float((model.logits(hidden) - whole[path[at:at + piece]]).abs().max()))
            at += piece
    return worst


def trained(out, *options, exports=1):
    """Runs train.py on the export, or on it several times, in this process for speed, and returns its metadata."""
    sys.argv = ["train.py", *[export] * exports, "--out", out, "--labels", "8", *options]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        train.main()
    metadata = json.loads(said.getvalue().splitlines()[-1])
    with open(os.path.join(out, "metadata.json")) as f:
        assert json.load(f) == metadata
    return metadata


def ask(url, path, **body):
    request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as e:
        return e.code, json.load(e)


@torch.inference_mode()
def by_hand(model, prompt, stop, never, most):
    """Greedy decoding without a cache, and each token's log-probability."""
    ids, logprobs = list(prompt), []
    while len(ids) < len(prompt) + most and (len(ids) == len(prompt) or ids[-1] != stop):
        batch = trees.collate([alone(ids, [1.0] * len(ids), len(ids))])
        row = model.logits(model(batch.ids, batch.positions, batch.parents, batch.mask))[0, -1]
        allowed = row.clone()
        allowed[never] = -torch.inf
        ids.append(int(allowed.argmax()))
        logprobs.append(float(row.log_softmax(-1)[ids[-1]]))
    return ids[len(prompt):], logprobs


def served(folder):
    """Asks a server for what relabel asks, and compares it with the model."""
    chat, (model, _) = Chat(), checkpoint.load(folder)
    never = [id for id in chat.special if id != chat.stop]
    server = Server(("127.0.0.1", 0), {"m": Engine(model, chat.stop, never, rows=3, context=200)}, chat, 200)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    with urllib.request.urlopen(url + "/models") as answer:
        models = json.load(answer)["data"]
    talks = [[{"role": "user", "content": f"calm_bell({n}, 59) returns 5310 but it should return 31. Fix the bug."}] for n in range(12)]
    whole = dict(model="m", temperature=0, max_tokens=9, logprobs=True, return_token_ids=True)
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        got = list(pool.map(lambda talk: ask(url, "/chat/completions", messages=talk, **whole)[1], talks))
        drawn = [list(pool.map(lambda seed: ask(url, "/chat/completions", messages=talks[0], model="m", seed=seed, top_p=0.9, temperature=0.7)[1]["choices"][0]["message"]["content"],
                               [1, 2, 3, 4, 1, 2, 3, 4])) for _ in range(2)]
    worst = 0.0
    for talk, answer in zip(talks, got):
        choice, prompt = answer["choices"][0], chat.prompt(talk)
        ids, logprobs = by_hand(model, prompt, chat.stop, never, 9)
        said = chat.decode(ids[:-1] if ids[-1] == chat.stop else ids)
        assert answer["prompt_token_ids"] == prompt and choice["token_ids"] == ids and choice["message"]["content"] == said, (answer, prompt, ids)
        assert choice["finish_reason"] == ("stop" if ids[-1] == chat.stop else "length")
        worst = max(worst, *(abs(a["logprob"] - b) for a, b in zip(choice["logprobs"]["content"], logprobs, strict=True)))
    prompt = chat.prompt(talks[0])
    scores = ask(url, "/completions", model="m", prompt=prompt, max_tokens=1, prompt_logprobs=2)[1]["choices"][0]["prompt_logprobs"]
    batch = trees.collate([alone(prompt, [1.0] * len(prompt), 1)])
    with torch.no_grad():
        rows = model.logits(model(batch.ids, batch.positions, batch.parents, batch.mask))[0].log_softmax(-1)
    assert scores[0] is None and len(scores) == len(prompt)
    worst = max(worst, *(abs(scores[i][str(prompt[i])]["logprob"] - float(rows[i - 1, prompt[i]])) for i in range(1, len(prompt))))
    narrow = [ask(url, "/chat/completions", model="m", messages=talks[0], max_tokens=9, temperature=5, seed=1, **only)[1]["choices"][0]["message"]
              for only in ({"top_k": 1}, {"top_p": 1e-6}, {"min_p": 1})]
    assert all(message == got[0]["choices"][0]["message"] for message in narrow), narrow
    refused = {name: ask(url, "/chat/completions", **{"model": "m", "messages": talks[0], **change}) for name, change in {
        "repetition_penalty": {"repetition_penalty": 1.1}, "unknown": {"no_such_field": 1}, "model": {"model": "other"},
        "context": {"messages": [{"role": "user", "content": "é" * 100}]}, "top_p": {"top_p": 2}}.items()}
    neutral = ask(url, "/chat/completions", model="m", messages=talks[0], repetition_penalty=1.0, presence_penalty=0, stop=[], top_k=-1, min_p=0.0,
                  chat_template_kwargs={"enable_thinking": False})[0]
    server.shutdown()
    return {"models": models, "worst": worst, "repeatable": drawn[0] == drawn[1] and drawn[0][:4] == drawn[0][4:], "different": len(set(drawn[0])),
            "refused": {name: [status, body["error"]["message"]] for name, (status, body) in refused.items()}, "neutral": neutral}


def main():
    torch.manual_seed(0)
    with open(os.path.join(checkpoint.TOKENIZER, "tokenizer.json"), encoding="utf-8") as f:
        made = json.load(f) == make_tokenizer.tokenizer()
    data, about = trees.read(export, checkpoint.tokenizer_sha256())
    model, _, _ = checkpoint.start(None)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            parameter.data.mul_(2)  # so that attention isn't even
    difference, states = apart(model, data)
    drawn = next(trees.batches(data, 5, random.Random(0)))
    with tempfile.TemporaryDirectory() as folder:
        first = trained(os.path.join(folder, "first"), "--updates", "30")
        again = trained(os.path.join(folder, "again"), "--updates", "30")
        later = trained(os.path.join(folder, "later"), "--updates", "4", "--peak", "2e-3", "--init", os.path.join(folder, "first"), exports=2)
        server = served(os.path.join(folder, "later"))
    print(json.dumps({"about": about, "made": made, "gradient": difference, "states": states, "batch_states": sum(tree.states for tree in drawn),
                      "cached": max(cached(model, tree) for tree in data), "loss": train.loss_of(checkpoint.start(None)[0], trees.collate(data)).item(),
                      "first": first, "again": again, "later": later, "server": server}))


if __name__ == "__main__":
    main()
