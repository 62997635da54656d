"""Compares the scores in an opd export with those that transformers computes in float32.

    python same_scores.py DIR STUDENT TEACHER [TOLERANCE]

DIR must have the view linear. STUDENT and TEACHER are folders of the two models. A model server in another precision, or one that
returns log-probabilities at the temperature of sampling, differs by more. The program prints the largest and the mean difference per
token of each policy, in nats, and exits with 1 if one exceeds TOLERANCE (default 1e-4).
"""
import sys

import torch
from transformers import AutoModelForCausalLM

from shards import rows


def differences(folder, policy, path):
    """|log π in the export − log π of the model| of each token of the student's actions."""
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
    found = []
    for row in rows(folder, "linear"):
        with torch.no_grad():
            computed = model(torch.tensor([row["input_ids"]])).logits[0].log_softmax(-1)
        for span in row["spans"]:
            for at in range(span["start"], span["start"] + span["length"]):
                found.append(abs(computed[at - 1, row["input_ids"][at]].item() - row[f"{policy}_logprobs"][at]))
    return found


def main(folder, student, teacher, tolerance="1e-4"):
    worst = 0.0
    for policy, path in ("student", student), ("teacher", teacher):
        found = differences(folder, policy, path)
        worst = max(worst, *found)
        print(f"{policy}: {len(found)} tokens, largest difference {max(found):.2g}, mean {sum(found) / len(found):.2g}")
    return worst > float(tolerance)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
