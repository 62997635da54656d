#!/bin/sh
# sh prime_rl.sh PRIME_RL MODEL OUT STEPS [further settings of prime-rl]; PRIME_RL: a checkout of prime-rl
# STEPS: prime-rl counts steps of data.batch_size times data.seq_len tokens, not epochs
prime=$1 model=$2 out=$3 steps=$4
shift 4
[ -e "$model" ] && model=$(realpath "$model") # else the name of one on the Hub
out=$(realpath -m "$out")
folder=$(cd "$(dirname "$0")" && pwd)
cd "$prime" || exit
# renderer.name: Qwen3's, which prints these rows as the student's template does; it is not found by the path of a checkpoint.
exec uv run sft --model.name "$model" --output-dir "$out" --max-steps "$steps" --ckpt --renderer.name qwen3 \
    --data.type sft --data.name "$folder/chat" --data.seq-len {{add .MaxLength 16}} --data.batch-size 32 --optim.lr {{decimal .LearningRate}} "$@"
