"""Loads an export's rows as slime.sh has slime do, and prints what it would train on.

    slime_data.py EXPORT MODEL CHECKOUT

CHECKOUT is a folder with slime's repository: it has no package.
"""
import argparse
import os
import sys

from supervised import Supervised, arguments


def options(given):
    """The options of the rollout, with slime's default of the seed: its parser cannot be imported without Megatron."""
    parser = argparse.ArgumentParser()
    for name in "data-source-path", "rollout-function-path":
        parser.add_argument("--" + name)
    for name, default in ("rollout-batch-size", None), ("n-samples-per-prompt", 1), ("rollout-seed", 42):
        parser.add_argument("--" + name, type=int, default=default)
    return parser.parse_known_args(given)[0]


def main(export, model, checkout):
    sys.path[:0] = [export, checkout]
    from slime.rollout.base_types import call_rollout_fn
    from slime.utils.misc import load_function

    os.environ["RELABEL_EXPORT"] = export
    os.chdir(export)
    args = options(arguments("slime.sh", "python", checkout, model, "out"))
    source, generate = load_function(args.data_source_path)(args), load_function(args.rollout_function_path)
    found, seen = Supervised(), 0
    while seen < len(source):
        args.rollout_batch_size = min(args.rollout_batch_size, len(source) - seen)  # exactly one epoch
        for sample in call_rollout_fn(generate, args, 0, source, evaluation=False).samples:
            found.add_masked(sample.tokens, [0] * (len(sample.tokens) - sample.response_length) + sample.loss_mask)
            seen += 1
    found.show("datasets", checkout=checkout)


if __name__ == "__main__":
    main(*sys.argv[1:])
