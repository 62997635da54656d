#!/usr/bin/env bash
# python.sh REQUIREMENTS prints the python of a virtual environment with the packages
# in the file REQUIREMENTS, creating it in the cache folder if needed. Included files
# (-r) have their own environments, which this one extends, so nothing is downloaded
# twice; packages that the file lists itself hide theirs. torch is installed without its
# CUDA packages. A line "# pip: OPTIONS" in the file gives options of pip, such as
# --no-deps.
# python.sh --interpreter prints the Python that such environments are created with.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}

main() {
    local python requirements=$1 name below=() digest venv
    python=$(interpreter)
    if [ "$requirements" = --interpreter ]; then
        echo "$python"
        return
    fi
    while read -r name; do
        below+=("$("$here/python.sh" "$(dirname "$requirements")/$name")")
    done < <(sed -n 's/^-r *//p' "$requirements")
    digest=$( (echo "$python" "${below[@]}"; cat "$requirements") | sha256sum | cut -c1-12)
    venv=$cache/python/$digest
    mkdir -p "$cache/python"
    exec 9>"$venv.lock"
    flock 9
    if [ ! -e "$venv/ready" ]; then
        make_venv "$python" "$venv" "$requirements" "${below[@]}"
    fi
    echo "$venv/bin/python"
}

make_venv() {
    local python=$1 venv=$2 requirements=$3 log=$2.log
    shift 3
    echo "python: installing $(grep -cv '^ *\(#\|-\|$\)' "$requirements") packages of $requirements" >&2
    rm -rf "$venv"
    if ! { "$python" -m venv "$venv" && stand_on "$venv/bin/python" "$@" && install "$venv/bin/python" "$requirements"; } >"$log" 2>&1; then
        tail -10 "$log" >&2
        echo "python: the packages of $requirements could not be installed: is the package index reachable? (whole log: $log)" >&2
        exit 1
    fi
    touch "$venv/ready"
}

# stand_on lets a python import the packages of other environments after its own.
stand_on() {
    local python=$1 folder='import sysconfig; print(sysconfig.get_path("purelib"))' other
    shift
    for other in "$@"; do
        "$other" -c "$folder" >>"$("$python" -c "$folder")/below.pth"
    done
}

# install installs the packages. A file that lists torch lists all dependencies: asked
# for what torch needs, pip would fetch three gigabytes of CUDA.
install() {
    local python=$1 requirements=$2 own pip
    own=$(mktemp)
    grep -v '^-r' "$requirements" >"$own"
    pip=(-m pip install -q --disable-pip-version-check --no-cache-dir -r "$own")
    # shellcheck disable=SC2207 # options have no spaces
    pip+=($(sed -n 's/^# pip: //p' "$requirements"))
    if ! grep -q '^torch==' "$requirements"; then
        "$python" "${pip[@]}"
        return
    fi
    "$python" "${pip[@]}" --no-deps && "$python" "$here/torch_without_cuda.py" && "$python" -c 'import torch'
}

# The first Python ≥ 3.9 that can create environments; Debian's may lack ensurepip.
interpreter() {
    local python
    for python in "$(command -v python3 || true)" /usr/bin/python3; do
        if [ -x "$python" ] &&
            "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    echo "python: no Python 3.9 or later with venv: apt-get install -y python3 python3-venv" >&2
    return 1
}

main "$@"
