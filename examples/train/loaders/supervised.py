"""The supervised tokens of rows, each with a hash of the tokens before it: what two loaders must have in common."""
import collections
import hashlib
import importlib.metadata
import json
import os
import struct
import subprocess
import sys
import tempfile


class Supervised:
    def __init__(self):
        self.pairs = collections.Counter()

    def add(self, ids, labels):
        """Adds a row; labels have the index of their ids, and are -100 where not supervised."""
        before = hashlib.sha256()
        for token, label in zip(ids, labels, strict=True):
            if label != -100:
                self.pairs[f"{before.hexdigest()[:16]} {label}"] += 1
            before.update(struct.pack("<i", token))

    def add_shifted(self, ids, targets):
        """Adds a row whose targets have the index of the token before them."""
        self.add(list(ids) + [targets[-1] if targets[-1] != -100 else 0], [-100] + list(targets))

    def add_masked(self, ids, mask):
        """Adds a row with a mask that has the index of the ids."""
        self.add(ids, [token if on else -100 for token, on in zip(ids, mask, strict=True)])

    def show(self, *packages, checkout=None):
        """Prints them with the versions of the packages and the commit of the checkout that they come from, and ends the program."""
        versions = {name: importlib.metadata.version(name) for name in packages}
        if checkout:
            versions["commit"] = subprocess.run(["git", "-C", checkout, "rev-parse", "HEAD"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        print("\nsupervised tokens: " + json.dumps({"versions": versions, "pairs": self.pairs}), flush=True)
        os._exit(0)  # some loaders leave threads that never end


def arguments(script, program, *given):
    """The arguments with which a script of an export would start a program: one of this name that shows them is found first."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, program)
        with open(name, "w") as f:
            f.write(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
        os.chmod(name, 0o755)
        path = folder + os.pathsep + os.environ["PATH"]
        return json.loads(subprocess.run(["sh", script, *given], env=dict(os.environ, PATH=path), stdout=subprocess.PIPE, check=True).stdout)
