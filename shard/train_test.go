package shard

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"relabel"
	"relabel/examples/train"
	"relabel/shard/render"
)

// smallQwen3 returns a folder with Qwen3's template and its tokenizer cut down to the first
// merges: a model with all 151,669 words takes a minute for what is told in seconds here.
func smallQwen3(t testing.TB) string {
	t.Helper()
	const merges = 2000
	from, to := filepath.Join(prepared(t, "", "../scripts/tokenizers.sh"), "qwen3"), t.TempDir()
	var tokenizer, config map[string]any
	readJSON(t, filepath.Join(from, "tokenizer.json"), &tokenizer)
	readJSON(t, filepath.Join(from, "tokenizer_config.json"), &config)
	delete(config, "added_tokens_decoder") // tokenizer.json has them too
	bpe := tokenizer["model"].(map[string]any)
	vocab := map[string]any{}
	for word, id := range bpe["vocab"].(map[string]any) {
		if id.(float64) < 256+merges { // bytes, then what each merge makes
			vocab[word] = id
		}
	}
	bpe["vocab"], bpe["merges"] = vocab, bpe["merges"].([]any)[:merges]
	for i, added := range tokenizer["added_tokens"].([]any) {
		added.(map[string]any)["id"] = len(vocab) + i
	}
	writeJSON(t, filepath.Join(to, "tokenizer.json"), tokenizer)
	writeJSON(t, filepath.Join(to, "tokenizer_config.json"), config)
	return to
}

func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// mixedTrajectory is a rollout in which the teacher acts at some turns, and the student
// sometimes as the teacher would; some labels have thinking, one in seven is missing.
func mixedTrajectory(r *rand.Rand, number, n int) relabel.ExportTrajectory {
	tr := someTrajectory(1+number%3, number, n)
	tr.Task.ProblemStatement = fmt.Sprintf("Issue %d: größe is 数据.", number)
	act := func(t int) relabel.Action {
		m := call("execute_bash", fmt.Sprintf(`{"command": "sed -n %d,%dp a_%d.py"}`, r.Intn(50), r.Intn(900), t))
		if r.Intn(3) == 0 {
			m.ReasoningContent = fmt.Sprintf("Line %d first.", r.Intn(100))
		}
		return had(m)
	}
	for i := range tr.Turns {
		turn, label := &tr.Turns[i], act(i+1)
		turn.Action, turn.Executor = act(i+1), relabel.Student
		turn.Observations = []relabel.Observation{{CallID: relabel.CallID(i+1, 0), Tool: "execute_bash", Content: fmt.Sprintf("%d lines\n", r.Intn(1000))}}
		switch r.Intn(7) {
		case 0, 1:
			turn.Executor = relabel.Teacher
			turn.Action = label
		case 2:
			turn.Action = label
		case 3:
			label = relabel.Action{Status: relabel.Missing, Reason: "endpoint"}
		}
		turn.Label = &label
	}
	return tr
}

// exportTokens builds all views, with weights that are not 1, in the tokens of Qwen3.
func exportTokens(t testing.TB, form relabel.ExportForm) relabel.Export {
	t.Helper()
	r := rand.New(rand.NewSource(3))
	var list []relabel.ExportTrajectory
	for number := range 6 {
		list = append(list, mixedTrajectory(r, number, 3+r.Intn(4)))
	}
	s := newFixedStore(list...)
	s.export.Form = form
	x := newTestExporter(t, s)
	var err error
	if s.export, err = x.Prepare(context.Background(), s.run.Recipe, s.export); err != nil {
		t.Fatal(err)
	}
	return export(t, s, x)
}

// shownProgram is a program as a README prints it, after its name.
var shownProgram = regexp.MustCompile("(?s)`([a-z_]+\\.py)`:\n\n```python\n(.*?)```")

