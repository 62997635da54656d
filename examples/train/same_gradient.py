"""Checks that one step over a whole export has the same gradient with each view and with each labelled state on its own.

    python same_gradient.py DIR MODEL [TOLERANCE]

linear and packed run one step of train_trl.py's trainer, tree uses train_tree.py, and the separate states use train_messages.py;
all in double precision. The program prints each view's largest relative difference over the model's tensors and exits with 1 if one
exceeds TOLERANCE.
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
    """Loads MODEL in double precision. Replaces its norms, which compute in single precision and would hide small differences."""
    model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float64, attn_implementation="sdpa")

    def norm(module, x):
        return module.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + module.variance_epsilon)

    for module in model.modules():
        if type(module).__name__.endswith("RMSNorm"):
            module.forward = norm.__get__(module)
    return model


def gradient(model, losses):
    """Returns the gradient of the sum of losses, by tensor."""
    model.zero_grad()
    for loss in losses:
        loss.backward()
    return [p.grad.clone() for p in model.parameters()]


def by_trl(folder, view, model, tokenizer):
    """Returns the gradient by tensor of one TRL step over all rows: the change of the weights by plain SGD at rate 1."""
    before = [p.detach().clone() for p in model.parameters()]
    with tempfile.TemporaryDirectory() as out:
        t = train_trl.trainer(folder, view, model, tokenizer, out, max_steps=1, gradient_accumulation_steps=10**6, optim="sgd", learning_rate=1.0,
                              lr_scheduler_type="constant", max_grad_norm=0.0, disable_tqdm=True)
        batches = len(t.get_train_dataloader())
        t.train()
    taken = [(b - p.detach()) * batches * t.divisor for b, p in zip(before, model.parameters())]
    with torch.no_grad():
        for b, p in zip(before, model.parameters()):
            p.copy_(b)
    return taken


def main(folder, name, tolerance="1e-9"):
    model, tokenizer = in_double(name), AutoTokenizer.from_pretrained(name)
    alone = gradient(model, (weighted_nll(model, *pair) for pair in train_messages.pairs(folder, tokenizer)))
    if not all(tensor.norm() > 0 for tensor in alone):
        raise SystemExit("the gradient of a tensor is 0, so the comparison is void")
    worst = 0.0
    for view, own in {
        "tree": lambda: gradient(model, (train_tree.loss(model, row) for row in rows(folder, "tree"))),
        "linear": lambda: by_trl(folder, "linear", model, tokenizer),
        "packed": lambda: by_trl(folder, "packed", model, tokenizer),
    }.items():
        apart = max(((a - b).norm() / b.norm()).item() for a, b in zip(own(), alone))
        print(f"{view}: relative difference {apart:.1e}")
        worst = max(worst, apart)
    if not worst <= float(tolerance):
        raise SystemExit(f"a difference exceeds {tolerance}")


if __name__ == "__main__":
    main(*sys.argv[1:])
