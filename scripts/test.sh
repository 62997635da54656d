#!/usr/bin/env bash
# test.sh PACKAGES [RUN] runs tests and lists the failed ones at the end. Some run without the
# race detector: packages without goroutines, comparisons with references, and the tests of the
# server, the pages and the whole program (`make test-all` runs these three with the detector).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
packages=$1
run=${2:+-run=$2}

plain='relabel(/(api|chat|gitdiff|jinja|mixer/schedule|modelfiles|policy/texttools|ranking|safetext|server|tasks|testlog|tokenizer'
plain+='|envs/scaffold/openhands|envs/verify/(canary(/.*)?|protect|results|testcmd|tree)'
plain+='|shard/(pack|render|rows|tokenizers|tree)|web(/(chart|show))?))?'
# Their tests of concurrent use run again, with the race detector.
concurrent='relabel/(jinja|server|tokenizer|web)'
# Tests of shard that build and compare exports sequentially run without it.
compared='^Test(ARandomMix|EveryAlteration|TokenViews|ExportsAreSound|RealTrainers|AnExportLoads|AnExportMadeAgain)'
# The longest packages start first, in this order, and the others fill the gaps.
long=(relabel/{web,server,store,envs/verify,envs/verify/forgeries,e2e/rollout,envs/docker,envs/fleet})
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

main() {
    test_all 2>&1 | tee "$logs/all" || {
        tell_failed
        exit 1
    }
}

# test_all tests the whole program alone, because its tests use both cores, then the others in two
# groups, without and with the race detector. Tests of exports wait for storage servers most of the
# time: they run beside the first group.
test_all() {
    local all program without raced again exports= code=0
    # shellcheck disable=SC2086 # there may be several patterns
    all=$(go list $packages) || return 1
    program=$(matching relabel/e2e "$all")
    [ -z "$program" ] || tests "$program" || code=1
    all=$(others relabel/e2e "$all")
    without=$(matching "$plain" "$all")
    raced=$(others "$plain" "$all")
    again=$(matching "$concurrent" "$without")
    if [ -z "$run" ] && [ -n "$(matching relabel/shard "$raced")" ]; then
        raced=$(others relabel/shard "$raced")
        set -m # a process group of its own, which ends with this script
        test_exports >"$logs/exports" 2>&1 &
        set +m
        exports=$!
        trap 'kill -- -$exports 2>/dev/null' EXIT
    fi
    [ -z "$without" ] || tests "$without" || code=1
    if [ -n "$exports" ]; then
        wait "$exports" || code=1
        trap - EXIT
        cat "$logs/exports"
    fi
    [ -n "$run" ] || [ -z "$again" ] || test_concurrency "$again" || code=1
    [ -z "$raced" ] || tests "$raced" -race || code=1
    return $code
}

# test_concurrency tests concurrent use, and fails if a package has no such test.
test_concurrency() {
    local said code=0
    said=$(tests "$1" -race '-run=Concurrently$') || code=1
    echo "$said"
    [[ $said != *'no tests to run'* ]] || code=1
    return $code
}

test_exports() {
    local code=0
    tests relabel/shard "-run=$compared" || code=1
    tests relabel/shard -race "-skip=$compared" || code=1
    return $code
}

# matching PATTERN LIST prints the packages of a list that match, others those that do not.
matching() { grep -xE "$1" <<<"$2" || true; }
others() { grep -vxE "$1" <<<"$2" || true; }

# longest_first prints a list of packages in the order in which they start.
longest_first() {
    local package
    for package in "${long[@]}"; do
        matching "$package" "$1"
    done
    grep -vxFf <(printf '%s\n' "${long[@]}") <<<"$1" || true
}

# tests LIST [FLAG …] tests packages, the long ones first. It skips vet, which lint has run.
tests() {
    local list
    mapfile -t list < <(longest_first "$1")
    shift
    # shellcheck disable=SC2086 # an empty $run is not an argument
    go test -vet=off -timeout 45m $run "$@" "${list[@]}"
}

# tell_failed lists the failed tests by package, followed by the output of go test.
tell_failed() {
    echo
    echo "Failed:"
    awk '/^ *--- FAIL: / { names = names " " $3 }
        /^FAIL\t/ { print "  " $2 (names ? names : " (no test says so: see above)"); names = ""; last = last $0 "\n" }
        /^(ok  |\?   )\t/ { names = "" }
        END { printf "\n%sFAIL\n", last }' "$logs/all"
}

main
