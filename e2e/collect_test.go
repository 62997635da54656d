package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/chat"
	"relabel/policy/scripted"
)

// collected is what the rounds of two runs left.
type collected struct {
	*bench
	models     *models
	dagger     relabel.Run
	rounds     []round // β 1.0, 0.8, 0.6
	student    round   // β 0
	aggrevate  round
	evaluation round
	asked      map[relabel.ID][]asked // by iteration
}

// TestCollection rolls out the rounds of a dagger run and of an aggrevate run over REST,
// and checks the results.
func TestCollection(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := &collected{models: newModels(t, l, scripted.Config{}), asked: map[relabel.ID][]asked{}}
	c.bench = newBench(t, l, c.models.teacher())
	c.dagger = c.run(t, "dagger", nil)
	for _, skill := range []string{"0.3", "0.5", "0.7"} {
		c.rounds = append(c.rounds, c.roll(t, c.dagger, skill, nil))
	}
	c.student = c.roll(t, c.dagger, "0.5", map[string]any{"beta": 0})
	aggrevate := c.run(t, "aggrevate", map[string]any{"recipe": relabel.AggreVaTe, "rho": relabel.RhoSchedule{Kind: "uniform", Max: 4}})
	c.aggrevate = c.roll(t, aggrevate, "0.5", nil)
	c.evaluation = c.roll(t, c.dagger, "0.7", map[string]any{"kind": relabel.Evaluate, "held_out": true})
	if t.Failed() {
		return
	}
	t.Run("EveryVisitedStateHasOneLabel", c.oneLabel)
	t.Run("TheRoundsAreOfTheSchedule", c.schedule)
	t.Run("AtBetaOneTheStudentIsNeverCalledAndTheTeacherResolves", c.teacherAlone)
	t.Run("AtBetaZeroTheTeacherNeverExecutes", c.studentAlone)
	t.Run("AggrevateHandsOverOnce", c.handsOver)
	t.Run("ModelsAreAskedForTheStatesThatAreShown", c.states)
	t.Run("LabelsOfStudentTurnsAreInNoState", c.labelsApart)
	t.Run("AnEvaluationIsGreedyAndWithoutTheTeacher", c.evaluated)
	t.Run("HeldOutTasksAreNotForTraining", c.kept)
	t.Run("AnExportIsDownloadedAndLoaded", c.exported)
}

// roll collects a round with a student of a skill.
func (c *collected) roll(t *testing.T, run relabel.Run, skill string, more map[string]any) round {
	t.Helper()
	c.models.questions()
	r := c.collect(t, run, c.policy(t, c.models.student(skill)), more)
	c.asked[r.ID] = c.models.questions()
	return r
}

// labelled are the collect rounds.
func (c *collected) labelled() []round { return append(slices.Clone(c.rounds), c.student, c.aggrevate) }

// oneLabel runs the query that the documentation prints.
func (c *collected) oneLabel(t *testing.T) {
	doc, err := os.ReadFile("../docs/architecture.md")
	noError(t, err)
	_, rest, _ := strings.Cut(string(doc), "exactly one label")
	_, rest, _ = strings.Cut(rest, "```sql\n")
	query, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/architecture.md prints no query")
	}
	turns := 0
	for _, r := range c.labelled() {
		for _, j := range r.trajectories {
			turns += j.Turns
			for _, turn := range j.turns {
				if turn.Label == nil || turn.Label.Status != relabel.Received || turn.Label.PolicyID != c.teacher.ID {
					t.Errorf("turn %d of %s is labelled %+v", turn.T, j.InstanceID, turn.Label)
				}
			}
		}
	}
	rows, _ := c.connect(t).Query(bounded(t), query)
	answer, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a [2]int, err error) {
		err = row.Scan(&a[0], &a[1])
		return a, err
	})
	noError(t, err)
	if want := [][2]int{{1, turns}}; !slices.Equal(answer, want) {
		t.Errorf("labels and turns are %v, want %v", answer, want)
	}
}

