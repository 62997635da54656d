"""Reads a ranked list and its gold a line, and writes trec_eval's figures of each line; null if it has none."""
import json
import sys

import pytrec_eval

MEASURES = {"recall.1,3,5", "map", "recip_rank", "ndcg_cut.5"}
NAMES = ["recall_1", "recall_3", "recall_5", "map", "recip_rank", "ndcg_cut_5"]

cases = [json.loads(line) for line in sys.stdin]
gold = {str(i): {entry: 1 for entry in c["gold"]} for i, c in enumerate(cases)}
# Equal scores would be ranked by name: those of a list, without its duplicates, fall from place to place.
lists = {str(i): {entry: float(-place) for place, entry in enumerate(dict.fromkeys(c["list"]))} for i, c in enumerate(cases)}
figures = pytrec_eval.RelevanceEvaluator(gold, MEASURES).evaluate(lists)
for i in range(len(cases)):
    of = figures.get(str(i))
    print(json.dumps(of and [of[name] for name in NAMES]))
