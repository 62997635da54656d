#!/usr/bin/env bash
# Builds the demo's tasks with bin/relabel out of the releases in demo/releases.yaml and
# prints the folder that has them: tasks.jsonl, and mirrors of the packages in
# repositories. Tasks that are there are kept: a second call takes a moment.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}
folder=$cache/demo

mkdir -p "$folder"
exec 9>"$cache/demo.lock"
flock 9 # two calls at once build one set of tasks
# pip asks each package's build backend for its name. With the backends beside pip (0:
# pip inverts this variable), it downloads none.
python=$("$root/scripts/python.sh" "$root/taskbuild/releases/requirements.txt")
PATH=$(dirname "$python"):$PATH PIP_NO_BUILD_ISOLATION=0 \
    "$root/bin/relabel" tasks build --releases "$root/demo/releases.yaml" --out "$folder" --runs 1 >&2
echo "$folder"
