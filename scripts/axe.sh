#!/usr/bin/env bash
# axe.sh prints the path of axe-core, with which browser tests find accessibility
# problems. It downloads axe-core once, into the cache folder only, because it is
# third-party code.
set -euo pipefail
cache=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}
version=4.14.1
file=$cache/axe/axe-$version.min.js

main() {
    mkdir -p "$cache/axe"
    exec 9>"$cache/axe.lock"
    flock 9
    [ -e "$file" ] || fetch
    echo "$file"
}

fetch() {
    local work log=$cache/axe.log
    echo "axe: fetching axe-core@$version" >&2
    command -v npm >/dev/null || {
        echo "axe: npm is needed to fetch axe-core: apt-get install -y npm" >&2
        exit 1
    }
    work=$(mktemp -d "$cache/axe/.fetch.XXXXXX")
    if ! (cd "$work" && npm pack --silent --cache "$work/npm" "axe-core@$version" && tar xzf ./*.tgz package/axe.min.js) >"$log" 2>&1; then
        tail -10 "$log" >&2
        rm -rf "$work"
        echo "axe: axe-core@$version could not be fetched: is the package registry reachable? (whole log: $log)" >&2
        exit 1
    fi
    mv "$work/package/axe.min.js" "$file"
    rm -rf "$work"
}

main
