"""Records the executed lines of a repository's Python files, from the start of each Python process.

Python imports it as sitecustomize, because its folder is first in PYTHONPATH. Each line is written to
the file RELABEL_COVERAGE as soon as it is executed for the first time in a process, so that no way to
end the process loses it.
"""
import importlib.machinery
import importlib.util
import os
import sys
import threading

_root = os.path.join(os.path.realpath(os.environ["RELABEL_COVERAGE_ROOT"]), "")
_out = os.open(os.environ["RELABEL_COVERAGE"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
_seen = set()
_names = {}


def _name(file):
    """Returns the path of a file in the repository, or None."""
    if file not in _names:
        full = os.path.realpath(file)
        _names[file] = full[len(_root):] if full.startswith(_root) else None
    return _names[file]


def _note(code, line):
    name = _name(code.co_filename)
    if name is not None and (name, line) not in _seen:
        _seen.add((name, line))
        try:
            os.write(_out, ("%d %s\n" % (line, name)).encode("utf-8", "surrogateescape"))
        except OSError:
            pass  # a test has closed the file


def _trace(frame, event, argument):
    if event == "call" and _name(frame.f_code.co_filename) is None:
        return None
    if event == "line":
        _note(frame.f_code, frame.f_lineno)
    return _trace


def _start():
    if hasattr(sys, "monitoring"):
        monitoring = sys.monitoring
        tool = 4  # one of those that no other tool has
        monitoring.use_tool_id(tool, "relabel")

        def on_line(code, line):
            _note(code, line)
            return monitoring.DISABLE

        monitoring.register_callback(tool, monitoring.events.LINE, on_line)
        monitoring.set_events(tool, monitoring.events.LINE)
        return
    threading.settrace(_trace)
    sys.settrace(_trace)


def _import_hidden():
    """Imports the sitecustomize that this file hides."""
    here = os.path.dirname(os.path.abspath(__file__))
    others = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


try:
    _import_hidden()
except Exception:
    pass
_start()
