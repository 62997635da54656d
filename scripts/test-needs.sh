#!/usr/bin/env bash
# test-needs.sh installs and makes what the tests need, all at once: images, Python environments,
# tokenizers, templates and servers. What is there is kept.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

needs=(base-image.sh runner-images.sh templates.sh parsers.sh tokenizers.sh axe.sh s3-server.sh azure-server.sh)
# Folders with the requirements.txt of a Python environment.
environments=(shard/testdata jinja/testdata codeindex/languages/testdata/reference tokenizer/testdata ranking/testdata
    testlog/testdata tasks/testdata examples/train)

main() {
    ./install.sh --tests
    local name running=() code=0
    for name in "${needs[@]}"; do
        "./$name" >/dev/null &
        running+=($!)
    done
    for name in "${environments[@]}"; do
        ./python.sh "../$name/requirements.txt" >/dev/null &
        running+=($!)
    done
    for name in "${running[@]}"; do
        wait "$name" || code=1
    done
    return $code
}

main