func (c *collected) schedule(t *testing.T) {
	var betas []string
	for i, r := range append(slices.Clone(c.rounds), c.student) {
		betas = append(betas, fmt.Sprintf("%.1f", *r.Beta))
		if r.Number != i+1 || r.Progress.LabelsReceived != r.Progress.Turns || r.Progress.LabelsMissed+r.Progress.LabelsPending != 0 {
			t.Errorf("round %d: %+v", r.Number, r.Progress)
		}
	}
	if want := []string{"1.0", "0.8", "0.6", "0.0"}; !slices.Equal(betas, want) {
		t.Errorf("β is %v, want %v", betas, want)
	}
	for _, r := range c.labelled() {
		for _, j := range r.trajectories {
			if len(j.Executors) != 16 {
				t.Errorf("%d executors were drawn", len(j.Executors))
			}
			for i, turn := range j.turns {
				if turn.T != i+1 || turn.Executor != j.Executors.At(turn.T) {
					t.Errorf("the %s executed turn %d of %s, %s", turn.Executor, turn.T, j.InstanceID, j.Executors)
				}
			}
		}
	}
}

func (c *collected) teacherAlone(t *testing.T) {
	for _, j := range c.rounds[0].trajectories {
		if len(j.calls) != j.Turns {
			t.Errorf("%d calls for %d turns", len(j.calls), j.Turns)
		}
		for _, call := range j.calls {
			if call.PolicyID != c.teacher.ID || call.Purpose != relabel.PurposeAct {
				t.Errorf("a call of %s to %s", call.Purpose, call.PolicyID)
			}
		}
		if j.EndReason != relabel.EndFinish || j.Submitted == nil || !*j.Submitted || j.Resolved == nil || !*j.Resolved {
			t.Errorf("%s ended by %s, submitted %s, resolved %s", j.InstanceID, j.EndReason, truth(j.Submitted), truth(j.Resolved))
		}
	}
	for _, q := range c.asked[c.rounds[0].ID] {
		if q.Model != scripted.TeacherModel {
			t.Errorf("%s was asked", q.Model)
		}
	}
}

func (c *collected) studentAlone(t *testing.T) {
	for _, j := range c.student.trajectories {
		for _, turn := range j.turns {
			if turn.Executor != relabel.Student || turn.Action.PolicyID != c.student.StudentID {
				t.Errorf("turn %d was the %s's", turn.T, turn.Executor)
			}
		}
		for _, call := range j.calls {
			if (call.PolicyID == c.teacher.ID) != (call.Purpose == relabel.PurposeLabel) {
				t.Errorf("a call of %s to %s", call.Purpose, call.PolicyID)
			}
		}
		if len(j.calls) != 2*j.Turns {
			t.Errorf("%d calls for %d turns", len(j.calls), j.Turns)
		}
	}
}

func (c *collected) handsOver(t *testing.T) {
	for _, j := range c.aggrevate.trajectories {
		if j.Kappa == nil || *j.Kappa > 4 {
			t.Fatalf("%s has no κ up to 4", j.InstanceID)
		}
		want := strings.Repeat("s", *j.Kappa) + strings.Repeat("T", 16-*j.Kappa)
		if string(j.Executors) != want {
			t.Errorf("κ is %d, executors are %s", *j.Kappa, j.Executors)
		}
	}
}

// states demands that the teacher was asked exactly once at each state that is shown,
// in the bytes that are shown, and the student once at each of its own.
func (c *collected) states(t *testing.T) {
	for _, r := range c.labelled() {
		questions := map[string]int{} // by model and messages
		for _, q := range c.asked[r.ID] {
			questions[q.Model+" "+string(q.Messages)]++
		}
		student := ""
		for _, q := range c.asked[r.ID] {
			if q.Model != scripted.TeacherModel {
				student = q.Model
			}
		}
		for _, j := range r.trajectories {
			for _, turn := range j.turns {
				state := asSent(t, c.state(t, j.Trajectory, turn.T))
				questions[scripted.TeacherModel+" "+state]--
				if turn.Executor == relabel.Student {
					questions[student+" "+state]--
				}
			}
		}
		var apart [2]string // of what was asked and not shown, and shown and not asked, the first
		for q, n := range questions {
			if n != 0 {
				i := min(max(n, 0), 1)
				if apart[i] == "" || q < apart[i] {
					apart[i] = q
				}
			}
		}
		if apart != [2]string{} {
			t.Errorf("iteration %d: what was asked and what is shown part at\n%.300s\nand\n%.300s", r.Number, pastCommon(apart[1], apart[0]), pastCommon(apart[0], apart[1]))
		}
	}
}

