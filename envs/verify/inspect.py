# Prints what the interpreter of the tests imports from where, before any code of a
# submission is there. The argument is the folder of the repository. Each line is a word and
# a value: "name" and a top-level module that is installed, "path" and a folder of the
# repository that modules are imported from, "plugin" and a distribution with plugins of
# pytest. It runs on every Python from 2.7.
import os
import sys

here = os.path.realpath(sys.argv[1])
names = set(sys.builtin_module_names) | set(getattr(sys, "stdlib_module_names", ()))
names |= set(["sitecustomize", "usercustomize", "pytest", "_pytest", "py", "pluggy", "iniconfig"])


def show(word, value):
    if "\n" not in value and "\0" not in value:
        sys.stdout.write("%s %s\0" % (word, value))


def plugins(folder):
    for entry in os.listdir(folder):
        if entry.endswith((".dist-info", ".egg-info")):
            points = os.path.join(folder, entry, "entry_points.txt")
        elif entry.endswith(".egg"):
            points = os.path.join(folder, entry, "EGG-INFO", "entry_points.txt")
        else:
            continue
        try:
            with open(points) as f:
                if "[pytest11]" in f.read():
                    show("plugin", entry)
        except (IOError, OSError, ValueError):
            pass


def modules(folder):
    for entry in os.listdir(folder):
        module, dot, suffix = entry.partition(".")
        if not dot and os.path.isdir(os.path.join(folder, entry)) or suffix.split(".")[-1] in ("py", "pyc", "so", "pyd"):
            names.add(module)


def configured(file):
    try:
        with open(os.path.join(here, file)) as f:
            text = f.read()
        if "pythonpath" not in text:
            return
        import re  # takes as long as the rest of this program

        for value in re.findall(r"(?m)^[ \t]*pythonpath[ \t]*=(.*(?:\n[ \t]+.*)*)", text):
            for folder in re.findall(r"[\w./-]+", value):
                show("path", os.path.normpath(folder))
    except (IOError, OSError, ValueError):
        pass


folders = [os.path.realpath(p) for p in sys.path[1:] if p]
for folder in folders + [here, os.path.join(here, "src"), os.path.join(here, "lib")]:
    inside = (folder + os.sep).startswith(here + os.sep)
    try:
        plugins(folder)
        if not inside:
            modules(folder)
    except OSError:
        continue
    if inside and folder in folders:
        show("path", os.path.relpath(folder, here))
for file in ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"):
    configured(file)
for name in sorted(names):
    show("name", name)
