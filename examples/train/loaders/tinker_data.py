"""Reads an export's rows with its tinker_rows.py, and prints what Tinker would be given to train on.

    tinker_data.py EXPORT MODEL
"""
import sys

from supervised import Supervised


def main(export, model):
    sys.path.insert(0, export)
    import tinker_rows

    found, rows = Supervised(), tinker_rows.Rows(export, 4)
    for i in range(len(rows)):
        for datum in rows.get_batch(i):
            targets, weights = (datum.loss_fn_inputs[name].tolist() for name in ("target_tokens", "weights"))
            ids = datum.model_input.to_ints() + targets[-1:]
            found.add(ids, [-100] + [target if weight else -100 for target, weight in zip(targets, weights, strict=True)])
    found.show("tinker", "tinker-cookbook")


if __name__ == "__main__":
    main(*sys.argv[1:])
