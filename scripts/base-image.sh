#!/usr/bin/env bash
# Makes the image relabel/base:bookworm, the base of the demo's tasks and the tests:
# Debian with Python, pytest and git. It does nothing if the image exists. Otherwise it
# pulls RELABEL_BASE_IMAGE if set, or bootstraps the image from Debian's archive (as
# root, about a minute).
#
#   RELABEL_BASE_IMAGE     an image to pull and tag instead of bootstrapping
#   RELABEL_DEBIAN_MIRROR  Debian archive, instead of mmdebstrap's own
set -euo pipefail
image=relabel/base:bookworm
cache=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packages=python3,python3-pytest,python3-yaml,git,patch,procps,ca-certificates
pull_s=180

main() {
    present && return
    mkdir -p "$cache"
    exec 9>"$cache/base-image.lock"
    flock 9 # two calls at once build one image
    present && return
    pull && return
    if [ "$(id -u)" != 0 ]; then
        echo "base image: $image is missing and only root can bootstrap it: sudo $0" >&2
        exit 1
    fi
    "$here/bootstrap-image.sh" "$image" "$packages" \
        --change 'CMD ["bash"]' --change "LABEL relabel.base=1 relabel.packages=$packages"
}

# An image that was bootstrapped here from another list of packages is outdated; one
# that was pulled or tagged manually is used unchanged.
present() {
    local made_of
    made_of=$(docker image inspect -f '{{index .Config.Labels "relabel.packages"}}' "$image" 2>/dev/null) &&
        [[ -z $made_of || $made_of == "$packages" ]]
}

# The pull has a time limit, so that a machine without a registry does not hang.
pull() {
    local from=${RELABEL_BASE_IMAGE:-}
    [ -n "$from" ] || return
    echo "base image: pulling $from" >&2
    if timeout "$pull_s" docker pull -q "$from" >/dev/null && docker tag "$from" "$image"; then
        return
    fi
    echo "base image: $from cannot be pulled; bootstrapping instead" >&2
    return 1
}

main "$@"
