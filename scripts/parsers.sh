#!/usr/bin/env bash
# parsers.sh prints the path of relabel-parsers, the program that parses Java, Rust, C, C++, Ruby and
# PHP for relabel. It builds the program into the cache folder if needed: tree-sitter and grammars in
# the versions of codeindex/treesitter/program/go.mod, checked against go.sum beside it, linked
# statically. A change of that folder or of the compiler makes another one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../codeindex/treesitter/program"
cache=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}
folder=$cache/parsers
cc=$(go env CC)
grammars=(java/src rust/src c/src cpp/src ruby/src php/php/src)

main() {
    local version
    command -v "$cc" >/dev/null || die "a C compiler is needed: apt-get install -y gcc libc6-dev"
    version=$(cat ./*.[ch] go.mod go.sum <("$cc" --version) | sha256sum | cut -c1-16)
    mkdir -p "$folder"
    exec 9>"$folder.lock"
    flock 9
    [ -x "$folder/$version/relabel-parsers" ] || build "$version"
    echo "$folder/$version/relabel-parsers"
}

die() {
    echo "parsers: $*" >&2
    exit 1
}

build() {
    local version=$1 log=$folder.log
    echo "parsers: building relabel-parsers, once" >&2
    work=$(mktemp -d "$folder/.$version.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    if ! { env -u GOFLAGS go mod download && compile && link; } >"$log" 2>&1; then
        tail -10 "$log" >&2
        die "relabel-parsers could not be built: is the module proxy reachable, are gcc and the static C library (libc6-dev) installed? (whole log: $log)"
    fi
    rm -rf "${folder:?}/$version"
    mkdir "$folder/$version"
    mv "$work/relabel-parsers" "$folder/$version"
}

# source_of prints the folder of a module's source.
source_of() {
    local module=github.com/tree-sitter/$1 version
    version=$(awk -v module="$module" '$1 == module { print $2 }' go.mod)
    echo "$(go env GOMODCACHE)/$module@$version"
}

compile() {
    local core grammar name source jobs=()
    core=$(source_of go-tree-sitter)
    "$cc" -O2 -c -I"$core/include" -I"$core/src" "$core/src/lib.c" -o "$work/core.o" &
    jobs+=($!)
    for grammar in "${grammars[@]}"; do
        name=${grammar%%/*}
        source=$(source_of "tree-sitter-$name")/${grammar#*/}
        compile_grammar "$name" "$source" &
        jobs+=($!)
    done
    for job in "${jobs[@]}"; do
        wait "$job" || return 1
    done
}

compile_grammar() {
    local file
    for file in parser scanner; do
        [ -e "$2/$file.c" ] || continue
        "$cc" -O2 -c -I"$2" "$2/$file.c" -o "$work/$1-$file.o" || return 1
    done
}

link() {
    "$cc" -O2 -std=gnu11 -Wall -Wextra -Werror -static -s -I"$(source_of go-tree-sitter)/include" ./*.c "$work"/*.o -o "$work/relabel-parsers"
}

main
