"""Loads an export's rows as nemo_rl.sh has NeMo RL's SFT do, and prints what it would train on.

    nemo_rl_data.py EXPORT MODEL CHECKOUT

CHECKOUT is a folder with NeMo RL's repository: its package is a placeholder.
"""
import functools
import os
import sys
from unittest import mock

from omegaconf import OmegaConf
from transformers import AutoTokenizer

from supervised import Supervised, arguments


def setup_data(checkout):
    """The function of examples/run_sft.py, without the trainer that this program also imports."""
    sys.path[:0] = [checkout, os.path.join(checkout, "examples")]
    for name in "algorithms.sft", "algorithms.utils", "distributed.virtual_cluster", "utils.logger":
        sys.modules["nemo_rl." + name] = mock.MagicMock()
    import run_sft
    return run_sft.setup_data


def main(export, model, checkout):
    load = setup_data(checkout)
    from nemo_rl.data.llm_message_utils import add_loss_mask_to_message_log
    from nemo_rl.utils.config import load_config, parse_hydra_overrides, register_omegaconf_resolvers

    os.chdir(export)
    given = arguments("nemo_rl.sh", "uv", checkout, model, "out")
    os.chdir(checkout)
    register_omegaconf_resolvers()
    config = OmegaConf.to_container(parse_hydra_overrides(load_config(given[3]), given[4:]), resolve=True)  # after run, the program and --config
    tokenizer = AutoTokenizer.from_pretrained(config["policy"]["tokenizer"]["name"])
    tokenizer.apply_chat_template = functools.partial(tokenizer.apply_chat_template, **config["policy"]["tokenizer"]["chat_template_kwargs"] or {})
    found, rows = Supervised(), load(tokenizer, config["data"])[0]
    for i in range(len(rows)):
        messages = rows[i]["message_log"]
        add_loss_mask_to_message_log([messages], roles_to_train_on=["assistant"], only_unmask_final=config["sft"]["only_unmask_final"])
        ids, mask = ([x for message in messages for x in message[name].tolist()] for name in ("token_ids", "token_loss_mask"))
        if rows[i]["loss_multiplier"]:
            found.add_masked(ids, mask)
    found.show("transformers", checkout=checkout)


if __name__ == "__main__":
    main(*sys.argv[1:])
