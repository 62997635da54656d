#!/bin/sh
# sh megatron_bridge.sh BRIDGE RECIPE MODEL OUT [further settings]; GPUS: GPUs of this machine, default 8
# BRIDGE: a checkout of Megatron-Bridge; RECIPE: its recipe of the model, such as qwen25_7b_sft_config; MODEL: a checkpoint that it loads
bridge=$1 recipe=$2 model=$3 out=$4
shift 4
folder=$(cd "$(dirname "$0")" && pwd)
# preprocessing=null: the preset's own excludes answer_only_loss, without which older versions train on all tokens.
exec torchrun --nproc_per_node="${GPUS:-8}" "$bridge/scripts/training/run_recipe.py" --recipe "$recipe" --mode sft --dataset local-jsonl \
    checkpoint.pretrained_checkpoint="$model" checkpoint.save="$out" train.micro_batch_size=1 \
    dataset.dataset_root="$folder" dataset.seq_length={{.Capacity}} model.seq_length={{.Capacity}} dataset.enable_offline_packing=true \
    "dataset.offline_packing_specs={packed_sequence_size:{{.Capacity}},packed_train_data_path:\"$folder/packed/*.idx.parquet\"}" \
    dataset.preprocessing=null '+dataset.dataset_kwargs={answer_only_loss:true}' dataset.do_validation=false dataset.do_test=false "$@"
