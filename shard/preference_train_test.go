package shard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/examples/train"
	"relabel/store/storetest"
)

// preferenceProgram has TRL's trainers take a step on the preference view as it is, and compares their tokens with the
// template's.
const preferenceProgram = `
import json, sys
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer
from trl import DPOConfig, DPOTrainer, KTOConfig, KTOTrainer, RewardConfig, RewardTrainer
folder, name, out = sys.argv[1:]
rows = load_dataset(folder, "preference")["train"]
tokenizer = AutoTokenizer.from_pretrained(name)
settings = {"report_to": "none", "use_cpu": True, "bf16": False, "max_steps": 1, "per_device_train_batch_size": 2, "max_length": None, "save_strategy": "no", "gradient_checkpointing": False}
dpo = DPOTrainer(model=AutoModelForCausalLM.from_pretrained(name), args=DPOConfig(out, **settings), train_dataset=rows, processing_class=tokenizer)
for row, taken in zip(rows, dpo.train_dataset):
    tools = json.loads(row["tools"])
    prompt = tokenizer.apply_chat_template(row["prompt"], tools=tools, add_generation_prompt=True, tokenize=False)
    for side in "chosen", "rejected":
        whole = tokenizer.apply_chat_template(row["prompt"] + row[side], tools=tools, tokenize=False)
        assert whole.startswith(prompt), side
        got = tokenizer.decode(taken["prompt_ids"] + taken[side + "_ids"])
        assert got.rstrip("\n") == whole.rstrip("\n"), (got, whole)
        assert row[side][0]["tool_calls"][0]["function"]["arguments"], row[side]
    assert taken["chosen_ids"] != taken["rejected_ids"]
dpo.train()
kto = KTOTrainer(model=AutoModelForCausalLM.from_pretrained(name), args=KTOConfig(out, **settings), train_dataset=rows, processing_class=tokenizer)
assert len(kto.train_dataset) == 2 * len(rows) and sum(kto.train_dataset["label"]) == len(rows)
pairs = [(r["prompt_ids"], r["completion_ids"]) for r in kto.train_dataset]
for taken in dpo.train_dataset:
    for side in "chosen", "rejected":
        assert (taken["prompt_ids"], taken[side + "_ids"]) in pairs, (side, kto.train_dataset.column_names)
kto.train()
reward = AutoModelForSequenceClassification.from_pretrained(name, num_labels=1)
reward.config.pad_token_id = tokenizer.pad_token_id
trainer = RewardTrainer(model=reward, args=RewardConfig(out, **settings), train_dataset=rows, processing_class=tokenizer)
trainer.train()
print("rows", len(rows))
`

// TestTRLTrainsOnPreferencesAsTheyAre: DPO, KTO and reward training take the view without any code.
func TestTRLTrainsOnPreferencesAsTheyAre(t *testing.T) {
	folder := smallQwen3(t)
	s := storetest.New(t)
	d := disagreeing(t, s)
	e := relabel.Export{State: relabel.ExportQueued, Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1, Submitted: true},
		Form: relabel.ExportForm{Views: []relabel.View{relabel.ViewPreference}, Tokenizer: folder, Capacity: 8192}}
	dir, _ := buildMix(t, s, e, 1)
	work := t.TempDir()
	tiny, err := train.Programs.ReadFile("tiny_model.py")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(work, "tiny_model.py"), tiny, 0o600))
	must(t, os.WriteFile(filepath.Join(work, "preference.py"), []byte(preferenceProgram), 0o600))
	model := filepath.Join(work, "model")
	said := runPrograms(t, work, [][]string{{"tiny_model.py", folder, model}, {"preference.py", dir, model, filepath.Join(work, "out")}})
	if !strings.Contains(said[1], "rows 3") {
		t.Errorf("%s", said[1])
	}
}
