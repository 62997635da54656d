"""Reads the token views of an export by docs/shard-format.md alone and compares them with the pairs they are to train on.

    check_shards.py DIR PAIRS.json [--alter]

PAIRS.json is a list of [prompt ids, answer ids, weights], one for each label. Every row must obey its view's rules, and each view
must hold exactly these pairs, the prefix of a token being what the row's own columns let it see. With --alter it also changes one
number of each column of some rows and demands that each change is found. Prints one line; exits 1 with the first fault.
"""
import collections, hashlib, json, os, random, struct, sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

I32, I8, F32 = (pa.list_(t) for t in (pa.int32(), pa.int8(), pa.float32()))
SPAN = {"trajectory": pa.string(), "turn": pa.int32(), "kind": pa.string(), "start": pa.int32(), "length": pa.int32(), "weight": pa.float32(),
        "iteration": pa.int32(), "beta": pa.float32(), "ids": pa.string()}
FIRST = {"row_id": pa.string(), "loss_weights": F32, "spans": pa.list_(pa.struct(SPAN.items()))}
COLUMNS = {
    "linear": FIRST | {"input_ids": I32, "labels": I32, "attention_mask": I8, "loss_mask": I8},
    "packed": FIRST | {"input_ids": I32, "labels": I32, "position_ids": I32, "seq_lengths": I32, "seq_start_id": I32, "loss_mask": I8},
    "tree": FIRST | {"tree_ids": I32, "tree_labels": I32, "position_ids": I32, "subtree_end": I32, "node_start": I32, "node_parent": I32, "node_kind": I32},
}
MASK = {"linear": "token", "packed": "rolled-1", "tree": "none"}


class Fault(Exception):
    pass


def must(condition, text):
    if not condition:
        raise Fault(text)


def bare_type(t):
    """A type without what Arrow adds to it: whether fields may be null, and what a list calls its element."""
    if pa.types.is_list(t):
        return ("list", bare_type(t.value_type))
    if pa.types.is_struct(t):
        return ("struct", tuple((f.name, bare_type(f.type)) for f in t))
    return str(t)


def read(folder, manifest):
    """view → rows, with the files checked against the manifest."""
    rows = collections.defaultdict(list)
    for entry in manifest["files"]:
        if entry["view"] in ("messages", "preference"):
            continue
        name, view = os.path.join(folder, entry["path"]), entry["view"]
        data = open(name, "rb").read()
        must(len(data) == entry["bytes"] and hashlib.sha256(data).hexdigest() == entry["sha256"], f"{name} is not what the manifest says")
        file = pq.ParquetFile(name)
        want, got = dict(COLUMNS[view]), dict(zip(file.schema_arrow.names, file.schema_arrow.types))
        must(list(got) == list(want) and all(bare_type(got[c]) == bare_type(want[c]) for c in want), f"{name} has columns {got}")
        meta = file.schema_arrow.metadata
        must((meta[b"relabel.view"].decode(), meta[b"relabel.loss_mask"].decode()) == (view, MASK[view]), f"{name} has metadata {meta}")
        for g in range(file.num_row_groups):
            chunks = [file.metadata.row_group(g).column(c) for c in range(file.metadata.num_columns)]
            must(all(c.compression == "ZSTD" for c in chunks) and sum(c.total_compressed_size for c in chunks) <= 16 << 20, f"{name}: row group {g}")
        part = file.read().to_pylist()
        ids = "tree_ids" if view == "tree" else "input_ids"
        labels = "tree_labels" if view == "tree" else "labels"
        must((entry["rows"], entry["tokens"]) == (len(part), sum(len(r[ids]) for r in part)), f"{name}: counts")
        must(entry["supervised_tokens"] == sum(x != -100 for r in part for x in r[labels]), f"{name}: supervised tokens")
        rows[view] += part
    return rows


