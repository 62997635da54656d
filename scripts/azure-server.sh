#!/usr/bin/env bash
# azure-server.sh prints the path of the Azure blob server that the export tests start.
# It downloads the server into the cache folder if needed.
set -euo pipefail
cache=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}
folder=$cache/azure-server
version=3.35.0

main() {
    mkdir -p "$folder"
    exec 9>"$folder.lock"
    flock 9
    [ -e "$folder/$version/ready" ] || fetch
    echo "$folder/$version/node_modules/.bin/azurite-blob"
}

# fetch installs the package without running install scripts.
fetch() {
    local work log=$folder.log
    echo "azure-server: fetching azurite $version" >&2
    command -v npm >/dev/null || {
        echo "azure-server: npm is needed to fetch azurite: apt-get install -y npm" >&2
        exit 1
    }
    work=$(mktemp -d "$folder/.$version.XXXXXX")
    if ! npm install --prefix "$work" --cache "$work/npm" --silent --no-audit --no-fund --ignore-scripts "azurite@$version" >"$log" 2>&1; then
        tail -10 "$log" >&2
        rm -rf "$work"
        echo "azure-server: azurite $version could not be fetched: is the package registry reachable? (whole log: $log)" >&2
        exit 1
    fi
    rm -rf "$work/npm" "${folder:?}/$version"
    touch "$work/ready"
    mv "$work" "$folder/$version"
}

main
