#!/usr/bin/env bash
# bootstrap-image.sh IMAGE PACKAGES [docker import option…]: makes IMAGE from Debian's
# archive with the packages (comma-separated), without files that containers do not
# need. Root only.
set -euo pipefail
image=$1 packages=$2
shift 2
suite=bookworm
mirror=${RELABEL_DEBIAN_MIRROR:-} # empty: debootstrap's own
work=$(mktemp -d "${TMPDIR:-/var/tmp}/relabel-bootstrap.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
limit_s=900

main() {
    local root=$work/root begin=$SECONDS
    echo "bootstrap: $image from ${mirror:-the Debian archive}" >&2
    leave_out_documentation "$root"
    if ! timeout "$limit_s" debootstrap --variant=minbase --include="$packages" \
        "$suite" "$root" ${mirror:+"$mirror"} >"$work/log" 2>&1; then
        tail -5 "$work/log" "$root/debootstrap/debootstrap.log" 2>/dev/null >&2 || true
        echo "bootstrap: debootstrap failed: is ${mirror:-the Debian archive} reachable?" >&2
        exit 1
    fi
    strip "$root"
    tar -C "$root" --one-file-system --numeric-owner -c . |
        docker import "$@" \
            --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
            --change 'ENV LANG=C.UTF-8' - "$image" >/dev/null
    echo "bootstrap: $image made in $((SECONDS - begin)) s" >&2
}

# dpkg reads this while it unpacks: neither manuals nor a sync for each file.
leave_out_documentation() {
    mkdir -p "$1/etc/dpkg/dpkg.cfg.d"
    cat >"$1/etc/dpkg/dpkg.cfg.d/container" <<END
force-unsafe-io
path-exclude=/usr/share/doc/*
path-include=/usr/share/doc/*/copyright
path-exclude=/usr/share/man/*
path-exclude=/usr/share/info/*
path-exclude=/usr/share/locale/*
END
}

# Compiled Python stays: each fresh container would compile it again.
strip() {
    rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/var/log/* "$1"/var/cache/debconf/*-old \
        "$1"/usr/share/man/* "$1"/usr/share/info/* "$1"/usr/share/locale/*
}

main "$@"
