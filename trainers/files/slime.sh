#!/bin/sh
# sh slime.sh SLIME MODEL OUT [slime's arguments of the model and its parallelism]; SLIME: a checkout of slime
slime=$1 model=$2 out=$3
shift 3
export RELABEL_EXPORT="$(cd "$(dirname "$0")" && pwd)"
export PYTHONPATH="$RELABEL_EXPORT:$PYTHONPATH"
exec python "$slime/train_async.py" --hf-checkpoint "$model" --save "$out" \
    --data-source-path slime_rows.Rows --rollout-function-path slime_rows.generate_rollout \
    --num-epoch {{.Epochs}} --rollout-batch-size 32 --global-batch-size 32 --n-samples-per-prompt 1 \
    --loss-type sft_loss --calculate-per-token-loss --disable-compute-advantages-and-returns --debug-train-only \
    --lr {{decimal .LearningRate}} --use-dynamic-batch-size --max-tokens-per-gpu {{.Capacity}} "$@"
