#!/usr/bin/env bash
# test.sh PACKAGES [RUN] runs tests and lists the failed ones at the end. Packages whose own code
# starts goroutines (raced-packages) run with the race detector, unless it makes them too slow: cli, e2e,
# policy/scripted, server, shard, shard/verify and taskbuild. They and the others run without. Of these,
# tests of concurrent use run again with the race detector; `make test-all` runs all of them with it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
packages=$1
run=${2:+-run=$2}

raced=scripts/raced-packages
# Packages that run without the race detector, whose tests of concurrent use run again with it.
concurrent='relabel/(jinja|server|tokenizer|web)'
# The longest packages start first, in this order, and the others fill the gaps.
long=(relabel/{e2e,shard,web,server,store,envs/verify,tokenizer,cmd/relabel,envs/verify/forgeries,e2e/rollout,envs/docker,envs/fleet})
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

main() {
    make_programs
    test_all 2>&1 | tee "$logs/all" || {
        tell_failed
        exit 1
    }
}

# make_programs builds the programs that tests start, once for all packages. The name of their folder
# is their content: Go repeats a test whose variables have changed.
make_programs() {
    local folder=bin/test made
    mkdir -p "$folder"
    made=$(mktemp -d "$folder/.XXXXXX")
    go build -ldflags='-s -w' -o "$made" ./cmd/relabel ./cmd/sandboxd
    folder=$PWD/$folder/$(cat "$made"/* | sha256sum | cut -c1-16)
    if [ -d "$folder" ]; then
        rm -rf "$made"
        touch "$folder" # so that no other run removes it now
    else
        mv "$made" "$folder"
    fi
    find "$(dirname "$folder")" -mindepth 1 -maxdepth 1 -mmin +1440 ! -path "$folder" -exec rm -rf {} +
    export RELABEL_TEST_PROGRAM=$folder/relabel RELABEL_TEST_SANDBOXD=$folder/sandboxd
}

test_all() {
    local all with without code=0
    # shellcheck disable=SC2086 # there may be several patterns
    all=$(go list $packages) || return 1
    with=$(grep -xEf "$raced" <<<"$all" || true)
    without=$(grep -vxEf "$raced" <<<"$all" || true)
    [ -z "$without" ] || tests "$without" || code=1
    test_raced "$with" "$without" || code=1
    return $code
}

# test_raced WITH WITHOUT tests packages with the race detector, and of the packages without it the
# tests of concurrent use.
test_raced() {
    local code=0 again
    export CGO_ENABLED=1
    [ -z "$1" ] || tests "$1" -race || code=1
    again=$(grep -xE "$concurrent" <<<"$2" || true)
    [ -n "$run" ] || [ -z "$again" ] || test_concurrency "$again" || code=1
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

# longest_first prints a list of packages in the order in which they start.
longest_first() {
    local package
    for package in "${long[@]}"; do
        grep -xF "$package" <<<"$1" || true
    done
    grep -vxFf <(printf '%s\n' "${long[@]}") <<<"$1" || true
}

# tests LIST [FLAG …] tests packages, three at a time since most wait at times, the long ones first. It
# skips vet, which lint has run.
tests() {
    local list
    mapfile -t list < <(longest_first "$1")
    shift
    # shellcheck disable=SC2086 # an empty $run is not an argument
    go test -vet=off -p 3 -timeout 45m $run "$@" "${list[@]}"
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
