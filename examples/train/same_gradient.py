"""Shows that one step over all of an export has the same gradient from each view, and from every labelled state alone.

    python same_gradient.py DIR MODEL [TOLERANCE]

linear and packed are a step of TRL's trainer as train_trl.py makes it, tree goes through train_tree.py, the states alone through
train_messages.py; all in double precision. Prints each view's largest relative distance over the model's tensors, and exits with 1
where one is over TOLERANCE.
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


def gradient(model, losses):
    """The gradient of the sum of losses, by tensor."""
    model.zero_grad()
    for loss in losses:
        loss.backward()
    return [p.grad.clone() for p in model.parameters()]


def by_trl(folder, view, model, tokenizer):
    """The gradient by tensor that one step of TRL took, all rows in it: what plain descent at rate 1 took away."""
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
        raise SystemExit("the gradient of a tensor is 0: nothing is compared there")
    worst = 0.0
    for view, own in {
        "tree": lambda: gradient(model, (train_tree.loss(model, row) for row in rows(folder, "tree"))),
        "linear": lambda: by_trl(folder, "linear", model, tokenizer),
        "packed": lambda: by_trl(folder, "packed", model, tokenizer),
    }.items():
        apart = max(((a - b).norm() / b.norm()).item() for a, b in zip(own(), alone))
        print(f"{view}: gradient apart {apart:.1e}")
        worst = max(worst, apart)
    if not worst <= float(tolerance):
        raise SystemExit(f"over {tolerance}")


if __name__ == "__main__":
    main(*sys.argv[1:])
