"""Lets the torch that PyPI has for Linux be imported without the CUDA packages that it asks for: 0.5 GB to fetch in the place of 3.

    python torch_without_cuda.py      the Python that has torch; needs gcc and objdump

For each library that torch names and this machine has not, one of that name is put beside torch's own. It has the functions that
torch looks for, and each answers "no device": 100 in CUDA. What runs on the CPU calls none of them.
"""
import collections
import ctypes
import glob
import importlib.util
import os
import re
import subprocess
import tempfile

SYMBOL = re.compile(r"^[0-9a-f]+ (.{7}) (\S+)\s+[0-9a-f]+\s+(?:\(?([^\s()]+)\)?\s+)?(\S+)$", re.M)
CUDA = re.compile(r"_*(cu|nv|nccl)[A-Za-z]")
SOURCE = """
int none(void) { return 100; }
const char *text(void) { return "no device"; }
"""


def objdump(option, name):
    return subprocess.run(["objdump", option, name], capture_output=True, text=True, check=True).stdout


def is_here(library, folder):
    """Whether the loader finds a library, beside torch's own or on the machine."""
    if os.path.exists(os.path.join(folder, library)):
        return True
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def lacking(names, folder):
    """Missing library → version → symbols. A symbol of no version may be any library's: each has them all, under None."""
    wanted, version_of, undefined = {}, {}, set()
    for name in names:
        head = objdump("-p", name)
        for library in re.findall(r"NEEDED\s+(\S+)", head):
            if library not in wanted and not is_here(library, folder):
                wanted[library] = collections.defaultdict(set)
        for library, versions in re.findall(r"required from (\S+):\n((?:\s+0x.*\n)+)", head):
            for version in re.findall(r"(\S+)$", versions, re.M):
                version_of[version] = library
        for flags, section, version, symbol in SYMBOL.findall(objdump("-T", name)):
            if section == "*UND*" and "w" not in flags:
                undefined.add((symbol, version))
    plain = {symbol for symbol, version in undefined if version in ("", "Base") and CUDA.match(symbol)}  # Base: objdump's word for none
    for versions in wanted.values():
        versions[None] = plain
    for symbol, version in undefined:
        if version_of.get(version) in wanted:
            wanted[version_of[version]][version].add(symbol)
    return wanted


def build(library, versions, folder):
    """Compiles a library that has these symbols in these versions."""
    symbols = sorted(set().union(*versions.values()))
    alias = lambda s: f'void {s}(void) __attribute__((alias("{"text" if re.search("Error(String|Name)", s) else "none"}")));\n'
    script = "".join(f"{version} {{ global: {'; '.join(sorted(names))}; }};\n" for version, names in versions.items() if version and names)
    with tempfile.TemporaryDirectory() as work:
        source, exports = os.path.join(work, "none.c"), os.path.join(work, "exports")
        with open(source, "w") as f:
            f.write(SOURCE + "".join(map(alias, symbols)))
        with open(exports, "w") as f:
            f.write(script)
        subprocess.run(["gcc", "-w", "-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{library}", *([f"-Wl,--version-script={exports}"] if script else []),
                        "-o", os.path.join(folder, library), source], check=True)


def main():
    root = importlib.util.find_spec("torch").submodule_search_locations[0]
    folder = os.path.join(root, "lib")
    names = glob.glob(os.path.join(folder, "*.so*")) + glob.glob(os.path.join(root, "_C.*.so"))
    for library, versions in lacking(names, folder).items():
        build(library, versions, folder)


if __name__ == "__main__":
    main()
