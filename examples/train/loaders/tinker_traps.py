"""What tinker-cookbook does without an error.

    tinker_traps.py MODEL
"""
import sys

from tinker_cookbook import renderers
from tinker_cookbook.supervised.data import conversation_to_datum
from transformers import AutoTokenizer

import traps


def weights(model, messages, train_on_what):
    renderer = renderers.get_renderer("qwen3", AutoTokenizer.from_pretrained(model))
    return conversation_to_datum(messages, renderer, 2048, train_on_what).loss_fn_inputs["weights"].tolist()


def main(model):
    last = renderers.TrainOnWhat.LAST_ASSISTANT_MESSAGE
    for label in "LABEL", "a label of more tokens":
        messages = [{"role": "user", "content": "TASK"}, {"role": "assistant", "content": label}]
        found = [weight for weight in weights(model, messages, last) if weight]
        assert len(found) > 1 and abs(sum(found) - 1) < 1e-4, found
    traps.show("tinker-cookbook divides the weights of a row by its tokens")
    messages = traps.conversation(calls=False, reasoning=False)
    every, one = (sum(weight > 0 for weight in weights(model, messages, what)) for what in (renderers.TrainOnWhat.ALL_ASSISTANT_MESSAGES, last))
    assert every > one
    traps.show("tinker-cookbook trains on the history by default")
    traps.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
