"""Serves a small random model in float32 as vLLM's /v1/completions with prompt_logprobs, and its own reference.

    python server.py

Prints its port when it is ready. POST /reference {"ids": [...], "positions": [...], "top_k": k} answers the same by another
way: for each position, the model reads what precedes it alone.
"""
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

torch.manual_seed(0)
torch.set_num_threads(1)
VOCABULARY = 300
MODEL = Qwen3ForCausalLM(Qwen3Config(vocab_size=VOCABULARY, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
                                     num_key_value_heads=1, head_dim=16, initializer_range=0.5, max_position_embeddings=1024)).float().eval()


@torch.no_grad()
def logprobs(ids):
    return torch.log_softmax(MODEL(torch.tensor([ids])).logits[0].double(), -1)


def entry(row, token, top_k):
    top = torch.topk(row, top_k).indices.tolist() if top_k else []
    chosen = dict.fromkeys([token, *top])
    return {str(t): {"logprob": row[t].item(), "rank": int((row > row[t]).sum()) + 1, "decoded_token": "\u00fc"} for t in chosen}


def complete(body):
    ids, top_k = body["prompt"], body["prompt_logprobs"]
    rows = logprobs(ids)
    listed = [None] + [entry(rows[i - 1], ids[i], top_k) for i in range(1, len(ids))]
    choice = {"index": 0, "text": "x", "logprobs": None, "finish_reason": "length", "stop_reason": None, "token_ids": [1],
              "prompt_logprobs": listed, "prompt_token_ids": ids if body.get("return_token_ids") else None}
    return {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": body["model"], "choices": [choice],
            "usage": {"prompt_tokens": len(ids), "total_tokens": len(ids) + 1, "completion_tokens": 1, "prompt_tokens_details": None}}


def reference(body):
    answer = []
    for at in body["positions"]:
        row = logprobs(body["ids"][:at])[-1]
        top = torch.topk(row, body["top_k"])
        answer.append({"logprob": row[body["ids"][at]].item(), "top_ids": top.indices.tolist(), "top_logprobs": top.values.tolist()})
    return answer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = reference(body) if self.path == "/reference" else complete(body)
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    sys.stdout.close()
    server.serve_forever()
