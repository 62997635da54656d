#!/usr/bin/env bash
# Ensures that a Docker engine is running. As root it starts one: with systemd if that
# runs, otherwise directly, without a bridge if the kernel or iptables does not support
# one (sandboxes have no network anyway). Other users see what to do.
set -euo pipefail
cache=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}
log=$cache/dockerd.log
wait_s=45

main() {
    answers && return
    if [ -n "${DOCKER_HOST:-}" ]; then
        die "no Docker engine answers at DOCKER_HOST=$DOCKER_HOST"
    fi
    if [ "$(id -u)" != 0 ]; then
        tell_user
    fi
    command -v dockerd >/dev/null || die "dockerd is not on the PATH: apt-get install -y docker.io"
    mkdir -p "$cache"
    exec 9>"$cache/dockerd.lock"
    flock 9 # two calls at once start one engine
    answers && return
    start
}

say() { echo "docker: $*" >&2; }

die() {
    say "$*"
    exit 1
}

answers() { timeout 10 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

tell_user() {
    local socket=/var/run/docker.sock
    if [ -S "$socket" ] && [ ! -w "$socket" ]; then
        die "this user may not use the Docker engine: sudo usermod -aG docker $(id -un), then log in again"
    fi
    if [ -d /run/systemd/system ]; then
        die "no Docker engine answers: sudo systemctl start docker"
    fi
    die "no Docker engine answers: sudo scripts/docker-engine.sh"
}

start() {
    if [ -d /run/systemd/system ] && systemctl start docker >/dev/null 2>&1 && wait_for_answer; then
        return
    fi
    say "starting dockerd by hand (log: $log)"
    launch && return
    say "it did not start; trying again without a network bridge"
    launch --iptables=false --ip6tables=false --ip-masq=false --bridge=none && return
    tail -20 "$log" >&2
    die "the Docker engine did not start (whole log: $log)"
}

# launch starts dockerd with the given options in the background, and stops it if it
# does not respond.
launch() {
    remove_stale_pid
    # The lock's descriptor is closed: the engine outlives this script.
    nohup setsid dockerd "$@" >>"$log" 2>&1 9>&- </dev/null &
    local pid=$!
    wait_for_answer "$pid" && return
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    return 1
}

wait_for_answer() {
    local pid=${1:-} until=$((SECONDS + wait_s))
    while [ "$SECONDS" -lt "$until" ]; do
        answers && return
        if [ -n "$pid" ] && ! kill -0 "$pid" 2>/dev/null; then
            return 1
        fi
        sleep 0.2
    done
    return 1
}

# A pid file of an earlier boot or image may name a process that is not dockerd any
# more, and dockerd would refuse to start.
remove_stale_pid() {
    local file=/var/run/docker.pid pid
    [ -f "$file" ] || return 0
    pid=$(cat "$file")
    if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != dockerd ]; then
        rm -f "$file"
    fi
}

main "$@"
