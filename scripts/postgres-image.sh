#!/usr/bin/env bash
# Makes relabel/postgres:15, a stand-in for the official postgres:15 on machines that
# cannot pull it: Debian's server with an entry point that reads the same
# POSTGRES_USER, POSTGRES_PASSWORD and POSTGRES_DB. Root only, about a minute and a half.
set -euo pipefail
image=relabel/postgres:15
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if docker image inspect "$image" >/dev/null 2>&1; then
    exit
fi
if [ "$(id -u)" != 0 ]; then
    echo "postgres image: only root can bootstrap $image: sudo $0" >&2
    exit 1
fi
"$here/bootstrap-image.sh" relabel/postgres-base:15 postgresql-15 --change 'LABEL relabel.postgres=1'
docker build -q -t "$image" "$here/postgres" >/dev/null
docker image rm relabel/postgres-base:15 >/dev/null
echo "postgres image: $image made" >&2
