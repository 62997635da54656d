"""Loads an export's rows as `swift sft ms_swift.yaml` does, and prints what it would train on.

    ms_swift_data.py EXPORT MODEL
"""
import os
import sys

from swift.cli.main import parse_yaml_args
from swift.pipelines.train.sft import SwiftSft

from supervised import Supervised


def main(export, model):
    os.chdir(export)
    given = ["ms_swift.yaml", "--model", model, "--output_dir", os.path.join(os.environ["HF_HOME"], "out"), "--torch_dtype", "float32", "--model_type", "qwen3"]
    parse_yaml_args(given)
    rows, _ = SwiftSft(given)._prepare_dataset()
    found = Supervised()
    for i in range(len(rows)):
        found.add(rows[i]["input_ids"], rows[i]["labels"])
    found.show("ms-swift", "transformers", "datasets")


if __name__ == "__main__":
    main(*sys.argv[1:])
