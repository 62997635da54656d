"""Print what the files below the folders define and import, one JSON object per file.

It runs with Python 3.8 and later, and with Python 2.7, whose ast has no ends of lines.
"""
import ast
import json
import os
import sys

FUNCTIONS = (ast.FunctionDef, getattr(ast, "AsyncFunctionDef", ast.FunctionDef))


def records(tree):
    definitions, imports = [], []
    stack = [(tree, "", False)]
    while stack:
        node, name, in_class = stack.pop()
        if isinstance(node, FUNCTIONS + (ast.ClassDef,)):
            is_class = isinstance(node, ast.ClassDef)
            kind = "class" if is_class else "method" if in_class else "function"
            start = min([node.lineno] + [d.lineno for d in node.decorator_list])
            name = name + "." + node.name if name else node.name
            definitions.append([kind, name, start, getattr(node, "end_lineno", 0)])
            in_class = is_class
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.append([node.lineno, getattr(node, "end_lineno", 0)])
        children = [(child, name, in_class) for child in ast.iter_child_nodes(node)]
        stack.extend(reversed(children))
    return definitions, imports


def main():
    sys.setrecursionlimit(10000)
    for folder in sys.argv[1:]:
        for parent, folders, files in os.walk(folder):
            folders[:] = sorted(set(folders) - {"site-packages"})
            for name in sorted(files):
                path = os.path.join(parent, name)
                if not name.endswith(".py") or not os.path.isfile(path):
                    continue
                with open(path, "rb") as file:
                    source = file.read()
                result = {"path": path}
                try:
                    result["definitions"], result["imports"] = records(ast.parse(source))
                except Exception as error:
                    result["error"] = type(error).__name__ + ": " + str(error)
                print(json.dumps(result))


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    main()
