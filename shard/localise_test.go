package shard

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/render"
)

const answer = "The gold is here:\n```\na.py::f\nb.go::g\n```"

// searched is a rollout of a task to localise with a score: a call, the end of the search, and the answer,
// which calls nothing and has no observation.
func searched(number int, score float64, hits int) relabel.ExportTrajectory {
	tr := someTrajectory(1, number, 3)
	tr.Task.ProblemStatement = "It fails."
	tr.Trajectory.Resolved, tr.Trajectory.Verdict = nil, relabel.VerdictScore
	tr.Trajectory.Score, tr.Trajectory.Hits = &score, &hits
	for i, action := range []relabel.Message{call("SearchFunction", `{"file": "a.py", "function": "f"}`), call("Exit", "{}"), {Content: fmt.Sprintf("%s\n%d", answer, number)}} {
		did := had(action)
		tr.Turns[i] = relabel.Turn{T: i + 1, Executor: relabel.Teacher, Action: did, Label: &did}
		if i < 2 {
			tr.Turns[i].Observations = []relabel.Observation{{CallID: relabel.CallID(i+1, 0), Tool: action.ToolCalls[0].Name, Content: "found"}}
		}
	}
	return tr
}

// sampledScores are the student's rollouts of one task with their scores.
func sampledScores(t testing.TB, student *render.Student, run relabel.Run, task string, scores ...float64) (list []relabel.ExportTrajectory) {
	for i, score := range scores {
		tr := searched(i, score, 1)
		tr.Trajectory.ID = fixedID("%s %d", task, i)
		tr.Trajectory.Kind, tr.Iteration.Kind, tr.Iteration.Beta = relabel.Sample, relabel.Sample, nil
		tr.Task.InstanceID = task
		own(t, student, run, &tr)
		list = append(list, tr)
	}
	return list
}

func TestAnswersWithoutACallAreExportedInEveryView(t *testing.T) {
	folder, student := testStudent(t)
	form := relabel.ExportForm{Views: relabel.Views, Tokenizer: folder}
	rows, e := ownExport(t, relabel.SFT, form, relabel.ExportSelection{Submitted: true, Hit: true}, []relabel.ExportTrajectory{searched(0, 1, 2), searched(1, 0, 0)}, student)
	if e.Rows != 3 || e.Excluded["no_hit"] != 3 || len(e.Excluded) != 1 {
		t.Fatalf("%d rows, excluded %v", e.Rows, e.Excluded)
	}
	supervised := ""
	for _, span := range rows[0].Spans {
		supervised = string(student.Tokens.Decode(rows[0].InputIDs[span.Start : span.Start+span.Length]))
	}
	if len(rows) != 1 || len(rows[0].Spans) != 3 || !strings.HasPrefix(supervised, answer) || !strings.HasSuffix(supervised, student.Stop) {
		t.Errorf("%d sequences, %d labels in the first, the last one %q", len(rows), len(rows[0].Spans), supervised)
	}
	messages := readRows[messagesRow](t, filepath.Join(e.Directory, "messages", "00000.parquet"))
	if last := messages[len(messages)-1]; len(messages) != 3 || !strings.Contains(last.Label, "a.py::f") || strings.Contains(last.Label, "tool_calls") || strings.Contains(string(last.Messages), "The gold is here") {
		t.Errorf("%d rows of messages, the last label %s", len(messages), last.Label)
	}
}

func TestAdvantagesOfScoresAreThoseOfTheGroup(t *testing.T) {
	folder, student := testStudent(t)
	run := newFixedStore().run
	const low, high = 0.6131471927654584, 0.6131481927654584 // differ by 1e-6
	list := slices.Concat(
		sampledScores(t, student, run, "a", 1, 0.5, 0, 0.25),
		sampledScores(t, student, run, "b", low, high),
		sampledScores(t, student, run, "c", 0.5, 0.5, 0.5),
	)
	group(list)
	rows, e := ownExport(t, relabel.GRPO, relabel.ExportForm{Views: relabel.Views, Tokenizer: folder}, relabel.ExportSelection{MixedRewards: true}, list, student)
	// By hand: a has mean 7/16 and std √(35/192); b has mean 0.61314769276… and std 1e-6 ÷ √2.
	std := math.Sqrt(35.0 / 192)
	want := map[string]map[float32]float64{
		"1/a": {1: 0.5625 / (std + 1e-6), 0.5: 0.0625 / (std + 1e-6), 0.25: -0.1875 / (std + 1e-6), 0: -0.4375 / (std + 1e-6)},
		"1/b": {float32(low): -0.2928932188, float32(high): 0.2928932188},
	}
	labels := map[string]int{}
	for _, row := range rows {
		for _, span := range row.Spans {
			labels[span.GroupID]++
			if a := want[span.GroupID][*span.Reward]; a == 0 || math.Abs(float64(row.Advantages[span.Start])-a) > 1e-6 {
				t.Errorf("%s, reward %v: the advantage %v, want %v", span.GroupID, *span.Reward, row.Advantages[span.Start], a)
			}
		}
	}
	if labels["1/a"] != 12 || labels["1/b"] != 6 || len(labels) != 2 || e.Excluded["equal_rewards"] != 9 {
		t.Errorf("labels %v, excluded %v", labels, e.Excluded)
	}
	if m := readManifest(t, e.Directory); !slices.Equal(m.Advantage.Rewards["1/a"], []float64{0, 0.25, 0.5, 1}) || m.Trajectories.Verdicts["scored"] != 6 {
		t.Errorf("%+v, %+v", m.Advantage, m.Trajectories)
	}
}

func TestATrajectoryIsExcludedByItsScore(t *testing.T) {
	half := 0.5
	for name, c := range map[string]struct {
		sel    relabel.ExportSelection
		change func(*relabel.Trajectory)
		want   Reason
		detail string
	}{
		"a hit":               {relabel.ExportSelection{Submitted: true, Hit: true, MinScore: &half}, nil, "", ""},
		"none":                {relabel.ExportSelection{Submitted: true, Hit: true}, func(t *relabel.Trajectory) { t.Hits, t.Score = new(0), new(0.0) }, NoHit, ""},
		"none is asked":       {relabel.ExportSelection{Submitted: true}, func(t *relabel.Trajectory) { t.Hits, t.Score = new(0), new(0.0) }, "", ""},
		"too low":             {relabel.ExportSelection{MinScore: &half}, func(t *relabel.Trajectory) { t.Score = new(0.25) }, ScoreTooLow, "0.25"},
		"no score":            {relabel.ExportSelection{MinScore: &half}, func(t *relabel.Trajectory) { t.Score, t.Hits = nil, nil }, ScoreTooLow, "no score"},
		"not verified":        {relabel.ExportSelection{MinScore: &half}, func(t *relabel.Trajectory) { t.SkipVerify, t.Score, t.Hits = true, nil, nil }, NotVerified, ""},
		"scored all the same": {relabel.ExportSelection{MinScore: &half, Hit: true}, func(t *relabel.Trajectory) { t.SkipVerify = true }, "", ""},
		"prompt too long":     {relabel.ExportSelection{Hit: true}, func(t *relabel.Trajectory) { t.EndReason, t.Score, t.Hits = relabel.EndPromptTooLong, nil, nil }, CutByRule, ""},
	} {
		tr := searched(0, 0.5, 1)
		if c.change != nil {
			c.change(&tr.Trajectory)
		}
		if got, detail := excludeTrajectory(relabel.SFT, c.sel, tr); got != c.want || detail != c.detail {
			t.Errorf("%s: %q, %q, want %q, %q", name, got, detail, c.want, c.detail)
		}
	}
}