// runPrograms runs programs of dir with real trainers, and returns what each said. All
// must end well.
func runPrograms(t *testing.T, dir string, programs [][]string) (said []string) {
	t.Helper()
	for _, p := range programs {
		p[0] = filepath.Join(dir, p[0])
	}
	list, err := json.Marshal(programs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(prepared(t, "RELABEL_TRAIN_PYTHON", "../scripts/python.sh", "../examples/train/requirements.txt"), "testdata/run_programs.py")
	cmd.Env = append(os.Environ(), "HF_HOME="+t.TempDir(), "HF_HUB_OFFLINE=1", "PYTHONDONTWRITEBYTECODE=1", "TOKENIZERS_PARALLELISM=false", "OMP_NUM_THREADS=1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(list), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out) {
		var ran struct {
			Code    int
			Said    string
			Seconds float64
		}
		if err := json.Unmarshal(line, &ran); err != nil {
			t.Fatal(err)
		}
		argv := programs[len(said)]
		if ran.Code != 0 {
			t.Fatalf("%v ended with %d:\n%s", argv, ran.Code, ran.Said)
		}
		t.Logf("%s: %v s", filepath.Base(argv[0]), ran.Seconds)
		said = append(said, ran.Said)
	}
	if len(said) != len(programs) {
		t.Fatalf("%d of %d programs were run", len(said), len(programs))
	}
	return said
}

// guards has TRL do, one after the other, what would train on something else without a
// word, and trains on rows without weights as TRL takes them.
const guards = `
import sys
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer
import train_trl
folder, bare, name, out = sys.argv[1:]
model, tokenizer = AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)
for view, settings in ("packed", {"padding_free": False}), ("linear", {"max_length": 64}):
    try:
        next(iter(train_trl.trainer(folder, view, model, tokenizer, out, **settings).get_train_dataloader()))
    except ValueError as e:
        print("refused:", e)
SFTTrainer(model=model, processing_class=tokenizer, train_dataset=load_dataset(bare, "linear", split="train"),
           args=SFTConfig(output_dir=out, max_length=None, max_steps=1, use_cpu=True, bf16=False, report_to="none", save_strategy="no")).train()
`

// flex compares FlexAttention with the dense mask; on a CPU it has no backward pass.
const flex = `
import sys
import torch
from transformers import AutoModelForCausalLM
import shards, train_tree
folder, name = sys.argv[1:]
model = AutoModelForCausalLM.from_pretrained(name).eval()
torch.compiler.set_stance("force_eager")
row = next(shards.rows(folder, "tree"))
with torch.no_grad():
    model.set_attn_implementation("sdpa")
    dense = train_tree.loss(model, row).item()
    train_tree.create_mask = train_tree.create_block_mask
    model.set_attn_implementation("flex_attention")
    assert abs(train_tree.loss(model, row).item() / dense - 1) < 1e-6, row["row_id"]
`

// loads reads every view with both libraries, and the linear one as verl would.
const loads = `
import glob, json, sys
import pyarrow.parquet as pq
from datasets import load_dataset
import verl_rows
folder = sys.argv[1]
for view in json.load(open(folder + "/manifest.json"))["views"]:
    rows = pq.read_table(folder + "/" + view).to_pylist()
    assert load_dataset(folder, view)["train"].to_list() == rows and rows, view
linear = verl_rows.Rows(glob.glob(folder + "/linear/*.parquet"))
print(round(sum(float(linear[i]["loss_mask"].sum()) for i in range(len(linear)))), "states")
`

// TestRealTrainersTakeAStepFromEachViewAndAllHaveTheSameGradient runs the programs that
// the README of an export prints, and those beside them.
func TestRealTrainersTakeAStepFromEachViewAndAllHaveTheSameGradient(t *testing.T) {
	tokenizer := smallQwen3(t)
	e := exportTokens(t, relabel.ExportForm{Views: relabel.Views, Tokenizer: tokenizer, Capacity: 2048, Normalisation: relabel.PerTransition, Divide: 2})
	bare := exportTokens(t, relabel.ExportForm{Views: []relabel.View{relabel.ViewLinear}, Tokenizer: tokenizer, Capacity: 2048, Normalisation: relabel.PerToken, Bare: true})
	dir := t.TempDir()
	if err := os.CopyFS(dir, train.Programs); err != nil {
		t.Fatal(err)
	}
	if shown, want := writeShown(t, e, dir), []string{"train_trl.py", "shards.py", "train_tree.py", "verl_rows.py"}; !slices.Equal(shown, want) {
		t.Fatalf("the README prints %v, want %v", shown, want)
	}
	if shown := writeShown(t, bare, dir); len(shown) > 0 {
		t.Errorf("the README of rows without weights prints %v", shown)
	}
	for name, text := range map[string]string{"guards.py": guards, "loads.py": loads, "flex.py": flex} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	model := filepath.Join(dir, "tiny")
	said := runPrograms(t, dir, [][]string{
		{"tiny_model.py", tokenizer, model},
		{"train_trl.py", e.Directory, "linear", model, filepath.Join(dir, "linear")},
		{"train_trl.py", e.Directory, "packed", model, filepath.Join(dir, "packed")},
		{"train_tree.py", e.Directory, model, filepath.Join(dir, "tree")},
		{"train_messages.py", e.Directory, model, filepath.Join(dir, "messages")},
		{"same_gradient.py", e.Directory, model},
		{"guards.py", e.Directory, bare.Directory, model, filepath.Join(dir, "out")},
		{"loads.py", e.Directory},
		{"flex.py", e.Directory, model},
	})
	for _, view := range []string{"linear", "packed", "tree", "messages"} {
		if _, err := os.Stat(filepath.Join(dir, view, "model.safetensors")); err != nil {
			t.Errorf("no model was saved: %v", err)
		}
	}
	for _, want := range []string{"refused: packed rows need padding_free=True", "refused: max_length must be None"} {
		if !strings.Contains(said[6], want) {
			t.Errorf("TRL was not %q: %s", want, said[6])
		}
	}
	if want := fmt.Sprintf("\n%d states\n", e.Rows); !strings.HasSuffix(said[7], want) {
		t.Errorf("verl would see %s, want %s", said[7], want)
	}
	checkGradients(t, said[5], 1e-9, "linear", "packed", "tree")
}

// TestRealTrainersOfSignedWeightsHaveTheGradientOfADirectComputation trains from an export of each
// recipe whose labels are the student's own actions, and compares its gradient.
func TestRealTrainersOfSignedWeightsHaveTheGradientOfADirectComputation(t *testing.T) {
	tokenizer := smallQwen3(t)
	student, err := render.Open(relabel.ExportForm{Tokenizer: tokenizer})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, train.Programs); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "tiny")
	programs := [][]string{{"tiny_model.py", tokenizer, model}}
	scored := relabel.Export{}
	for recipe, form := range map[relabel.Recipe]relabel.ExportForm{
		relabel.GRPO: {Normalisation: relabel.PerTransition},
		relabel.OPD:  {WeightSpan: relabel.SpanToken},
	} {
		m := mix{Rand: rand.New(rand.NewSource(4))}
		s := newFixedStore()
		list := sampled(t, student, s.run, "a", 1, 0, 0)
		for i := range list {
			list[i].StudentScores, list[i].TeacherScores = map[int][]float32{}, map[int][]float32{}
			for _, turn := range list[i].Turns {
				n := len(turn.Action.TokenIDs)
				list[i].StudentScores[turn.T], list[i].TeacherScores[turn.T] = m.logprobs(n), m.logprobs(n)
			}
		}
		group(list)
		form.Views, form.Tokenizer = relabel.Views, tokenizer
		_, e := ownExport(t, recipe, form, relabel.ExportSelection{MixedRewards: recipe == relabel.GRPO}, list, student)
		programs = append(programs, []string{"train_policy.py", e.Directory, "tree", model, filepath.Join(dir, string(recipe))},
			[]string{"policy_gradient.py", e.Directory, model})
		if recipe == relabel.OPD {
			scored = e
		}
		if keep := os.Getenv("RELABEL_TEST_OWN_DIR"); keep != "" {
			if err := os.CopyFS(filepath.Join(keep, string(recipe)), os.DirFS(e.Directory)); err != nil {
				t.Fatal(err)
			}
		}
	}
	programs = append(programs, []string{"same_scores.py", scored.Directory, model, model, "1000"})
	said := runPrograms(t, dir, programs)
	checkScores(t, said[5])
	for _, at := range []int{2, 4} {
		checkGradients(t, said[at], 1e-5, "linear", "tree")
	}
	for _, recipe := range []string{"opd", "grpo"} {
		if _, err := os.Stat(filepath.Join(dir, recipe, "model.safetensors")); err != nil {
			t.Errorf("no model was saved: %v", err)
		}
	}
}

