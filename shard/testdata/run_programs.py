"""Runs programs one after the other, each in a process of its own that begins with the large packages imported.

    run_programs.py < JSON list of [program, argument…]

Prints a line of JSON for each: its exit code, what it said, and its seconds.
"""
import json
import os
import runpy
import sys
import tempfile
import time
import traceback

from datasets import load_dataset  # noqa: F401
from torch.nn.attention.flex_attention import create_block_mask  # noqa: F401
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen3ForCausalLM  # noqa: F401
from trl import SFTTrainer  # noqa: F401


def run(argv):
    """Runs a program as python would, in this process, and returns its exit code."""
    sys.argv, sys.path[0] = argv, os.path.dirname(argv[0])
    try:
        runpy.run_path(argv[0], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


for argv in json.load(sys.stdin):
    with tempfile.TemporaryFile("w+") as said:
        begin, child = time.time(), os.fork()
        if child == 0:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            code = run(argv)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        _, status = os.waitpid(child, 0)
        said.seek(0)
        print(json.dumps({"code": os.waitstatus_to_exitcode(status), "said": said.read(), "seconds": round(time.time() - begin, 1)}), flush=True)
