package shard

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/render"
	"relabel/shard/shardtest"
)

// ownActions turns a store's trajectories into samples of the student alone: each label is the
// executed action with the ids of a server, and its log-probabilities. Tasks are in groups:
// two with different rewards, one with equal ones, and one with a single member.
func (m mix) ownActions(t testing.TB, student *render.Student, s *fixedStore) {
	t.Helper()
	for i := range s.list {
		tr := &s.list[i]
		tr.Task.InstanceID = fmt.Sprintf("task-%d", i%2)
		tr.Trajectory.Resolved = at(i%3 == 0)
		tr.StudentScores, tr.TeacherScores = map[int][]float32{}, map[int][]float32{}
		own(t, student, s.run, tr)
		for _, turn := range tr.Turns {
			tokens := len(turn.Action.TokenIDs)
			tr.StudentScores[turn.T], tr.TeacherScores[turn.T] = m.logprobs(tokens), m.logprobs(tokens)
		}
		if m.rarely(2) {
			delete(tr.TeacherScores, 1+m.Intn(len(tr.Turns)))
		}
	}
	group(s.list)
}

// logprobs draws n log-probabilities.
func (m mix) logprobs(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(math.Log(1 - m.Float64()))
	}
	return out
}

// own makes the executed action of each turn the student's, with the ids that a server of
// the student returns, and the label. Actions that the template does not render have no ids.
func own(t testing.TB, student *render.Student, run relabel.Run, tr *relabel.ExportTrajectory) {
	t.Helper()
	c := student.Converse(run.Prompts.Opening(tr.Task), run.Prompts.Tools)
	for i := range tr.Turns {
		turn := &tr.Turns[i]
		action := turn.Action
		action.PolicyID = tr.Student.ID
		prompt, _, err := c.Prompt()
		if err == nil {
			action.PromptTokenIDs = prompt
			action.TokenIDs, err = c.Label(action.Message.Canonical(turn.T))
		}
		var refusal *render.Refusal
		if err != nil && !errors.As(err, &refusal) {
			t.Fatal(err)
		}
		turn.Executor, turn.Action, turn.Label = relabel.Student, action, &action
		c.Advance(*turn)
	}
}

// group sets the rewards of trajectories' groups, as the store does.
func group(list []relabel.ExportTrajectory) {
	rewards := map[string][]float64{}
	of := func(tr relabel.ExportTrajectory) string {
		return fmt.Sprint(tr.Iteration.Number, tr.Task.InstanceID)
	}
	for _, tr := range list {
		if r := tr.Trajectory.Reward(); r != nil {
			rewards[of(tr)] = append(rewards[of(tr)], *r)
		}
	}
	seen := map[string]bool{}
	for i := range list {
		key := of(list[i])
		slices.Sort(rewards[key])
		list[i].Group = &relabel.RewardGroup{First: !seen[key], Rewards: rewards[key]}
		seen[key] = true
	}
}

// sampled returns the samples of a task by the student, each of n turns, with their rewards:
// 1, 0, −1 for a failure of the infrastructure, −2 for no submission and no verdict.
func sampled(t testing.TB, student *render.Student, run relabel.Run, task string, rewards ...int) (list []relabel.ExportTrajectory) {
	for i, reward := range rewards {
		tr := someTrajectory(1, i, 2)
		tr.Trajectory.ID = fixedID("%s %d", task, i)
		tr.Trajectory.Kind, tr.Iteration.Kind, tr.Iteration.Beta = relabel.Sample, relabel.Sample, nil
		tr.Task.InstanceID, tr.Task.ProblemStatement = task, "It fails."
		tr.Trajectory.Resolved = at(reward == 1)
		switch reward {
		case -1:
			tr.Trajectory.State, tr.Trajectory.Failure, tr.Trajectory.Resolved, tr.Trajectory.Submitted = relabel.Failed, "environment", nil, nil
		case -2:
			tr.Trajectory.Submitted, tr.Trajectory.Resolved = at(false), nil
		}
		own(t, student, run, &tr)
		list = append(list, tr)
	}
	return list
}

// reserved has a benchmark reserve the task of trajectories.
func reserved(list []relabel.ExportTrajectory) []relabel.ExportTrajectory {
	for i := range list {
		list[i].Benchmark = "fixed"
	}
	return list
}

