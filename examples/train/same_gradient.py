"""Shows that one step over all of an export has the same gradient from each view, and from every labelled state alone.

    python same_gradient.py DIR MODEL [TOLERANCE]

linear and packed go through TRL as train_trl.py does it, tree through train_tree.py, the states alone through train_messages.py; all
in double precision. Prints each view's largest relative distance over the model's tensors, and exits with 1 where one is over TOLERANCE.
"""
import sys
import tempfile

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import train_messages
import train_tree
import train_trl
from shards import rows, weighted_nll


def in_double(name):
    """MODEL in double precision. Its norms count in single, which would hide small differences and bring its own."""
    model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float64, attn_implementation="sdpa")

    def norm(module, x):
        return module.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + module.variance_epsilon)

    for module in model.modules():
        if type(module).__name__.endswith("RMSNorm"):
            module.forward = norm.__get__(module)
    return model


def by_trl(folder, view, model, tokenizer):
    with tempfile.TemporaryDirectory() as out:
        trainer = train_trl.trainer(folder, view, model, tokenizer, out)
        for batch in trainer.get_train_dataloader():
            yield trainer.compute_loss(model, batch) * trainer.divisor


def gradient(model, losses):
    """The gradient of the sum of losses by tensor, and the sum."""
    model.zero_grad()
    total = 0.0
    for loss in losses:
        loss.backward()
        total += loss.item()
    return [p.grad.clone() for p in model.parameters()], total


def main(folder, name, tolerance="1e-9"):
    model, tokenizer = in_double(name), AutoTokenizer.from_pretrained(name)
    alone, total = gradient(model, (weighted_nll(model, *pair) for pair in train_messages.pairs(folder, tokenizer)))
    if not all(tensor.norm() > 0 for tensor in alone):
        raise SystemExit("the gradient of a tensor is 0: nothing is compared there")
    print(f"alone: loss {total:.9f}")
    worst = 0.0
    for view, losses in {
        "linear": by_trl(folder, "linear", model, tokenizer),
        "packed": by_trl(folder, "packed", model, tokenizer),
        "tree": (train_tree.loss(model, row) for row in rows(folder, "tree")),
    }.items():
        own, total = gradient(model, losses)
        apart = max(((a - b).norm() / b.norm()).item() for a, b in zip(own, alone))
        print(f"{view}: loss {total:.9f}, gradient apart {apart:.1e}")
        worst = max(worst, apart)
    if not worst <= float(tolerance):
        raise SystemExit(f"over {tolerance}")


if __name__ == "__main__":
    main(*sys.argv[1:])
