#!/usr/bin/env bash
# bootstrap-image.sh IMAGE PACKAGES [docker import option…]: makes IMAGE from Debian's
# archive with the packages (comma-separated), without files that containers do not
# need. Root only.
set -euo pipefail
image=$1 packages=$2
shift 2
suite=bookworm
mirror=${RELABEL_DEBIAN_MIRROR:-} # empty: mmdebstrap's own
work=$(mktemp -d "${TMPDIR:-/var/tmp}/relabel-bootstrap.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
limit_s=900
# Neither manuals nor a sync for each file.
smaller=(--dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright'
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' --dpkgopt='path-exclude=/usr/share/locale/*')

main() {
    local root=$work/root begin=$SECONDS
    echo "bootstrap: $image from ${mirror:-the Debian archive}" >&2
    if ! timeout "$limit_s" mmdebstrap --variant=minbase --include="$packages" "${smaller[@]}" \
        "$suite" "$root" ${mirror:+"$mirror"} >"$work/log" 2>&1; then
        tail -5 "$work/log" >&2 || true
        echo "bootstrap: mmdebstrap failed: is ${mirror:-the Debian archive} reachable?" >&2
        exit 1
    fi
    strip "$root"
    tar -C "$root" --one-file-system --numeric-owner -c . |
        docker import "$@" \
            --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
            --change 'ENV LANG=C.UTF-8' - "$image" >/dev/null
    echo "bootstrap: $image made in $((SECONDS - begin)) s" >&2
}

# Compiled Python stays: each fresh container would compile it again.
strip() {
    rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/var/log/* "$1"/var/cache/debconf/*-old \
        "$1"/usr/share/man/* "$1"/usr/share/info/* "$1"/usr/share/locale/*
}

main "$@"
