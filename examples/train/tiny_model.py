"""Creates a small random model of Qwen3's architecture with the tokenizer of a folder, to try these programs on a CPU.

    python tiny_model.py TOKENIZER OUT
"""
import sys

import torch
from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM


def main(tokenizer, out):
    torch.manual_seed(0)
    tokens = AutoTokenizer.from_pretrained(tokenizer)
    Qwen3ForCausalLM(Qwen3Config(vocab_size=len(tokens), hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
                                 num_key_value_heads=1, head_dim=8, initializer_range=0.2)).save_pretrained(out)
    tokens.save_pretrained(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
