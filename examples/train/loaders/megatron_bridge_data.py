"""Loads an export's rows as megatron_bridge.sh has Megatron-Bridge do, and prints what it would train on.

    megatron_bridge_data.py EXPORT MODEL CHECKOUT

CHECKOUT is a folder with Megatron-Bridge's repository: its package 0.3.1 does not read Parquet.
"""
import dataclasses
import os
import sys
import types

import megatron.core  # before the packages of the checkout, which belong to the same namespace

from supervised import Supervised, arguments


def without_models(checkout):
    """Lets packages of the checkout be imported without their __init__.py, which imports all models and their GPU kernels."""
    for name in "megatron.bridge", "megatron.bridge.data", "megatron.bridge.data.builders", "megatron.bridge.models", "megatron.bridge.training":
        package = sys.modules[name] = types.ModuleType(name)
        package.__path__ = [os.path.join(checkout, "src", *name.split("."))]


def main(export, model, checkout):
    without_models(checkout)
    from megatron.bridge.data.builders.gpt_sft import GPTSFTDatasetBuilder, GPTSFTDatasetConfig
    from megatron.bridge.data.packing import PackedSequenceSpecs
    from megatron.bridge.data.sft_processing import PromptCompletionSFTPreprocessingConfig
    from megatron.bridge.training.tokenizers.config import TokenizerConfig
    from megatron.bridge.training.tokenizers.tokenizer import build_tokenizer
    from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides

    @dataclasses.dataclass
    class Config:
        dataset: GPTSFTDatasetConfig

    os.chdir(export)
    given = arguments("megatron_bridge.sh", "torchrun", checkout, "recipe", model, "out")
    # What --dataset local-jsonl is in megatron.bridge.recipes.utils.dataset_utils, which cannot be imported without a GPU.
    preset = Config(GPTSFTDatasetConfig(seq_length=4096, dataset_root=None, dataloader_type="batch", seed=5678, preprocessing=PromptCompletionSFTPreprocessingConfig(
        prompt_column="input", completion_column="output", separator=" ")))
    config = process_config_with_overrides(preset, cli_overrides=[word for word in given if word.lstrip("+").startswith("dataset.")]).dataset
    config.offline_packing_specs = PackedSequenceSpecs(**config.offline_packing_specs)  # as its recipe_runner.py does
    tokenizer = build_tokenizer(TokenizerConfig(tokenizer_type="HuggingFaceTokenizer", tokenizer_model=model))
    rows, found = GPTSFTDatasetBuilder(config, tokenizer).build()[0], Supervised()
    for i in range(len(rows)):
        batch = rows.collate_fn([rows[i]])
        ids, targets, mask, ends = (batch[name][0].tolist() for name in ("tokens", "labels", "loss_mask", "cu_seqlens_q"))
        for start, end in zip(ends, ends[1:]):
            if start < end:
                found.add_shifted(ids[start:end], [target if on else -100 for target, on in zip(targets[start:end], mask[start:end], strict=True)])
    found.show("megatron-core", checkout=checkout)


if __name__ == "__main__":
    main(*sys.argv[1:])
