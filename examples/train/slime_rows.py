"""Reads the linear view of an export for slime's SFT: token ids with their own masks, which slime does not render again.

    --data-source-path slime_rows.Rows --rollout-function-path slime_rows.generate_rollout

The environment variable RELABEL_EXPORT is the export's folder.
"""
import json
import os
import pathlib
import random

from datasets import load_dataset
from slime.rollout.data_source import DataSource
from slime.utils.types import Sample


class Rows(DataSource):
    def __init__(self, args):
        files = sorted(str(path) for path in pathlib.Path(os.environ["RELABEL_EXPORT"], "linear").glob("*.parquet"))
        self.args, self.given, self.epoch = args, 0, None
        self.rows = load_dataset("parquet", data_files=files, split="train", columns=["input_ids", "loss_mask"])

    def __len__(self):
        return len(self.rows)

    def row(self, number):
        """Row of the number-th sample: each epoch is a permutation of all rows."""
        epoch, place = divmod(number, len(self.rows))
        if epoch != self.epoch:
            self.epoch, self.order = epoch, list(range(len(self.rows)))
            random.Random(self.args.rollout_seed + epoch).shuffle(self.order)
        return self.rows[self.order[place]]

    def get_samples(self, num_samples):
        samples = []
        for number in range(self.given, self.given + num_samples):
            row = self.row(number)
            sample = Sample(index=number, group_index=number)
            first = row["loss_mask"].index(1)  # the response is all that follows the first prompt
            sample.tokens, sample.loss_mask = row["input_ids"], row["loss_mask"][first:]
            sample.response_length, sample.reward = len(sample.loss_mask), 0
            samples.append([sample])
        self.given += num_samples
        return samples

    def add_samples(self, samples):
        raise RuntimeError("rows cannot be added to an export")

    def path(self, folder, rollout_id):
        return pathlib.Path(folder, "rollout", f"relabel_rows_{rollout_id}.json")

    def save(self, rollout_id):
        path = self.path(self.args.save, rollout_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.given))

    def load(self, rollout_id=None):
        if rollout_id is not None and self.args.load and self.path(self.args.load, rollout_id).exists():
            self.given = json.loads(self.path(self.args.load, rollout_id).read_text())


def generate_rollout(args, rollout_id, data_buffer, evaluation=False):
    return [sample for (sample,) in data_buffer.get_samples(args.rollout_batch_size)]
