# Prints how swebench 4.1.0 tests each version of each repository: a list of repositories, each with its parser and groups
# of versions that are tested alike. `testruns.py >../testruns.json` writes the table of package tasks.
import importlib
import importlib.util
import json
import sys
import types


def load():
    """Imports constants and parsers without the packages around them, which need more than they do."""
    folder = importlib.util.find_spec("swebench").submodule_search_locations[0]
    for name, path in {"swebench": folder, "swebench.harness": folder + "/harness", "swebench.harness.test_spec": ""}.items():
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [path]
    spec = types.ModuleType("swebench.harness.test_spec.test_spec")
    spec.TestSpec = object
    sys.modules[spec.__name__] = spec
    utils = types.ModuleType("swebench.harness.utils")
    utils.ansi_escape = str
    sys.modules[utils.__name__] = utils
    constants = importlib.import_module("swebench.harness.constants")
    parsers = importlib.import_module("swebench.harness.log_parsers")
    return constants, parsers


def listed(value):
    return [value] if isinstance(value, str) else list(value)


def run(spec, language):
    """How a version is tested: what runs before the tests, and the tests."""
    before = listed(spec.get("eval_commands", []))
    before += listed(spec.get("install", [])) if language == "py" else listed(spec.get("build", []))
    return {"before": before, "tests": listed(spec["test_cmd"])}


def main():
    constants, parsers = load()
    table = []
    for repo, versions in sorted(constants.MAP_REPO_VERSION_TO_SPECS.items()):
        parser = parsers.MAP_REPO_TO_PARSER.get(repo)
        groups = []
        for version, spec in versions.items():
            if "test_cmd" not in spec or parser is None:
                continue
            found = run(spec, constants.MAP_REPO_TO_EXT[repo])
            same = next((g for g in groups if g["before"] == found["before"] and g["tests"] == found["tests"]), None)
            if same is None:
                same = {"versions": [], **found}
                groups.append(same)
            same["versions"].append(version)
        if groups:
            table.append({
                "repo": repo, "parser": parser.__name__.removeprefix("parse_log_"),
                "files": constants.MAP_REPO_TO_EXT[repo] == "py", "runs": groups,
            })
    json.dump(table, sys.stdout, indent=1)
    print()


main()