// checkGradients reads what a program that compares gradients said of each view.
func checkGradients(t *testing.T, said string, most float64, views ...string) {
	t.Log(said)
	apart := regexp.MustCompile(`(?m)^(linear|packed|tree): relative difference (\S+)$`).FindAllStringSubmatch(said, -1)
	if len(apart) != len(views) {
		t.Fatalf("the program said %s, not something of each of %v", said, views)
	}
	for _, a := range apart {
		if d, err := strconv.ParseFloat(a[2], 64); err != nil || !(d <= most) {
			t.Errorf("the gradient of %s is %s from that of the states alone", a[1], a[2])
		}
	}
}

// writeShown writes the programs that an export's README prints into dir, and returns
// their names.
func writeShown(t *testing.T, e relabel.Export, dir string) (names []string) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(e.Directory, readmeName))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range shownProgram.FindAllSubmatch(readme, -1) {
		names = append(names, string(p[1]))
		if err := os.WriteFile(filepath.Join(dir, string(p[1])), p[2], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// checkScores checks that same_scores.py finds that scores drawn at random are not the model's.
func checkScores(t *testing.T, said string) {
	t.Helper()
	for _, policy := range []string{"student", "teacher"} {
		if !regexp.MustCompile(policy + `: [1-9]\d* tokens, largest difference \d+[\d.]*, mean [1-9]`).MatchString(said) {
			t.Errorf("%s: %s", policy, said)
		}
	}
}