// ownExport exports all views of samples, checks them, and returns the linear rows.
func ownExport(t *testing.T, recipe relabel.Recipe, form relabel.ExportForm, sel relabel.ExportSelection, list []relabel.ExportTrajectory, student *render.Student) ([]linearRow, relabel.Export) {
	t.Helper()
	s := newFixedStore(list...)
	s.run.Recipe = recipe
	s.newExport("own", sel)
	s.export.Form = form
	x := newTestExporter(t, s)
	var err error
	if s.export, err = x.Prepare(t.Context(), s.run.Recipe, s.export); err != nil {
		t.Fatal(err)
	}
	e := export(t, s, x)
	if r := check(t, e.Directory, student); !r.Sound() {
		t.Error(r.Lines())
	}
	return readRows[linearRow](t, filepath.Join(e.Directory, "linear", "00000.parquet")), e
}

func TestAdvantagesAreThoseOfTheGroupAndEqualGroupsAreCounted(t *testing.T) {
	folder, student := testStudent(t)
	s := newFixedStore()
	list := slices.Concat(
		sampled(t, student, s.run, "a", 1, 0, 0, 1, 0, 0, -2, 0),
		sampled(t, student, s.run, "b", 1, -1, 0, -2),
		sampled(t, student, s.run, "c", 0, 0, -2),
		sampled(t, student, s.run, "d", 1, -1),
		reserved(sampled(t, student, s.run, "e", 1, 0)),
		reserved(sampled(t, student, s.run, "f", 0, 0)),
		reserved(sampled(t, student, s.run, "g", 1)),
	)
	group(list)
	form := relabel.ExportForm{Views: relabel.Views, Tokenizer: folder}
	rows, e := ownExport(t, relabel.GRPO, form, relabel.ExportSelection{MixedRewards: true}, list, student)
	// By hand: a has mean 1/4 and std √(3/14); b, without its failure, 1/3 and √(1/3).
	want := map[string]map[float32]float64{"1/a": {1: 1.6201816746, 0: -0.5400605582}, "1/b": {1: 1.1546985384, 0: -0.5773492692}}
	labels := map[string]int{}
	for _, row := range rows {
		if len(row.TeacherLogprobs)+len(row.StudentLogprobs) > 0 {
			t.Fatal("grpo has no log-probabilities")
		}
		for _, span := range row.Spans {
			a, known := want[span.GroupID][*span.Reward]
			labels[span.GroupID]++
			for q := span.Start; q < span.Start+span.Length; q++ {
				if !known || span.IDs != "served" || math.Abs(float64(row.Advantages[q])-a) > 1e-6 || row.LossWeights[q] != row.Advantages[q] {
					t.Fatalf("token %d of %+v has the advantage %v and the weight %v, want %v", q, span, row.Advantages[q], row.LossWeights[q], a)
				}
			}
		}
	}
	if labels["1/a"] != 16 || labels["1/b"] != 6 || len(labels) != 2 {
		t.Errorf("labels by group: %v", labels)
	}
	m := readManifest(t, e.Directory)
	if *m.Groups != (relabel.ManifestGroups{Mixed: 2, Equal: 1, TooSmall: 1}) || m.Advantage.Epsilon != 1e-6 || m.Advantage.DDoF != 1 || !slices.Equal(m.Advantage.Rewards["1/b"], []float64{0, 0, 1}) {
		t.Errorf("%+v, %+v", m.Groups, m.Advantage)
	}
	const groups = "2 groups have mixed rewards; excluded are 1 with equal rewards and 1 of fewer than two members."
	if text := filesBelow(t, e.Directory)[readmeName]; !strings.Contains(text, groups) {
		t.Errorf("no %q in\n%s", groups, text)
	}
	if x := e.Excluded; x["equal_rewards"] != 6 || x["group_too_small"] != 2 || x["trajectory_failed"] != 4 || x["benchmark:fixed"] != 10 || len(x) != 4 {
		t.Errorf("excluded: %v", x)
	}
}

