#!/bin/bash
# Makes the cluster on first start, with the user, password and database that the
# environment names, then runs the server.
set -euo pipefail
user=${POSTGRES_USER:-postgres}

if [ ! -s "$PGDATA/PG_VERSION" ]; then
    : "${POSTGRES_PASSWORD:?must be set}"
    initdb -U "$user" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") --auth=scram-sha-256 --auth-local=trust \
        --encoding=UTF8 --locale=C.UTF-8 -D "$PGDATA" >/dev/null
    echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
    # On a socket only, so that no client connects before its database exists.
    pg_ctl -D "$PGDATA" -w -o "-c listen_addresses= -c unix_socket_directories=/tmp" start >/dev/null
    if [ "${POSTGRES_DB:-$user}" != postgres ]; then
        createdb -h /tmp -U "$user" "${POSTGRES_DB:-$user}"
    fi
    pg_ctl -D "$PGDATA" -w -m fast stop >/dev/null
fi
exec "$@" -c listen_addresses='*' -c unix_socket_directories=/tmp
