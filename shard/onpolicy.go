package shard

import (
	"fmt"
	"math"
	"slices"

	"relabel"
	"relabel/chat"
	"relabel/shard/render"
	"relabel/shard/tree"
	"relabel/stats"
)

// checkRecipe returns CodeInvalid if the form cannot express the recipe's weights.
func checkRecipe(f relabel.ExportForm, r relabel.Recipe) error {
	bad := func(field, format string, a ...any) error {
		return relabel.Errorf(relabel.CodeInvalid, format, a...).On(field)
	}
	switch {
	case f.WeightSpan != "" && r != relabel.OPD:
		return bad("weight_span", "applies to runs of recipe opd only: the run's recipe is %s, which gives all tokens of a label one weight", r)
	case !r.OnPolicy():
		return nil
	case !f.Tokens():
		return bad("views", "recipe %s has a weight for each token: add linear, packed or tree", r)
	case slices.Contains(f.Views, relabel.ViewPreference):
		return bad("views", "recipe %s has no labels of a teacher to prefer: omit preference", r)
	case f.Bare:
		return bad("bare", "rows have no weights, and recipe %s has weights other than 1", r)
	case f.Reasoning != relabel.ReasoningTemplate:
		return bad("reasoning", "must be template: recipe %s trains on the ids that the student's server returned", r)
	}
	return nil
}

// excludeLabel returns why a turn's label is excluded, with a detail, or "". The student's own
// actions are exported even if they failed: without them, a weighted sum over its actions would
// be biased towards those that succeeded.
func (b *selector) excludeLabel(label *relabel.Action) (reason Reason, detail string) {
	if !b.run.Recipe.OnPolicy() || label == nil || label.Status != relabel.Received {
		return excludeLabel(label)
	}
	switch {
	case !chat.ValidText(label.Message):
		return LabelNotText, "it contains invalid UTF-8"
	case label.Parse == relabel.CutByLength:
		return LabelCut, ""
	}
	return "", ""
}

// groupID returns the name of a trajectory's group: <iteration>/<instance id>.
func groupID(tr relabel.ExportTrajectory) string {
	return fmt.Sprintf("%d/%s", tr.Iteration.Number, tr.Task.InstanceID)
}

// addReward adds group and reward, which spans of the student's own actions have.
func (b *selector) addReward(to *tree.Origin, l *labelled) {
	if !b.run.Recipe.OnPolicy() {
		return
	}
	to.Group = l.group
	if reward := l.Trajectory.Reward(); reward != nil {
		to.Reward = new(float32(*reward))
	}
}

// weigh sets the weights of a label, before normalisation, and the values behind them. The
// error is a *render.Refusal if they are unknown.
func (b *selector) weigh(to *tree.Turn, l *labelled) error {
	switch b.run.Recipe {
	case relabel.GRPO:
		advantage := float32(tree.Advantage(*l.Trajectory.Reward(), l.Group.Rewards))
		to.Weight, to.Signals.Advantages = advantage, slices.Repeat([]float32{advantage}, len(to.Answer))
		return nil
	case relabel.OPD:
		if err := scored(to, l); err != nil {
			to.Prompt, to.Answer, to.Labelled, to.Served = nil, nil, false, false
			return err
		}
		to.Weights = tree.LogRatios(to.Signals.Teacher, to.Signals.Student, b.form.WeightSpan == relabel.SpanTurn)
	}
	return nil
}

// scored sets the log-probabilities of a label. The error is a *render.Refusal if they are
// missing, or do not fit the label's tokens.
func scored(to *tree.Turn, l *labelled) error {
	for _, of := range []struct {
		who    string
		scores map[int][]float32
		set    *[]float32
	}{{"teacher", l.TeacherScores, &to.Signals.Teacher}, {"student", l.StudentScores, &to.Signals.Student}} {
		scores, there := of.scores[to.T]
		switch {
		case !there:
			return &render.Refusal{Reason: render.Reason(ScoreMissing), Detail: "not scored by the " + of.who}
		case len(scores) != len(to.Answer):
			return &render.Refusal{Reason: render.Reason(ScoreInvalid), Detail: fmt.Sprintf("the %s scored %d tokens, the action has %d", of.who, len(scores), len(to.Answer))}
		case slices.ContainsFunc(scores, notFinite):
			return &render.Refusal{Reason: render.Reason(ScoreInvalid), Detail: "a log-probability of the " + of.who + " is not a finite number"}
		case slices.ContainsFunc(scores, impossible):
			return &render.Refusal{Reason: render.Reason(ScoreImpossible), Detail: "the " + of.who + " gives a token no probability"}
		}
		*of.set = scores
	}
	return nil
}

func notFinite(v float32) bool {
	return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0)
}

func impossible(logprob float32) bool { return logprob < stats.NoProbability }
