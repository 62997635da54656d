#!/usr/bin/env bash
# Removes what the demo and the tests created on this machine, i.e. images with our labels
# and the cache folder, so that the next run starts as on a new machine. Data folders,
# packages and the Docker engine are kept.
set -euo pipefail
cache=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}

for label in relabel.learn relabel.base relabel.runtime relabel.postgres; do
    mapfile -t images < <(docker image ls -q --filter "label=$label" | sort -u)
    if [ "${#images[@]}" -gt 0 ]; then
        docker image rm -f "${images[@]}" >/dev/null
    fi
done
mapfile -t images < <(docker image ls -q --filter 'reference=relabel/demo-*' | sort -u)
if [ "${#images[@]}" -gt 0 ]; then
    docker image rm -f "${images[@]}" >/dev/null
fi
rm -rf "$cache/demo" "$cache/python"
