#!/usr/bin/env bash
# test-all.sh [COUNT] runs what is too long for `make test`: each tokenizer with all texts,
# many templates drawn against Jinja2, many altered exports and logs, every forged submission, faults at
# every operation of a rollout, and the tests of the whole program, the server and the pages with
# the race detector. With the count of commits it runs one slice of that, of two minutes at most;
# after 126 commits each slice has had its turn.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# In how many slices each suite is divided: about a minute each.
tokenizers=26
forgeries=36
faults=3
programs=12
pages=2
rotation=$([ $# = 0 ] && echo no || echo yes)
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
# Seconds after which a slice is stopped, which counts as failed. A slice takes a minute or less alone,
# so that it takes two minutes at most on a machine that other work slows down.
limit=300

main() {
    if [ $rotation = no ]; then
        slice tokenizers 1
        slice templates 1
        slice alterations 1
        slice logs 1
        slice forgeries 1
        slice faults 1
        slice programs 1
        slice server 1
        slice pages 1
        return
    fi
    local round=$(($1 / 7)) turn=$(($1 % 7))
    case $turn in
    0 | 1) slice tokenizers "$(((round * 2 + turn) % tokenizers))/$tokenizers" ;;
    2)
        local suites=(templates alterations logs)
        slice "${suites[round % 3]}" 1
        ;;
    3 | 4) slice forgeries "$(((round * 2 + turn - 3) % forgeries))/$forgeries" ;;
    5) slice faults "$((round % faults))/$faults" ;;
    6) slice_raced "$((round % (programs + pages + 1)))" ;;
    esac
}

# slice_raced TURN runs a slice of the tests that run without the race detector otherwise.
slice_raced() {
    if [ "$1" -lt $programs ]; then
        slice programs "$1/$programs"
    elif [ "$1" = $programs ]; then
        slice server 1
    else
        slice pages "$(($1 - programs - 1))/$pages"
    fi
}

# slice NAME PART runs a part of one suite; PART is 1 for all of it, or K/N from 0/N on.
slice() {
    local name=$1 part=$2 package flags=() arguments=() code=0 seconds=$limit
    case $name in
    tokenizers) package=tokenizer arguments=(-test.run '^TestIDsAreThoseOfTheReference$') ;;
    templates) package=jinja arguments=(-test.run '^Test(Any|ChatTemplates|Characters|ATokenizersConfig)') ;;
    logs) package=testlog arguments=(-test.run '^TestAltered') ;;
    alterations) package=shard arguments=(-test.run '^TestEveryAlteration') ;;
    forgeries) package=envs/verify/forgeries arguments=(-test.v) ;;
    faults) package=e2e/rollout flags=(-race) arguments=(-test.run '^TestA(KillAtAny|LostConnectionAtAny)') ;;
    programs) package=e2e flags=(-race) ;;
    server) package=server flags=(-race) ;;
    pages) package=web flags=(-race) ;;
    esac
    [ "$rotation" = yes ] || seconds=7200
    go test -c -vet=off "${flags[@]}" -o "$built/$name" "./$package"
    [[ $name != @(programs|pages) ]] || arguments=(-test.run "$(drawn "$package" "$built/$name" "$part")")
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
