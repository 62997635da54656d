#!/usr/bin/env bash
# Installs what relabel needs besides Go: a Docker engine, PostgreSQL, git, mmdebstrap
# and Python with venv. As root on Debian or Ubuntu it installs missing packages and
# starts the engine; otherwise it prints the exact commands. If nothing is missing, it
# returns at once.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

main() {
    check_go
    local missing
    missing=$(missing_packages "$@")
    if [ -n "$missing" ]; then
        install_packages "$missing"
    fi
    "$here/docker-engine.sh"
}

say() { echo "install: $*" >&2; }

die() {
    say "$*"
    exit 1
}

# Go is not installed from the distribution, because Debian's is too old. Go 1.21 and
# later download the version that go.mod names.
check_go() {
    local want have
    want=$(sed -n 's/^go //p' "$here/../go.mod")
    command -v go >/dev/null ||
        die "Go $want or later is not on the PATH: see https://go.dev/doc/install"
    have=$(cd "$here/.." && go env GOVERSION 2>/dev/null) ||
        die "go.mod requires Go $want; the go on the PATH is another version and cannot fetch it ($(go version)): see https://go.dev/doc/install"
    if [ "$(printf '%s\n' "$want" "${have#go}" | sort -V | head -1)" != "$want" ]; then
        die "Go $want or later is needed, $have is on the PATH: see https://go.dev/doc/install"
    fi
}

# missing_packages prints the Debian packages whose programs are missing. An existing
# Docker client or running engine of any origin is kept.
missing_packages() {
    local list=()
    command -v git >/dev/null || list+=(git)
    # Where the images are already built, mmdebstrap is needed only by root.
    if [ "$(id -u)" = 0 ] && [ ! -x /usr/bin/mmdebstrap ]; then
        list+=(mmdebstrap debian-archive-keyring)
    fi
    if ! command -v docker >/dev/null; then
        list+=(docker.io)
    elif [ -z "${DOCKER_HOST:-}" ] && ! command -v dockerd >/dev/null && ! docker_answers; then
        list+=(docker.io)
    fi
    has_postgres || list+=(postgresql)
    has_python || list+=(python3 python3-venv)
    [ -e /etc/ssl/certs/ca-certificates.crt ] || [ -e /etc/ssl/cert.pem ] || list+=(ca-certificates)
    if [ "${1:-}" = --tests ] && ! command -v "$(go env CC)" >/dev/null; then
        list+=(gcc libc6-dev)
    fi
    if [ "${1:-}" = --tests ] && ! command -v docker-registry >/dev/null; then
        list+=(docker-registry)
    fi
    if [ "${1:-}" = --tests ] && ! has_browser; then
        list+=(chromium fonts-dejavu-core)
    fi
    # Tokenizers to compare with, and axe-core, come from npm and are cached.
    if [ "${1:-}" = --tests ] && ! command -v npm >/dev/null; then
        list+=(npm)
    fi
    echo "${list[*]}"
}

docker_answers() { timeout 5 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

has_postgres() {
    local found=(/usr/lib/postgresql/*/bin/initdb)
    [ -x "${found[0]}" ] || command -v initdb >/dev/null
}

has_browser() {
    command -v "${RELABEL_TEST_BROWSER:-chromium}" >/dev/null || command -v google-chrome >/dev/null
}

# Both halves of venv: Debian packages ensurepip separately.
has_python() {
    local python
    python=$("$here/python.sh" --interpreter 2>/dev/null) && [ -n "$python" ]
}

install_packages() {
    local packages=$1
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        say "missing on this machine: $packages"
        if command -v apt-get >/dev/null; then
            die "run: sudo apt-get update && sudo apt-get install -y --no-install-recommends $packages"
        fi
        die "install them (these are their names on Debian) and try again"
    fi
    say "installing $packages"
    export DEBIAN_FRONTEND=noninteractive
    apt_get update
    # Debian's docker package suggests its client separately since trixie.
    if [[ " $packages " == *" docker.io "* ]] && apt-cache show docker-cli >/dev/null 2>&1; then
        packages+=" docker-cli"
    fi
    if [[ " $packages " == *" postgresql "* ]]; then
        install_postgresql
    fi
    # Tests start registries of their own: the package's service is not wanted.
    if [[ " $packages " == *" docker-registry "* ]] && [ -d /run/systemd/system ]; then
        systemctl mask docker-registry >/dev/null 2>&1 || true
    fi
    # shellcheck disable=SC2086 # a list of words
    apt_get install -y --no-install-recommends $packages
}

# relabel starts its own server in its data folder, so the package must not create and start
# one on port 5432.
install_postgresql() {
    apt_get install -y --no-install-recommends postgresql-common
    local config=/etc/postgresql-common/createcluster.conf before
    before=$(mktemp)
    cp "$config" "$before"
    echo 'create_main_cluster = false' >>"$config"
    apt_get install -y --no-install-recommends postgresql || { cp "$before" "$config"; exit 1; }
    cp "$before" "$config"
    rm -f "$before"
}

apt_get() {
    local log
    log=$(mktemp)
    if ! apt-get -q -o DPkg::Lock::Timeout=120 "$@" >"$log" 2>&1; then
        tail -20 "$log" >&2
        die "apt-get $* failed (whole output: $log)"
    fi
    rm -f "$log"
}

main "$@"
