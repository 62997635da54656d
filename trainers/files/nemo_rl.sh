#!/bin/sh
# sh nemo_rl.sh NEMO_RL MODEL OUT [further settings of NeMo RL]; NEMO_RL: a checkout of NeMo RL
nemo=$1 model=$2 out=$3
shift 3
[ -e "$model" ] && model=$(realpath "$model") # else the name of one on the Hub
out=$(realpath -m "$out")
folder=$(cd "$(dirname "$0")" && pwd)
cd "$nemo" || exit
# max_total_sequence_length: rows of this length are masked, and the template's text behind the label counts.
# only_unmask_final: without it the text before the label is trained on too. chat_template: the model's own.
exec uv run examples/run_sft.py --config examples/configs/sft.yaml \
    policy.model_name="$model" checkpointing.checkpoint_dir="$out" policy.max_total_sequence_length={{add .MaxLength 16}} \
    sft.only_unmask_final=true sft.max_num_epochs={{.Epochs}} sft.max_num_steps=1000000000 sft.val_period=0 sft.val_at_start=false \
    policy.optimizer.kwargs.lr={{decimal .LearningRate}} policy.tokenizer.chat_template=default \
    {{with .Options}}{{shell (printf "policy.tokenizer.chat_template_kwargs=%s" (hydra .))}} {{end}}data.add_bos=false data.add_eos=false data.add_generation_prompt=true \
    '~data.train' "+data.train=[{{range $i, $f := .Files}}{{if $i}},{{end}}{dataset_name:openai_format,data_path:$folder/{{$f}},chat_key:messages,tool_key:null,use_preserving_dataset:true}{{end}}]" \
    data.validation=null checkpointing.metric_name=null logger.wandb_enabled=false logger.wandb.name=relabel logger.swanlab.name=relabel \
    logger.tensorboard.log_dir=relabel logger.mlflow.run_name=relabel "$@"
