"""Checks the gradient of an opd or grpo export against a direct computation of Σ w · ∇ log π, token by token.

    python policy_gradient.py DIR MODEL [TOLERANCE]

The direct computation takes the weights from what they follow from (the log-probabilities of teacher and student, or the rewards of a
group), runs each label alone with its own prefix, and sums w · log π over its tokens from the whole softmax. linear and tree use
train_policy.py. All in double precision. The program prints each view's largest relative difference over the model's tensors, and exits
with 1 if one exceeds TOLERANCE.
"""
import json
import statistics
import sys

import torch

import train_policy
from same_gradient import gradient, in_double
from shards import rows


def weights_of(manifest, row, span):
    """w of each token of a span, before it was written as loss_weights."""
    where = slice(span["start"], span["start"] + span["length"])
    if manifest["recipe"] == "grpo":
        rewards = manifest["advantage"]["rewards"][span["group_id"]]
        advantage = (span["reward"] - statistics.mean(rewards)) / (statistics.stdev(rewards) + manifest["advantage"]["epsilon"])
        weights = [advantage] * span["length"]
    else:
        weights = [e - s for e, s in zip(row["teacher_logprobs"][where], row["student_logprobs"][where])]
        if manifest["weight_span"] == "turn":
            weights = [sum(weights)] * span["length"]
    return [w / span["length"] for w in weights] if manifest["normalisation"] == "transition" else weights


def alone(model, folder, manifest):
    """-Σ w · log π of each label, run alone."""
    for row in rows(folder, "linear"):
        for span in row["spans"]:
            start, end = span["start"], span["start"] + span["length"]
            ids = torch.tensor(row["input_ids"][:end])
            log_softmax = model(input_ids=ids[None], use_cache=False).logits[0].log_softmax(-1)
            log_pi = log_softmax[torch.arange(start - 1, end - 1), ids[start:end]]
            yield -(torch.tensor(weights_of(manifest, row, span), dtype=torch.float64) * log_pi).sum()


def main(folder, name, tolerance="1e-5"):
    with open(f"{folder}/manifest.json") as f:
        manifest = json.load(f)
    model = in_double(name)
    signs = [w for row in rows(folder, "linear") for w in row["loss_weights"]]
    if not min(signs) < 0 < max(signs):
        raise SystemExit("the weights do not have both signs, so the comparison is void")
    direct = gradient(model, alone(model, folder, manifest))
    if not all(tensor.norm() > 0 for tensor in direct):
        raise SystemExit("the gradient of a tensor is 0, so the comparison is void")
    worst = 0.0
    for view in "linear", "tree":
        own = gradient(model, (train_policy.loss(model, row) for row in rows(folder, view)))
        apart = max(((a - b).norm() / b.norm()).item() for a, b in zip(own, direct))
        print(f"{view}: relative difference {apart:.1e}")
        worst = max(worst, apart)
    if not worst <= float(tolerance):
        raise SystemExit(f"a difference exceeds {tolerance}")


if __name__ == "__main__":
    main(*sys.argv[1:])
