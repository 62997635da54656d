#!/usr/bin/env bash
# dev.sh [OPTION …] serves relabel out of this checkout and follows its changes. Pages read
# templates and static files at each request. After a change of another file that the program is
# made of, it is built and started again; while a build fails, the earlier program goes on. The
# options are those of `relabel serve`; without any: --no-work. The data folder is RELABEL_DATA, or
# var/dev in the checkout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export RELABEL_DATA=${RELABEL_DATA:-$PWD/var/dev} RELABEL_WEB_DIR=$PWD/web
[ $# -gt 0 ] || set -- --no-work
begun=$(mktemp) # as old as the start of the last build
program=

main() {
    trap 'stop; rm -f "$begun"' EXIT
    mkdir -p "$RELABEL_DATA"
    while true; do
        touch "$begun"
        if build; then
            stop
            bin/relabel serve "$@" &
            program=$!
        fi
        until changed; do
            sleep 0.3
        done
    done
}

say() { echo "dev: $*" >&2; }

build() {
    local from=$EPOCHREALTIME
    if ! go build -ldflags '-s -w' -o bin/relabel ./cmd/relabel; then
        say "not built: the program is that before the change"
        return 1
    fi
    say "built in $(((${EPOCHREALTIME/./} - ${from/./}) / 1000)) ms"
}

stop() {
    [ -n "$program" ] || return 0
    kill "$program" 2>/dev/null || true # it may have ended
    wait "$program" || true
    program=
}

# changed reports whether a file of the program has changed since the last build began.
changed() {
    [ -n "$(find . -regextype posix-extended \
        \( -name '.?*' -o -name testdata -o -path ./bin -o -path ./var -o -path ./docs -o -path ./scripts -o -path ./web/templates -o -path ./web/static \) -prune -o \
        -newer "$begun" -regex '.*\.(go|mod|sql|tmpl|html|css|js|txt|json|sh|py|bin)' ! -name '*_test.go' -print -quit)" ]
}

main "$@"
