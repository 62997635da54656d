#!/usr/bin/env bash
# test-all.sh [COUNT] runs what is too long for `make test`: each tokenizer with all texts,
# many templates drawn against Jinja2, many altered exports, and every forged submission.
# With the count of commits it runs one slice of that, of one or two minutes; all slices
# have had their turn after 63 commits.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# One tokenizer per slice, and this many parts of the forged submissions: a minute each.
tokenizers=26
forgeries=18
rotation=$([ $# = 0 ] && echo no || echo yes)
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
# Seconds that a slice may take without its compilation: five times what it takes on an idle
# machine with two cores. A slice that is stopped counts as failed.
limit=300

main() {
    if [ $rotation = no ]; then
        slice tokenizers 1
        slice templates 1
        slice alterations 1
        slice forgeries 1
        return
    fi
    local round=$(($1 / 7)) turn=$(($1 % 7))
    case $turn in
    0 | 1 | 2) slice tokenizers "$(((round * 3 + turn) % tokenizers))/$tokenizers" ;;
    3) slice templates 1 ;;
    4) slice alterations 1 ;;
    5 | 6) slice forgeries "$(((round * 2 + turn - 5) % forgeries))/$forgeries" ;;
    esac
}

# slice NAME PART runs a part of one suite; PART is 1 for all of it, or K/N from 0/N on.
slice() {
    local name=$1 part=$2 package arguments=() code=0 seconds=$limit
    case $name in
    tokenizers) package=tokenizer arguments=(-test.run '^TestIDsAreThoseOfTheReference$') ;;
    templates) package=jinja arguments=(-test.run '^Test(Any|ChatTemplates|Characters|ATokenizersConfig)') ;;
    alterations) package=shard arguments=(-test.run '^TestEveryAlteration') ;;
    forgeries) package=envs/verify/forgeries arguments=(-test.v) ;;
    esac
    [ "$rotation" = yes ] || seconds=7200
    go test -c -vet=off -o "$programs/$name" "./$package"
    echo "test-all: $name, part $part, for at most $seconds s"
    (cd "$package" && RELABEL_TEST_ALL=$part timeout "$seconds" "$programs/$name" "${arguments[@]}") || code=$?
    [ "$code" != 124 ] || echo "test-all: $name, part $part, FAILED: it was stopped after $seconds s, incomplete"
    return "$code"
}

main "$@"