func TestWeightsOfOPDAreLogRatiosByTokenOrByTurn(t *testing.T) {
	folder, student := testStudent(t)
	s := newFixedStore()
	for _, c := range []struct {
		span          relabel.WeightSpan
		normalisation relabel.Normalisation
	}{{"", ""}, {relabel.SpanTurn, ""}, {relabel.SpanTurn, relabel.PerTransition}} {
		list := sampled(t, student, s.run, "a", 1, 0, 0)
		for i := range list {
			list[i].StudentScores, list[i].TeacherScores = map[int][]float32{}, map[int][]float32{}
			for _, turn := range list[i].Turns {
				list[i].StudentScores[turn.T] = slices.Repeat([]float32{-0.5}, len(turn.Action.TokenIDs))
				list[i].TeacherScores[turn.T] = slices.Repeat([]float32{-2}, len(turn.Action.TokenIDs))
				list[i].TeacherScores[turn.T][0] = -0.25
			}
		}
		delete(list[1].TeacherScores, 2)
		list[2].StudentScores[1][0] = float32(math.Inf(-1))
		list[2].TeacherScores[2] = list[2].TeacherScores[2][1:]
		list[2].Trajectory.Resolved = nil
		list[0].TeacherScores[2][1] = -9999
		form := relabel.ExportForm{Views: relabel.Views, Tokenizer: folder, WeightSpan: c.span, Normalisation: c.normalisation}
		rows, e := ownExport(t, relabel.OPD, form, relabel.ExportSelection{}, list, student)
		if x := e.Excluded; x["score_missing"] != 1 || x["score_invalid"] != 2 || x["score_impossible"] != 1 || e.Rows != 2 {
			t.Errorf("%d rows, excluded: %v", e.Rows, x)
		}
		for _, row := range rows {
			for _, span := range row.Spans {
				n := float32(span.Length)
				for i := range int(span.Length) {
					q := int(span.Start) + i
					want := float32(-1.5)
					if i == 0 {
						want = 0.25
					}
					if c.span == relabel.SpanTurn {
						want = 0.25 - 1.5*(n-1)
					}
					if c.normalisation == relabel.PerTransition {
						want /= n
					}
					if row.LossWeights[q] != want || row.StudentLogprobs[q] != -0.5 || len(row.Advantages) > 0 {
						t.Fatalf("%+v: token %d of %d has the weight %v, want %v", c, i, span.Length, row.LossWeights[q], want)
					}
				}
			}
		}
	}
}

// TestOwnActionsAreExportedEvenIfTheyFailed: a sum over the student's actions without those
// that cannot be executed would be biased.
func TestOwnActionsAreExportedEvenIfTheyFailed(t *testing.T) {
	folder, student := testStudent(t)
	list := sampled(t, student, newFixedStore().run, "a", 1, 0) // its second turns have no call
	list[0].Turns[0].Label.TokenIDs = nil
	group(list)
	_, e := ownExport(t, relabel.GRPO, relabel.ExportForm{Views: relabel.Views, Tokenizer: folder}, relabel.ExportSelection{MixedRewards: true}, list, student)
	if e.Rows != 3 || e.Excluded["ids_not_served"] != 1 || len(e.Excluded) != 1 {
		t.Errorf("%d rows, excluded: %v", e.Rows, e.Excluded)
	}
}

func TestFormsThatCannotExpressSignedWeightsAreRefused(t *testing.T) {
	folder := shardtest.Student(t)
	tokens := []relabel.View{relabel.ViewLinear}
	for field, c := range map[string]struct {
		recipe relabel.Recipe
		form   relabel.ExportForm
	}{
		"weight_span": {relabel.GRPO, relabel.ExportForm{Views: tokens, Tokenizer: folder, WeightSpan: relabel.SpanTurn}},
		"views":       {relabel.GRPO, relabel.ExportForm{}},
		"bare":        {relabel.OPD, relabel.ExportForm{Views: tokens, Tokenizer: folder, Bare: true}},
		"reasoning":   {relabel.OPD, relabel.ExportForm{Views: tokens, Tokenizer: folder, Reasoning: relabel.ReasoningDrop}},
	} {
		s := newFixedStore()
		s.run.Recipe = c.recipe
		s.export.Form = c.form
		_, err := newTestExporter(t, s).Prepare(t.Context(), s.run.Recipe, s.export)
		var refused *relabel.Error
		if !errors.As(err, &refused) || refused.Code != relabel.CodeInvalid || refused.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
