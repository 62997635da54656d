#!/usr/bin/env bash
# s3-server.sh prints the path of the S3 server that the export tests start on a folder.
# It builds the server into the cache folder if needed, which takes some minutes.
set -euo pipefail
cache=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}
folder=$cache/s3-server
module=github.com/versity/versitygw/cmd/versitygw
version=v1.8.0

main() {
    mkdir -p "$folder"
    exec 9>"$folder.lock"
    flock 9
    [ -x "$folder/$version/versitygw" ] || build
    echo "$folder/$version/versitygw"
}

build() {
    local work log=$folder.log
    echo "s3-server: building versitygw $version, once" >&2
    work=$(mktemp -d "$folder/.$version.XXXXXX")
    if ! (cd "$work" && env -u GOFLAGS GOBIN="$work" go install -trimpath -ldflags '-s -w' "$module@$version") >"$log" 2>&1; then
        tail -10 "$log" >&2
        rm -rf "$work"
        echo "s3-server: versitygw $version could not be built: is the module proxy reachable? (whole log: $log)" >&2
        exit 1
    fi
    rm -rf "${folder:?}/$version"
    mv "$work" "$folder/$version"
}

main
