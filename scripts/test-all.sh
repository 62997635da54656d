#!/usr/bin/env bash
# test-all.sh [COUNT] runs what is too long for `make test`: each tokenizer with all texts,
# many templates drawn against Jinja2, many altered exports and logs, every forged submission, faults at
# every operation of a rollout, and with the race detector all tests that `make test` runs without it.
# With the count of commits it runs one slice of that, of two minutes at most; after 189 commits each
# slice has had its turn.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# In how many slices each suite is divided: about a minute each.
tokenizers=26
forgeries=36
faults=3
programs=12
pages=2
exports=4
stores=2
others=6
rotation=$([ $# = 0 ] && echo no || echo yes)
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
# Seconds after which a slice is stopped, which counts as failed. A slice takes a minute or less alone,
# so that it takes two minutes at most on a machine that other work slows down.
limit=300

main() {
    if [ $rotation = no ]; then
        slice tokenizers 1
        slice components 1
        slice templates 1
        slice alterations 1
        slice logs 1
        slice forgeries 1
        slice faults 1
        slice programs 1
        slice server 1
        slice pages 1
        slice exports 1
        slice stores 1
        race_others 1
        return
    fi
    local round=$(($1 / 7)) turn=$(($1 % 7))
    case $turn in
    0 | 1) slice tokenizers "$(((round * 2 + turn) % tokenizers))/$tokenizers" ;;
    2)
        local suites=(templates alterations logs components)
        slice "${suites[round % 4]}" 1
        ;;
    3 | 4) slice forgeries "$(((round * 2 + turn - 3) % forgeries))/$forgeries" ;;
    5) slice faults "$((round % faults))/$faults" ;;
    6) slice_raced "$round" ;;
    esac
}

# slice_raced ROUND runs a slice of the tests that run without the race detector otherwise.
slice_raced() {
    local suite turn=$1 total=$((programs + pages + exports + stores + others + 1))
    turn=$((turn % total))
    for suite in programs pages exports stores; do
        if [ "$turn" -lt "${!suite}" ]; then
            slice $suite "$turn/${!suite}"
            return
        fi
        turn=$((turn - ${!suite}))
    done
    if [ "$turn" -lt $others ]; then
        race_others "$turn/$others"
    else
        slice server 1
    fi
}

# race_others PART tests the other packages with the race detector, or every Nth of them.
race_others() {
    local packages first=0 step=1
    [ "$1" = 1 ] || IFS=/ read -r first step <<<"$1"
    mapfile -t packages < <(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... |
        grep -vxEf scripts/raced-packages | grep -vxE 'relabel/(e2e|server|shard|store|web|envs/verify/forgeries)' |
        awk -v first="$first" -v step="$step" '(NR - 1) % step == first')
    echo "test-all: ${#packages[@]} packages with the race detector"
    CGO_ENABLED=1 go test -race -vet=off -timeout 45m "${packages[@]}"
}

# slice NAME PART runs a part of one suite; PART is 1 for all of it, or K/N from 0/N on.
slice() {
    local name=$1 part=$2 package flags=() arguments=() code=0 seconds=$limit
    case $name in
    tokenizers) package=tokenizer arguments=(-test.run '^TestIDsAreThoseOfTheReference$') ;;
    components) package=tokenizer arguments=(-test.run '^Test(SpecialText|EachComponent|NormalForms)') ;;
    templates) package=jinja arguments=(-test.run '^Test(Any|ChatTemplates|Characters|ATokenizersConfig)') ;;
    logs) package=testlog arguments=(-test.run '^TestAltered') ;;
    alterations) package=shard arguments=(-test.run '^TestEveryAlteration') ;;
    forgeries) package=envs/verify/forgeries arguments=(-test.v) ;;
    faults) package=e2e/rollout flags=(-race) arguments=(-test.run '^TestA(KillAtAny|LostConnectionAtAny)') ;;
    programs) package=e2e flags=(-race) ;;
    server) package=server flags=(-race) ;;
    pages) package=web flags=(-race) ;;
    exports) package=shard flags=(-race) ;;
    stores) package=store flags=(-race) ;;
    esac
    [ "$rotation" = yes ] || seconds=7200
    [ ${#flags[@]} = 0 ] || export CGO_ENABLED=1 # which the race detector needs
    go test -c -vet=off "${flags[@]}" -o "$built/$name" "./$package"
    [[ $name != @(programs|pages|exports|stores) ]] || arguments=(-test.run "$(drawn "$package" "$built/$name" "$part")")
    echo "test-all: $name, part $part, for at most $seconds s"
    (cd "$package" && RELABEL_TEST_ALL=$part timeout "$seconds" "$built/$name" "${arguments[@]}") || code=$?
    [ "$code" != 124 ] || echo "test-all: $name, part $part, FAILED: it was stopped after $seconds s, incomplete"
    return "$code"
}

# drawn PACKAGE PROGRAM PART prints a pattern for a part of a package's tests; PART is as for slice.
drawn() {
    local first=0 step=1
    [ "$3" = 1 ] || IFS=/ read -r first step <<<"$3"
    (cd "$1" && "$2" -test.list '^Test') | awk -v first="$first" -v step="$step" \
        '(NR - 1) % step == first { names = names (names ? "|" : "") $1 } END { print "^(" names ")$" }'
}

main "$@"
