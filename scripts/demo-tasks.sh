#!/usr/bin/env bash
# Builds the demo's tasks with bin/relabel out of the releases in demo/releases.yaml and
# prints the folder that has them: tasks.jsonl, and mirrors of the packages in
# repositories. Tasks that are there are kept: a second call takes a moment.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}
list=$root/demo/releases.yaml
folder=$cache/demo

# state prints what the tasks were built from and what was built; nothing if an image is missing.
state() {
    local images
    mapfile -t images < <(sed -n 's/^ *image: *\([^ ]*\).*/\1/p' "$list")
    docker image inspect -f '{{.Id}}' "${images[@]}" 2>/dev/null &&
        sha256sum "$list" "$folder/tasks.jsonl" "$folder/report.json" "${BASH_SOURCE[0]}" && ls "$folder/repositories"
}

mkdir -p "$folder"
exec 9>"$cache/demo.lock"
flock 9 # two calls at once build one set of tasks
if ! now=$(state) || [ "$now" != "$(cat "$folder/state" 2>/dev/null)" ]; then
    # pip asks each package's build backend for its name. With the backends beside pip (0:
    # pip inverts this variable), it downloads none.
    python=$("$root/scripts/python.sh" "$root/taskbuild/releases/requirements.txt")
    PATH=$(dirname "$python"):$PATH PIP_NO_BUILD_ISOLATION=0 \
        "$root/bin/relabel" tasks build --releases "$list" --out "$folder" --runs 1 >&2
    state >"$folder/state" || true # the next call retries a pair that cannot be built now
fi
echo "$folder"
