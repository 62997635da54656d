#!/usr/bin/env bash
# test.sh PACKAGES [RUN] runs tests with the race detector and lists the failed ones at
# the end. Packages without goroutines, whose tests are long comparisons with references,
# run without the detector, in a tenth of the time, except for their tests of concurrency.
# So do the tests of shard that build and compare exports sequentially; its tests with
# workers and buckets run with the detector.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
packages=$1
run=${2:+-run=$2}
sequential='relabel/(jinja|tokenizer|shard/render|shard/tree|shard/pack)'
# These take minutes. They start first, the longest ones ahead, and the others fill the gaps.
long=(relabel/e2e relabel/e2e/rollout relabel/store relabel/envs/verify relabel/web relabel/server relabel/envs/fleet)
compared='^Test(ARandomMix|EveryAlteration|TokenViews|WhatTheExporterWrites|RealTrainers|AnExportLoads|AnExportMadeAgain)'
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0

main() {
    local all first=() quick=() raced=() exports=0 package
    # shellcheck disable=SC2086 # there may be several patterns
    all=$(go list $packages)
    for package in $all; do
        if [[ $package =~ ^$sequential$ ]]; then
            quick+=("$package")
        elif [ "$package" = relabel/shard ] && [ -z "$run" ]; then
            exports=1
        elif [[ " ${long[*]} " != *" $package "* ]]; then
            raced+=("$package")
        fi
    done
    if [ ${#quick[@]} -gt 0 ]; then
        tests "${quick[@]}"
        [ -n "$run" ] || tests -race -run='AtOnce$' "${quick[@]}"
    fi
    if [ $exports = 1 ]; then
        tests -run="$compared" relabel/shard
        tests -race -skip="$compared" relabel/shard
    fi
    mapfile -t first < <(chosen "$all")
    raced=(${first[@]+"${first[@]}"} ${raced[@]+"${raced[@]}"})
    [ ${#raced[@]} -eq 0 ] || tests -race "${raced[@]}"
    [ $failed = 0 ] || tell_failed
    return $failed
}

# chosen prints the long packages that are in the list ALL, in their order.
chosen() {
    local package
    for package in "${long[@]}"; do
        grep -qx "$package" <<<"$1" && echo "$package"
    done
    return 0
}

# tests skips vet, which lint has run on all packages.
tests() {
    # shellcheck disable=SC2086 # "" is no argument
    go test -vet=off -timeout 45m $run "$@" 2>&1 | tee -a "$log" || failed=1
}

# tell_failed lists the failed tests by package, followed by the output of go test.
tell_failed() {
    echo
    echo "Failed:"
    awk '/^ *--- FAIL: / { names = names " " $3 }
        /^FAIL\t/ { print "  " $2 (names ? names : " (no test says so: see above)"); names = ""; last = last $0 "\n" }
        /^(ok  |\?   )\t/ { names = "" }
        END { printf "\n%sFAIL\n", last }' "$log"
}

main