def sequences(view, row):
    """(start, length) of each sequence of a linear or packed row, after checking its own columns."""
    n = len(row["input_ids"])
    mask = [int(x != -100) for x in row["labels"]]
    if view == "linear":
        must(row["attention_mask"] == [1] * n and row["loss_mask"] == mask, "a mask")
        return [(0, n)]
    lengths = row["seq_lengths"]
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    must(sum(lengths) == n and min(lengths) > 0 and row["seq_start_id"] == starts, "where sequences start")
    must(row["position_ids"] == [i for k in lengths for i in range(k)], "positions")
    must(row["loss_mask"] == [x for a, k in zip(starts, lengths) for x in mask[a + 1 : a + k] + [0]], "the rolled mask")
    return list(zip(starts, lengths))


def trees(row, pad):
    """Where the tokens stand that one of a tree row sees before it, after checking that nodes and mask say the same."""
    ids, end, start, parent, kind = (row[c] for c in ("tree_ids", "subtree_end", "node_start", "node_parent", "node_kind"))
    n, count = len(ids), len(row["node_start"])
    must(len(parent) == len(kind) == count and start[0] == 0 and all(a < b for a, b in zip(start, start[1:] + [n])), "nodes do not tile the row")
    stop, above, below, supervised = start[1:] + [n], [None] * count, [0] * count, [False] * count
    for i in range(count):
        p = parent[i]
        must(-1 <= p < i and kind[i] in (0, 1, 2), f"node {i}")
        must(p == -1 or kind[p] == 0, f"node {i} lies below a leaf")
        if kind[i] == 2:
            must(i == count - 1 and p == -1, "padding is not the end")
            must(ids[start[i]:] == [pad] * (n - start[i]) and row["position_ids"][start[i]:] == [0] * (n - start[i]), "padding")
            must(end[start[i]:] == list(range(start[i] + 1, n + 1)), "padding sees")
            continue
        above[i] = np.array([], int) if p == -1 else np.append(above[p], np.arange(start[p], stop[p]))
        depth = len(above[i])
        must(row["position_ids"][start[i] : stop[i]] == list(range(depth, depth + stop[i] - start[i])), f"positions of node {i}")
        a, root = i, i
        while a != -1:
            below[a], root, a = stop[i], a, parent[a]
        supervised[root] |= any(x != -100 for x in row["tree_labels"][start[i] : stop[i]])
    for i in range(count):
        must(row["tree_labels"][start[i]] == -100, f"node {i} begins with a label")
        if kind[i] != 2:
            must(end[start[i] : stop[i]] == [below[i]] * (stop[i] - start[i]), f"subtree of node {i}")
        must(kind[i] == 2 or parent[i] != -1 or supervised[i], f"tree {i} has no label")
    for i in range(count):  # the mask alone: all tokens of a node have one end, so it hides or shows whole nodes
        path, a = set(), parent[i]
        while a != -1:
            path, a = path | {a}, parent[a]
        for j in range(i):
            must(end[start[j]] >= stop[i] if j in path else end[start[j]] <= start[i], f"the mask of node {i} over node {j}")
    node = np.repeat(np.arange(count), np.diff(start + [n]))
    return lambda q: np.append(above[node[q]], np.arange(start[node[q]], q)) if kind[node[q]] != 2 else np.array([], int)