// asSent is a state as endpoints get it: those would refuse arguments that are no JSON
// object, so they are told of them inside of one.
func asSent(t *testing.T, state json.RawMessage) string {
	t.Helper()
	var raw []json.RawMessage
	noError(t, json.Unmarshal(state, &raw))
	var messages []relabel.Message
	for _, r := range raw {
		m, err := chat.DecodeMessage(r)
		noError(t, err)
		for k, call := range m.ToolCalls {
			var object map[string]json.RawMessage
			if json.Unmarshal([]byte(call.Arguments), &object) != nil {
				m.ToolCalls[k].Arguments = string(append(chat.AppendString([]byte(`{"malformed_arguments": `), call.Arguments), '}'))
			}
		}
		messages = append(messages, m)
	}
	return string(chat.AppendMessages(nil, messages))
}

// pastCommon is the end of a from shortly before where it parts from b.
func pastCommon(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return a[max(0, i-100):]
}

func (c *collected) labelsApart(t *testing.T) {
	differ := 0
	for _, r := range c.labelled() {
		for _, j := range r.trajectories {
			last := c.state(t, j.Trajectory, j.Turns)
			for _, turn := range j.turns[:j.Turns-1] {
				if !bytes.Contains(last, turn.Action.Message) {
					t.Errorf("the action of turn %d of %s is not in its last state", turn.T, j.InstanceID)
				}
				if turn.Executor == relabel.Teacher || bytes.Equal(turn.Label.Message, turn.Action.Message) {
					continue
				}
				differ++
				if bytes.Contains(last, turn.Label.Message) {
					t.Errorf("the label of turn %d of %s is in a later state", turn.T, j.InstanceID)
				}
			}
		}
	}
	if differ == 0 {
		t.Error("no label differs from the student's action: nothing was tested")
	}
}

func (c *collected) evaluated(t *testing.T) {
	r := c.evaluation
	if r.Beta != nil || r.Progress.LabelsReceived+r.Progress.LabelsPending+r.Progress.LabelsMissed != 0 {
		t.Errorf("%+v", r)
	}
	for _, j := range r.trajectories {
		if j.InstanceID != heldOut {
			t.Errorf("%s is not held out", j.InstanceID)
		}
		for _, turn := range j.turns {
			if turn.Label != nil || turn.Executor != relabel.Student {
				t.Errorf("turn %d was the %s's, labelled %v", turn.T, turn.Executor, turn.Label)
			}
		}
		for _, call := range j.calls {
			if call.PolicyID != r.StudentID || call.Purpose != relabel.PurposeAct {
				t.Errorf("a call of %s to %s", call.Purpose, call.PolicyID)
			}
		}
	}
	for _, q := range c.asked[r.ID] {
		if q.Model == scripted.TeacherModel || q.Temperature == nil || *q.Temperature != 0 {
			t.Errorf("%s was asked at temperature %v", q.Model, q.Temperature)
		}
	}
	for _, q := range c.asked[c.student.ID] {
		if q.Temperature == nil || *q.Temperature != relabel.PaperSampling.Temperature {
			t.Errorf("in a collection %s was asked at temperature %v", q.Model, q.Temperature)
		}
	}
}

func (c *collected) kept(t *testing.T) {
	all, err := c.api.Trajectories(t.Context(), url.Values{"instance": {heldOut}})
	noError(t, err)
	for _, j := range all {
		if j.Kind != relabel.Evaluate {
			t.Errorf("%s is in a %s iteration", heldOut, j.Kind)
		}
	}
	if len(all) != 1 {
		t.Errorf("%d trajectories, want that of the evaluation", len(all))
	}
	body, err := json.Marshal(map[string]any{"student": c.student.StudentID, "instances": []string{heldOut}})
	noError(t, err)
	if status, answer := c.api.status(t, "POST", "/v1/runs/"+c.dagger.ID.String()+"/iterations", string(body)); status != 422 || !strings.Contains(answer, "held out") {
		t.Errorf("a collection of it: %d %s", status, answer)
	}
	body, err = json.Marshal(map[string]any{"name": "x", "recipe": relabel.DAgger, "taskset": c.set.ID, "teacher": c.teacher.ID, "seed": 1, "instances": []string{heldOut}})
	noError(t, err)
	if status, answer := c.api.status(t, "POST", "/v1/runs", string(body)); status != 422 || !strings.Contains(answer, "held out") {
		t.Errorf("a run on it: %d %s", status, answer)
	}
}
