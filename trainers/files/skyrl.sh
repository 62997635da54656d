#!/bin/sh
# sh skyrl.sh MODEL OUT [further settings of SkyRL]
model=$1 out=$2
shift 2
folder=$(cd "$(dirname "$0")" && pwd)
exec python -m skyrl.train.main_sft strategy=fsdp model.path="$model" ckpt_path="$out" \
    pretokenized_dataset_paths="['$folder/linear']" num_epochs={{.Epochs}} optimizer_config.lr={{decimal .LearningRate}} "$@"
