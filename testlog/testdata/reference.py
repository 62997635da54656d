# Reads logs with the parsers of swebench. A case is a JSON object on a line of standard input: parser, id, version and
# log. For each it prints an object: the statuses of each test in the order in which the parser finds them, or null if
# the parser raises an error.
import ast
import contextlib
import importlib.util
import io
import json
import sys
import types


class Recorder(dict):
    """A dictionary that also keeps the values that a later one replaces."""

    def __init__(self):
        super().__init__()
        self.all = {}

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.all.setdefault(key, []).append(value)


class Recording(ast.NodeTransformer):
    """Lets the parsers collect their results in a Recorder."""

    def visit_Assign(self, node):
        names = [t.id for t in node.targets if isinstance(t, ast.Name)]
        if names in (["test_status_map"], ["test_results"]) and isinstance(node.value, ast.Dict):
            node.value = ast.Call(ast.Name("Recorder", ast.Load()), [], [])
        return node


def package(name, folder):
    module = types.ModuleType(name)
    module.__path__ = [folder]
    sys.modules[name] = module


def load():
    """Imports the parsers without the packages around them, which need more than they do."""
    folder = importlib.util.find_spec("swebench").submodule_search_locations[0]
    package("swebench", folder)
    package("swebench.harness", folder + "/harness")
    package("swebench.harness.log_parsers", folder + "/harness/log_parsers")
    for language in ["python", "javascript", "c", "go", "java", "php", "ruby", "rust"]:
        name = "swebench.harness.log_parsers." + language
        with open(f"{folder}/harness/log_parsers/{language}.py") as source:
            tree = ast.fix_missing_locations(Recording().visit(ast.parse(source.read())))
        module = types.ModuleType(name)
        module.Recorder = Recorder
        sys.modules[name] = module
        exec(compile(tree, name, "exec"), module.__dict__)
    with open(folder + "/harness/log_parsers/__init__.py") as source:
        names = {}
        exec(compile(source.read(), "registry", "exec"), names)
    return names["PARSER_REGISTRY"]


def main():
    registry = load()
    if sys.argv[1:] == ["names"]:
        print(json.dumps(sorted(registry)))
        return
    for line in sys.stdin:
        case = json.loads(line)
        task = types.SimpleNamespace(instance_id=case["id"], version=case["version"])
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                found = registry[case["parser"]](case["log"], task)
            print(json.dumps(found.all))
        except Exception:
            print("null")


main()