def labelled(view, row, stop, pad):
    """(prefix hash, target, weight) of each supervised token of a row that obeys its rules."""
    ids, labels = (row["tree_ids"], row["tree_labels"]) if view == "tree" else (row["input_ids"], row["labels"])
    n, weights = len(ids), row["loss_weights"]
    aligned = [c for c in row if c in ("labels", "loss_weights", "attention_mask", "loss_mask", "position_ids", "tree_labels", "subtree_end")]
    must(n > 0 and all(len(row[c]) == n for c in aligned), "lengths")
    spans = sorted(row["spans"], key=lambda s: s["start"])
    tiled = [q for s in spans for q in range(s["start"], s["start"] + s["length"])]
    must(tiled == [q for q in range(n) if labels[q] != -100], "spans and labels")
    must(all(labels[q] == ids[q] for q in tiled), "a label differs from its id")
    must(all(w == 0 for q, w in enumerate(weights) if labels[q] == -100), "a weight without a label")
    for s in spans:
        own = weights[s["start"] : s["start"] + s["length"]]
        must(ids[s["start"] + s["length"] - 1] == stop, "a span without the stop token")
        must(s["weight"] == (own[0] if len(set(own)) == 1 else None), "a span's weight")
        must(s["kind"] in ("trunk", "leaf") and s["ids"] in ("rendered", "served") and s["turn"] >= 1 and s["iteration"] >= 1, "a span")
    if view == "tree":
        seen = trees(row, pad)
        kinds = np.repeat(row["node_kind"], np.diff(row["node_start"] + [n]))
        must(all(("trunk", "leaf")[kinds[s["start"]]] == s["kind"] for s in spans), "a span's kind")
        prefix = lambda q: array[seen(q)]
    else:
        runs = sequences(view, row)
        must(all(labels[a] == -100 and any(labels[q] != -100 for q in range(a, a + k)) for a, k in runs), "a sequence")
        first = np.repeat([a for a, _ in runs], [k for _, k in runs])
        prefix = lambda q: array[first[q] : q]
    array = np.array(ids, "<i4")
    for q in tiled:
        must(view != "tree" or seen(q)[-1:].tolist() == [q - 1], f"token {q} does not follow its predecessor")
        yield key(prefix(q), ids[q], weights[q])


def key(prefix, target, weight):
    return hashlib.sha1(prefix.tobytes()).digest(), target, struct.pack("<f", weight)


def altered(row, column):
    """A copy of a row with one number of a column changed, or None where there is none to change."""
    copy = json.loads(json.dumps(row))
    if not copy[column]:
        return None
    places = range(len(copy[column]))
    if column == "node_start":  # an only child may begin a token later
        places = [i for i in places if copy["node_parent"][i] == -1 or copy["node_parent"].count(copy["node_parent"][i]) > 1]
    i = random.choice(places)
    if column == "spans":
        field = random.choice(["start", "length", "kind"])
        copy["spans"][i][field] = "padding" if field == "kind" else copy["spans"][i][field] + 1
    else:
        copy[column][i] += 1
    return copy


def main(folder, pairs, alter):
    manifest = json.load(open(os.path.join(folder, "manifest.json")))
    stop, pad = manifest["tokenizer"]["stop_id"], manifest["tokenizer"]["pad_id"]
    want = collections.Counter()
    for prompt, answer, weights in json.load(open(pairs)):
        whole = np.array(prompt + answer, "<i4")
        for i, (target, w) in enumerate(zip(answer, weights), len(prompt)):
            want[key(whole[:i], target, w)] += 1
    found = 0
    for view, rows in read(folder, manifest).items():
        must(len({r["row_id"] for r in rows}) == len(rows), f"{view}: two rows of one name")
        sets = []
        for r in rows:
            must(len(r["tree_ids" if view == "tree" else "input_ids"]) <= manifest["capacity"], f"{view} {r['row_id']}: over the capacity")
            try:
                sets.append(collections.Counter(labelled(view, r, stop, pad)))
            except Fault as e:
                raise Fault(f"{view} {r['row_id']}: {e}")
        must(sum(sets, collections.Counter()) == want, f"{view} does not hold the pairs")
        for r, own in list(zip(rows, sets))[:4] if alter else ():
            for column in r:
                if column == "row_id" or (bad := altered(r, column)) is None:
                    continue
                try:
                    same = collections.Counter(labelled(view, bad, stop, pad)) == own
                except (Fault, IndexError, KeyError):
                    same = False
                must(not same, f"{view} {r['row_id']}: a changed {column} was not found")
                found += 1
    print(f"{sum(want.values())} supervised tokens in {', '.join(manifest['views'])}; {found} alterations found")


if __name__ == "__main__":
    random.seed(1)
    try:
        main(sys.argv[1], sys.argv[2], "--alter" in sys.argv[3:])
    except Fault as e:
        sys.exit(str(e))
