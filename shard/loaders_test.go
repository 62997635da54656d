package shard

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"relabel"
	"relabel/trainers"
)

// loaderTest is a trainer's own loader, run on the export that is written for the trainer.
type loaderTest struct {
	trainer, program string
	views            []relabel.View
	requirements     string // of the loader's Python, in examples/train/loaders; "": that of examples/train
	// newline says that the loader also trains on the newline that the template prints behind a stop token.
	newline bool
	// checkout is the folder of the trainer's repository below RELABEL_TEST_CHECKOUTS, for loaders that no package has.
	checkout string
	only     string // tokenizer, if not all of loaderTokenizers
}

const loadersFolder = "../examples/train/loaders"

// smallLoaders are run in `make test`, all others in `make test-trainers`.
var smallLoaders = []loaderTest{
	{trainer: "trl", program: "trl_data.py"},
	{trainer: "trl", program: "trl_data.py", views: []relabel.View{relabel.ViewPacked}},
	{trainer: "trl", program: "trl_data.py", views: []relabel.View{relabel.ViewPromptCompletion}, newline: true},
}

var largeLoaders = []loaderTest{
	{trainer: "axolotl", program: "axolotl_data.py", requirements: "axolotl.txt"},
	{trainer: "llama-factory", program: "llama_factory_data.py", requirements: "llama-factory.txt"},
	{trainer: "ms-swift", program: "ms_swift_data.py", requirements: "ms-swift.txt"},
	{trainer: "verl", program: "verl_data.py", requirements: "verl.txt"},
	{trainer: "openrlhf", program: "openrlhf_data.py", requirements: "openrlhf.txt"},
	{trainer: "automodel", program: "automodel_data.py", requirements: "automodel.txt"},
	{trainer: "tinker", program: "tinker_data.py", requirements: "tinker.txt"},
}

// checkoutLoaders are run if RELABEL_TEST_CHECKOUTS names a folder with their repositories.
var checkoutLoaders = []loaderTest{
	{trainer: "skyrl", program: "skyrl_data.py", requirements: "checkouts.txt", checkout: "SkyRL"},
	{trainer: "slime", program: "slime_data.py", requirements: "checkouts.txt", checkout: "slime"},
	{trainer: "nemo-rl", program: "nemo_rl_data.py", requirements: "checkouts.txt", checkout: "RL", newline: true},
	{trainer: "prime-rl", program: "prime_rl_data.py", requirements: "checkouts.txt", checkout: "prime-rl", only: "qwen3"},
}

// loaderTokenizers are those of templates with a stable prefix, and of one that rewrites the history.
var loaderTokenizers = []string{"qwen2_5", "qwen3"}

// onlyForTrainers skips a test outside of `make test-trainers`: it installs gigabytes of trainers.
func onlyForTrainers(t *testing.T) {
	t.Helper()
	if os.Getenv("RELABEL_TEST_TRAINERS") == "" {
		t.Skip("each trainer needs a Python environment of its own: make test-trainers")
	}
}

func TestTRLTrainsOnTheLabelsOfItsExports(t *testing.T) {
	testLoaders(t, smallLoaders)
}

func TestTrainersTrainOnTheLabelsOfTheirExports(t *testing.T) {
	onlyForTrainers(t)
	testLoaders(t, largeLoaders)
}

func TestTrainersOfCheckoutsTrainOnTheLabelsOfTheirExports(t *testing.T) {
	if os.Getenv("RELABEL_TEST_CHECKOUTS") == "" {
		t.Skip("needs a folder with the trainers' repositories: RELABEL_TEST_CHECKOUTS")
	}
	testLoaders(t, checkoutLoaders)
}

func testLoaders(t *testing.T, list []loaderTest) {
	programs, exports, models := [][]string(nil), map[string]string{}, map[string]string{}
	each := func(do func(name, tokenizer string, l loaderTest)) {
		for _, tokenizer := range loaderTokenizers {
			for _, l := range list {
				if l.only != "" && l.only != tokenizer {
					continue
				}
				do(fmt.Sprint(l.trainer, l.views, " ", tokenizer), tokenizer, l)
			}
		}
	}
	each(func(name, tokenizer string, l loaderTest) {
		folder := filepath.Join(prepared(t, "", "../scripts/tokenizers.sh"), tokenizer)
		if models[tokenizer] == "" {
			models[tokenizer] = filepath.Join(t.TempDir(), "model")
			programs = append(programs, []string{"tiny_model.py", folder, models[tokenizer]})
		}
		exports[name] = loaderExport(t, relabel.ExportForm{For: l.trainer, Views: append([]relabel.View{relabel.ViewLinear}, l.views...), Tokenizer: folder})
		reference := []string{"loaders/linear.py", exports[name], models[tokenizer]}
		if l.newline {
			reference = append(reference, "\n")
		}
		programs = append(programs, reference)
		if l.requirements == "" {
			programs = append(programs, []string{"loaders/" + l.program, exports[name], models[tokenizer]})
		}
	})
	var printed []string
	for _, said := range runPrograms(t, "../examples/train", programs) {
		if strings.Contains(said, supervisedMark) {
			printed = append(printed, said)
		}
	}
	each(func(name, tokenizer string, l loaderTest) {
		want := printed[0]
		printed = printed[1:]
		got := ""
		if l.requirements == "" {
			got = printed[0]
			printed = printed[1:]
		}
		t.Run(name, func(t *testing.T) {
			if l.requirements != "" {
				got = l.run(t, exports[name], models[tokenizer])
			}
			l.compare(t, want, got)
		})
	})
}

