#!/bin/sh
# sh verl.sh MODEL OUT [further settings of verl]; GPUS: GPUs of this machine, default 8
model=$1 out=$2
shift 2
[ -e "$model" ] && model=$(realpath "$model") # else the name of one on the Hub
out=$(realpath -m "$out")
cd "$(dirname "$0")" || exit
exec torchrun --nproc_per_node="${GPUS:-8}" -m verl.trainer.sft_trainer \
    model.path="$model" trainer.default_local_dir="$out" trainer.total_epochs={{.Epochs}} optim.lr={{decimal .LearningRate}} \
    'data.train_files=[{{join .Files ","}}]' \
    data.custom_cls.path=verl_rows.py data.custom_cls.name=Rows data.pad_mode=no_padding \
    data.max_token_len_per_gpu={{.Capacity}} data.max_length={{.MaxLength}} "$@"
