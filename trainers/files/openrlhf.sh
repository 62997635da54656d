#!/bin/sh
# sh openrlhf.sh MODEL OUT [further settings of OpenRLHF]; 0.10.4 and 0.11.2 were run, 0.9 has other options
model=$1 out=$2
shift 2
[ -e "$model" ] && model=$(realpath "$model") # else the name of one on the Hub
out=$(realpath -m "$out")
cd "$(dirname "$0")" || exit
# max_len: rows whose prompt has max_len - 2 tokens or more would be dropped.
exec deepspeed --module openrlhf.cli.train_sft --model.model_name_or_path "$model" --ckpt.output_dir "$out" \
    --data.dataset {{join .Files ","}} --data.input_key prompt --data.output_key completion --data.input_template '' \
    --data.max_len {{add .MaxLength 3}} --train.max_epochs {{.Epochs}} --adam.lr {{decimal .LearningRate}} "$@"
