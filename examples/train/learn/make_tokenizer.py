"""Writes the student's tokenizer, beside its chat template.

    python make_tokenizer.py [OUT]

The tokenizer is byte-level BPE without merges. Whole pieces, of the texts that the task family and relabel write, are added
tokens, so that a text is encoded as the leftmost longest pieces and single bytes. The files have the same bytes each time.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

# Tokens that only the template writes. All but the first mark who speaks, or that a message ends.
SPECIAL = ["<|pad|>", "<|user|>", "<|assistant|>", "<|tool|>", "<|end|>"]

# Calls, as relabel writes them for --tool-format text (package policy/texttools).
CALLS = [
    "<function=execute_bash>\n<parameter=command>\n",
    "<function=str_replace_editor>\n<parameter=command>\nstr_replace\n</parameter>\n<parameter=path>\n",
    "\n</parameter>\n<parameter=old_str>\n", "\n</parameter>\n<parameter=new_str>\n", "\n</parameter>\n</function>",
    "<function=finish>\n</function>",
    "Result of call 1 (execute_bash):\n", "Result of call 1 (str_replace_editor):\n",
]

# What broken calls leave in a history, which would be long in bytes.
BROKEN = ["<function=execute_bash>\n", "<function=str_replace_editor>\n", "</function>", "<parameter=command>\n", "<parameter=path>\n",
          "\n</parameter>\n", "&lt;parameter=command>\n", "&lt;parameter=path>\n", "&lt;parameter=old_str>\n", "&lt;parameter=new_str>\n",
          "\n&lt;/parameter>\n", "&lt;function=", "&lt;/function>", "str_replace"]

COMMANDS = ["cat ", "grep -n 'def ", "' *.py", "python3 check.py", "git checkout "]

CODE = [".py", "def ", "(a, b):", "    return ", "from ", " import ", "(a, b)", " + ", " - ", " * ", " & ", " | "]

# What the issue, the tools of the scaffold "bare", git and check.py say.
SAID = [
    " returns ", " but it should return ", ". Fix the bug.",
    "all passed", "FAIL ", ": got ", ", want ",
    "The file ", " has been edited.", "No replacement was performed: ", "old_str not found in ", "old_str is not unique in ", " does not exist",
    "(no output)", "cat: ", ": No such file or directory", "could not parse the tool call", "unknown tool",
    "Updated ", " path", "s from the index", " from the index", "error: pathspec '", "' did not match any file(s) known to git",
    "SyntaxError: ", " line ", "NameError", "TypeError", "ImportError", "RecursionError", "AttributeError", "UnboundLocalError",
    "bash: ", "line 1: ", ": command not found",
]

CONFIG = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|end|>", "pad_token": "<|pad|>",
          "clean_up_tokenization_spaces": False, "model_max_length": 1024}


def pieces():
    """All whole pieces."""
    with open(os.path.join(HERE, "words.json")) as f:
        words = json.load(f)
    return CALLS + BROKEN + COMMANDS + CODE + SAID + words["adjectives"] + ["_" + noun for noun in words["nouns"]] + words["files"]


def byte_characters():
    """The character by which byte-level BPE writes each byte: a printable one of Latin-1 is itself."""
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return {**{byte: chr(byte) for byte in visible}, **{byte: chr(256 + i) for i, byte in enumerate(hidden)}}


def tokenizer():
    """The content of tokenizer.json: 256 bytes, then the special tokens, then the pieces."""
    added = [(text, True) for text in SPECIAL] + [(text, False) for text in pieces()]
    assert len({text for text, _ in added}) == len(added)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    characters = byte_characters()
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": 256 + i, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
                          "normalized": False, "special": special} for i, (text, special) in enumerate(added)],
        "normalizer": None, "pre_tokenizer": byte_level, "post_processor": None, "decoder": byte_level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": {characters[byte]: byte for byte in range(256)}, "merges": []},
    }


def main(out=os.path.join(HERE, "tokenizer")):
    os.makedirs(out, exist_ok=True)
    for name, content in {"tokenizer.json": tokenizer(), "tokenizer_config.json": CONFIG}.items():
        with open(os.path.join(out, name), "w", encoding="utf-8", newline="\n") as f:
            f.write(json.dumps(content, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
