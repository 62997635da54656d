package shard

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"relabel"
)

const learnPrograms = "../examples/train/learn"

// learnTrajectory is a rollout with the calls of examples/train/learn: some turns are the teacher's, in
// some the student does the same, and in some its call is broken.
func learnTrajectory(r *rand.Rand, number, n int) relabel.ExportTrajectory {
	tr := someTrajectory(1, number, n)
	tr.Task.ProblemStatement = fmt.Sprintf("calm_bell(90, %d) returns 5310 but it should return 31. Fix the bug.", number)
	commands := []string{"cat atlas.py", "python3 check.py", "grep -n 'def calm_bell' *.py", "git checkout atlas.py"}
	for i := range tr.Turns {
		turn := &tr.Turns[i]
		label := had(relabel.Message{ToolCalls: []relabel.ToolCall{{Name: "execute_bash", Arguments: fmt.Sprintf(`{"command": %q}`, commands[r.Intn(4)])}}})
		turn.Label, turn.Action, turn.Executor = &label, label, relabel.Teacher
		turn.Observations = []relabel.Observation{{CallID: relabel.CallID(i+1, 0), Tool: "execute_bash", Content: fmt.Sprintf("FAIL calm_bell(46, %d): got 16, want 62", r.Intn(60))}}
		if r.Intn(2) == 0 {
			turn.Executor = relabel.Student
		}
		if r.Intn(3) == 0 {
			turn.Executor = relabel.Student
			turn.Action = had(relabel.Message{ToolCalls: []relabel.ToolCall{{Name: "execute_bash", Arguments: "<parameter=command>\ncat"}}})
		}
	}
	return tr
}

// training is what train.py says.
type training struct {
	SHA256  string `json:"sha256"`
	Init    string `json:"init_sha256"`
	Loss    float64
	Exports []struct {
		Manifest string `json:"manifest_sha256"`
		States   int
		Drawn    int
	}
}

// drawn is how many labelled states a training took of all its exports.
func (t training) drawn() (sum int) {
	for _, e := range t.Exports {
		sum += e.Drawn
	}
	return sum
}

// learned is what check_learn.py measures.
type learned struct {
	Made                   bool // the tokenizer is what make_tokenizer.py writes
	Gradient, Cached, Loss float64
	States                 int
	BatchStates            int `json:"batch_states"`
	First, Again, Later    training
	Server                 struct {
		Models []struct {
			ID      string
			Context int `json:"max_model_len"`
		}
		Worst      float64
		Repeatable bool
		Different  int
		Refused    map[string][2]any
		Neutral    int
	}
}

func checkLearn(t *testing.T, e relabel.Export) (l learned) {
	t.Helper()
	python := prepared(t, "RELABEL_TRAIN_PYTHON", "../scripts/python.sh", "../examples/train/requirements.txt")
	cmd := exec.Command(python, "testdata/check_learn.py", learnPrograms, e.Directory)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &l); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return l
}

// TestTheSmallStudentLearnsFromTreesAndIsServed runs the programs of examples/train/learn on an export:
// mechanics only, as a student learns nothing useful in seconds.
func TestTheSmallStudentLearnsFromTreesAndIsServed(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	var list []relabel.ExportTrajectory
	states := 0
	for number := range 6 {
		list = append(list, learnTrajectory(r, number, 2+r.Intn(3)))
		states += len(list[number].Turns)
	}
	tokenizer, err := filepath.Abs(filepath.Join(learnPrograms, "tokenizer"))
	if err != nil {
		t.Fatal(err)
	}
	s := newFixedStore(list...)
	s.run.Prompts = relabel.Prompts{First: "{problem_statement}"}
	s.export.Form = relabel.ExportForm{Views: []relabel.View{relabel.ViewTree}, Tokenizer: tokenizer, Capacity: 512, PadTree: true, Normalisation: relabel.PerTransition}
	x := newTestExporter(t, s)
	if s.export, err = x.Prepare(context.Background(), s.run.Recipe, s.export); err != nil {
		t.Fatal(err)
	}
	l := checkLearn(t, export(t, s, x))
	if !l.Made {
		t.Error("the tokenizer is not what make_tokenizer.py writes")
	}
	if l.Gradient > 1e-9 || l.States != states {
		t.Errorf("the gradient of trees is %g from that of their %d states alone; there are %d", l.Gradient, l.States, states)
	}
	if l.Cached > 1e-5 || l.Server.Worst > 1e-5 {
		t.Errorf("logits with a cache are %g from those without, and served ones %g", l.Cached, l.Server.Worst)
	}
	if l.BatchStates < 5 || l.BatchStates > 5+4 {
		t.Errorf("a batch of 5 states has %d", l.BatchStates)
	}
	checkTraining(t, l, states)
	checkDrawn(t, l)
	checkServer(t, l)
}

func checkTraining(t *testing.T, l learned, states int) {
	t.Helper()
	if l.First.SHA256 == "" || l.First.SHA256 != l.Again.SHA256 {
		t.Errorf("the same training gave %s and %s", l.First.SHA256, l.Again.SHA256)
	}
	if l.Later.Init != l.First.SHA256 || l.Later.SHA256 == l.First.SHA256 {
		t.Errorf("a training from %s gave %s from %s", l.First.SHA256, l.Later.SHA256, l.Later.Init)
	}
	if !(l.First.Loss < l.Loss/2 && l.Later.Loss < l.First.Loss) {
		t.Errorf("the loss went from %g to %g and %g", l.Loss, l.First.Loss, l.Later.Loss)
	}
	if len(l.First.Exports) != 1 || len(l.First.Exports[0].Manifest) != 64 || l.First.Exports[0].States != states {
		t.Errorf("it says that it was trained on %+v", l.First.Exports)
	}
}

// checkDrawn checks the labelled states of 30 batches, and of 4 of the same export twice, of at least 8 each.
func checkDrawn(t *testing.T, l learned) {
	t.Helper()
	const most = 8 + 3 // a tree has at most 4 states
	if n := l.First.drawn(); n < 30*8 || n > 30*most {
		t.Errorf("30 batches had %d states", n)
	}
	if n := l.Later.drawn(); n < 4*8 || n > 4*most {
		t.Errorf("4 batches had %d states", n)
	}
	if of := l.Later.Exports; len(of) != 2 || of[0].Drawn < 1 || of[1].Drawn < 1 {
		t.Errorf("of two exports it took %+v", of)
	}
}

func checkServer(t *testing.T, l learned) {
	t.Helper()
	if len(l.Server.Models) != 1 || l.Server.Models[0].ID != "m" || l.Server.Models[0].Context != 200 {
		t.Errorf("the models are %+v", l.Server.Models)
	}
	if !l.Server.Repeatable || l.Server.Different < 2 {
		t.Errorf("a seed repeats its answer: %t; 4 seeds gave %d answers", l.Server.Repeatable, l.Server.Different)
	}
	if l.Server.Neutral != 200 {
		t.Errorf("settings that change nothing were answered with %d", l.Server.Neutral)
	}
	status := map[string]float64{}
	for name, r := range l.Server.Refused {
		status[name] = r[0].(float64)
	}
	if want := map[string]float64{"repetition_penalty": 400, "unknown": 400, "model": 404, "context": 400, "top_p": 400}; !reflect.DeepEqual(status, want) {
		t.Errorf("refusals: %v", l.Server.Refused)
	}
	if said := fmt.Sprint(l.Server.Refused["context"]); !strings.Contains(said, "maximum context length is 200 tokens") {
		t.Errorf("a prompt that is too long is answered with %s", said)
	}
}
