#!/usr/bin/env bash
# large-repository.sh prints a folder with the bare git repository large.git, which benchmarks index: a
# commit for each of some releases of Home Assistant, with about 6,000 Python files, tagged with its
# version. It makes the repository if it is missing. It is third-party code, so it stays in the cache
# folder.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}
folder=$cache/large-repository
package=homeassistant
versions=(2023.6.0 2023.6.1 2023.6.2)

main() {
    mkdir -p "$cache"
    exec 9>"$folder.lock"
    flock 9
    [ -e "$folder/large.git" ] || make
    echo "$folder"
}

# make commits what the wheel of each release contains.
make() {
    local work version log=$folder.log
    work=$(mktemp -d "$cache/.large-repository.XXXXXX")
    echo "large-repository: fetching ${#versions[@]} releases of $package" >&2
    git init -q "$work/tree"
    for version in "${versions[@]}"; do
        if ! release "$work" "$version" >"$log" 2>&1; then
            tail -10 "$log" >&2
            rm -rf "$work"
            echo "large-repository: $package $version could not be fetched: is the package index reachable? (whole log: $log)" >&2
            exit 1
        fi
    done
    mkdir -p "$folder"
    git clone -q --mirror --no-local "$work/tree" "$work/large.git"
    mv "$work/large.git" "$folder/large.git"
    rm -rf "$work"
}

# release replaces the tree by a release and commits it.
release() {
    local work=$1 version=$2 python wheels=$1/wheels-$2
    python=$("$here/python.sh" --interpreter)
    "$python" -m pip download -q --no-deps --only-binary :all: --python-version 3.12 --disable-pip-version-check -d "$wheels" "$package==$version"
    cd "$work/tree"
    git rm -q -r --ignore-unmatch .
    "$python" -m zipfile -e "$wheels"/*.whl .
    git add -A
    git -c user.name=relabel -c user.email=relabel@localhost commit -q --date=2023-06-01T00:00:00Z -m "$version"
    git tag "$version"
}

main
