"""The student's tokenizer and chat template, as transformers applies them."""
import json
import os

import tokenizers
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from checkpoint import TOKENIZER


class Chat:
    """Turns messages into ids, and ids into text."""

    def __init__(self, folder=TOKENIZER):
        self.tokenizer = tokenizers.Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        with open(os.path.join(folder, "chat_template.jinja"), encoding="utf-8") as f:
            environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
            self.template = environment.from_string(f.read())
        with open(os.path.join(folder, "tokenizer_config.json"), encoding="utf-8") as f:
            self.stop = self.tokenizer.token_to_id(json.load(f)["eos_token"])
        self.special = [id for id, token in self.tokenizer.get_added_tokens_decoder().items() if token.special]

    def prompt(self, messages, **options):
        """The ids of a conversation with the header of the next turn."""
        return self.encode(self.template.render(messages=messages, add_generation_prompt=True, **options))

    def encode(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, ids):
        return self.tokenizer.decode(ids, skip_special_tokens=False)
