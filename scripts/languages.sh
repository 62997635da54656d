#!/usr/bin/env bash
# Builds the tasks of demo/languages.yaml (Go, Rust, JavaScript, Java) with the real
# registries, each candidate's tests three times without and with its fix, then validates
# and imports them, and rolls out each with the scripted teacher, in a data folder of its
# own. It fails unless all are sound and the teacher resolves all. It needs bin/relabel and
# the clients go, cargo, npm and mvn. Tasks that are there are kept.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}/languages
list=$root/demo/languages.yaml
relabel=$root/bin/relabel
models=127.0.0.1:7791
want=$(grep -c '^- ecosystem:' "$list")

main() {
    "$root/scripts/runner-images.sh" go rust node java
    build
    "$relabel" tasks validate "$folder/tasks.jsonl"
    RELABEL_DATA=$(mktemp -d /var/tmp/relabel-languages.XXXXXX)
    export RELABEL_DATA
    chmod 755 "$RELABEL_DATA" # the local database may run as another user
    trap finish EXIT
    roll_out
}

# build builds the tasks, also those whose image could not be made before.
build() {
    "$relabel" tasks build --again --releases "$list" --out "$folder" --runs 3
    local have
    have=$(wc -l <"$folder/tasks.jsonl")
    if [ "$have" != "$want" ]; then
        echo "languages: $have of $want pairs of releases are sound tasks; $folder/report.json has the reasons" >&2
        exit 1
    fi
}

# roll_out has the scripted teacher solve each task.
roll_out() {
    background "Ctrl-C ends" scripted --tasks "$folder/tasks.jsonl" --listen "$models"
    background "relabel is at" serve --listen 127.0.0.1:0
    "$relabel" tasks import "$folder/tasks.jsonl" --name languages
    "$relabel" policy add teacher --base-url "http://$models/v1" --model scripted-teacher
    "$relabel" policy add student --base-url "http://$models/v1" --model scripted-student-0.5
    "$relabel" run create languages --taskset languages --teacher teacher
    "$relabel" run iterate languages --student student --beta 1 --count "$want"
    "$relabel" run trajectories languages | tee "$RELABEL_DATA/trajectories"
    local resolved
    resolved=$(awk '$5 == "done" && $7 == "finish" && $8 == "yes" && $9 == "passed" && $10 == "yes"' "$RELABEL_DATA/trajectories" | wc -l)
    if [ "$resolved" != "$want" ]; then
        echo "languages: the scripted teacher resolved $resolved of $want tasks" >&2
        exit 1
    fi
    echo "languages: $want tasks are sound, and the scripted teacher resolved all of them"
}

# background TEXT COMMAND… starts a command of relabel and waits until it says TEXT.
background() {
    local text=$1 log=$RELABEL_DATA/$2.log
    shift
    "$relabel" "$@" >"$log" 2>&1 &
    until grep -q "$text" "$log"; do
        if ! kill -0 $! 2>/dev/null; then
            cat "$log" >&2
            exit 1
        fi
        sleep 0.2
    done
}

# finish ends what runs in the background and removes the data.
finish() {
    local running
    mapfile -t running < <(jobs -p)
    if [ ${#running[@]} -gt 0 ]; then
        kill "${running[@]}" 2>/dev/null || true
        wait "${running[@]}" || true
    fi
    rm -rf "$RELABEL_DATA"
}

main