// compare fails unless a loader has printed the tokens of the reference.
func (l loaderTest) compare(t *testing.T, reference, said string) {
	t.Helper()
	want, _ := supervised(t, reference)
	got, versions := supervised(t, said)
	if !maps.Equal(want, got) {
		t.Fatalf("%s trains on %d tokens, %d of which are not those of the linear view, and lacks %d of those", l.trainer, total(got), apart(got, want), apart(want, got))
	}
	result := "equal"
	if l.newline {
		result = "equal but for the newline behind the stop token"
	}
	t.Logf("%d tokens %s, %v", total(got), result, versions)
	if trainer, err := trainers.Find(l.trainer); err != nil || trainer.Run == "" {
		t.Errorf("the trainer says that its loader was not run: %v", err)
	}
}

// run runs a loader in the Python environment of its trainer, that of examples/train if it has none, and returns what
// it printed.
func (l loaderTest) run(t *testing.T, arguments ...string) string {
	t.Helper()
	requirements := "../examples/train/requirements.txt"
	if l.requirements != "" {
		requirements = filepath.Join(loadersFolder, l.requirements)
	}
	python := prepared(t, "", "../scripts/python.sh", requirements)
	cmd := exec.Command(python, append([]string{filepath.Join(loadersFolder, l.program)}, arguments...)...)
	if l.checkout != "" {
		cmd.Args = append(cmd.Args, filepath.Join(os.Getenv("RELABEL_TEST_CHECKOUTS"), l.checkout))
	}
	cmd.Env = append(os.Environ(), "HF_HOME="+t.TempDir(), "HF_HUB_OFFLINE=1", "PYTHONDONTWRITEBYTECODE=1", "TOKENIZERS_PARALLELISM=false",
		"OMP_NUM_THREADS=1", "CUDA_VISIBLE_DEVICES=", "DO_NOT_TRACK=1", "AXOLOTL_DO_NOT_TRACK=1", "MODELSCOPE_CACHE="+t.TempDir())
	// Some loaders leave processes behind, which would keep a pipe open.
	name := filepath.Join(t.TempDir(), "said")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = file, file, &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Run()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	said, readErr := os.ReadFile(name)
	if err != nil || readErr != nil {
		t.Fatalf("%s: %v, %v\n%s", l.program, err, readErr, said[max(0, len(said)-3000):])
	}
	return string(said)
}

// supervised reads what a program of examples/train/loaders printed: the supervised tokens, each with a hash of what
// is before it, and the versions of the loader.
func supervised(t *testing.T, said string) (map[string]int, map[string]string) {
	t.Helper()
	for line := range strings.Lines(said) {
		_, after, there := strings.Cut(line, supervisedMark)
		if !there {
			continue
		}
		var found struct {
			Versions map[string]string
			Pairs    map[string]int
		}
		if err := json.Unmarshal([]byte(after), &found); err != nil {
			t.Fatal(err)
		}
		return found.Pairs, found.Versions
	}
	t.Fatalf("the program printed no supervised tokens:\n%s", said)
	return nil, nil
}

// supervisedMark is in front of what supervised.py prints.
const supervisedMark = "supervised tokens: "

func total(pairs map[string]int) (n int) {
	for _, count := range pairs {
		n += count
	}
	return n
}

// apart counts what the first has and the second has not.
func apart(a, b map[string]int) (n int) {
	for pair, count := range a {
		n += max(0, count-b[pair])
	}
	return n
}

// loaderExport builds an export of rollouts whose labels have thinking, several calls, calls alone or text alone.
func loaderExport(t *testing.T, form relabel.ExportForm) string {
	t.Helper()
	r := rand.New(rand.NewSource(5))
	var list []relabel.ExportTrajectory
	for number := range 5 {
		tr := mixedTrajectory(r, number, 4+r.Intn(4))
		for i := range tr.Turns {
			vary(r, &tr.Turns[i])
		}
		list = append(list, tr)
	}
	s := newFixedStore(list...)
	s.run.Prompts.Tools = append(s.run.Prompts.Tools, relabel.Tool{Name: "edit", Description: "Edits \"a\" file.", Parameters: `{"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer"}}}`})
	slices.Sort(form.Views)
	s.export.Form = form
	s.export.Form.Views = slices.Compact(form.Views)
	x := newTestExporter(t, s)
	var err error
	if s.export, err = x.Prepare(context.Background(), s.run.Recipe, s.export); err != nil {
		t.Fatal(err)
	}
	e := export(t, s, x)
	if e.Rows < 15 {
		t.Fatalf("the export has %d rows: %v", e.Rows, e.Excluded)
	}
	return e.Directory
}

// vary changes a turn so that labels differ in form. What the teacher executed stays its label.
func vary(r *rand.Rand, turn *relabel.Turn) {
	kind := r.Intn(4)
	change := func(a *relabel.Action) {
		if a.Status != relabel.Received {
			return
		}
		edit := relabel.ToolCall{ID: "e", Name: "edit", Arguments: fmt.Sprintf(`{"path": "größe/%d.py", "line": %d}`, turn.T, turn.T*100)}
		switch kind {
		case 0:
			a.Message.Content = ""
		case 1:
			a.Message.ToolCalls = append(slices.Clone(a.Message.ToolCalls), edit)
		case 2:
			a.Message.Content = "First:\n\n- 数据, \"quoted\" \\n"
		}
	}
	label := *turn.Label
	change(&label)
	turn.Label = &label
	if turn.Executor == relabel.Teacher {
		turn.Action = label
	}
}
