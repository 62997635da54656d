#!/usr/bin/env bash
# Builds the tasks of demo/languages.yaml (Go, Rust, JavaScript, Java) with the real
# registries, each candidate's tests three times without and with its fix, then checks them
# again and rolls them out with the scripted policies, in a data folder of its own. It needs
# bin/relabel and the clients go, cargo, npm and mvn. Tasks that are there are kept.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}/languages
list=$root/demo/languages.yaml

"$root/scripts/runner-images.sh" go rust node java
"$root/bin/relabel" tasks build --releases "$list" --out "$folder" --runs 3
want=$(grep -c '^- ecosystem:' "$list")
have=$(wc -l <"$folder/tasks.jsonl")
if [ "$have" != "$want" ]; then
    echo "languages: $have of $want pairs of releases are sound tasks; $folder/report.json has the reasons" >&2
    exit 1
fi
RELABEL_DATA=$(mktemp -d /var/tmp/relabel-languages.XXXXXX)
export RELABEL_DATA
chmod 755 "$RELABEL_DATA" # the local database may run as another user
trap 'rm -rf "$RELABEL_DATA"' EXIT
"$root/bin/relabel" demo --exit --listen 127.0.0.1:0 --scripted-listen 127.0.0.1:7791 --tasks "$folder/tasks.jsonl" \
    --repositories "$folder/repositories" --held-out npm__shell-quote-1.7.3
