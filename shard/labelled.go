package shard

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"relabel"
	"relabel/chat"
	"relabel/shard/parquet"
	"relabel/shard/render"
	"relabel/shard/tree"
)

// labelled is a trajectory with what leaves of it: all views are written of the same
// labels. Its texts are forgotten once it is labelled.
type labelled struct {
	relabel.ExportTrajectory
	turns   int
	text    int64             // bytes of its rows of the messages view, about
	keep    map[int][]float32 // the labels that leave, by turn, with the weights of their tokens; nil without a tokenizer
	roots   []*tree.Root
	special int // texts of special tokens in its messages
	prompts promptCheck
	tooLong relabel.ManifestTooLong // what max_length excluded
	left    []leftOutLine
}

// forget lets go of all texts: those of a part would take more memory than all the rest.
func (l *labelled) forget() { l.Task, l.Turns, l.StudentPrompt = relabel.Task{}, nil, nil }

// of reports whether it is of the trajectory, which was read again.
func (l *labelled) of(tr relabel.ExportTrajectory) bool {
	if tr.Trajectory.ID != l.Trajectory.ID || len(tr.Turns) != l.turns {
		return false
	}
	for t := range l.keep {
		if tr.Turns[t-1].Label == nil {
			return false
		}
	}
	return true
}

// kept returns the turn of the i-th label that leaves, from 0.
func (l *labelled) kept(i int) int {
	return slices.Sorted(maps.Keys(l.keep))[i]
}

// labeller says what leaves of trajectories.
type labeller struct {
	run     relabel.Run
	sel     relabel.ExportSelection
	form    relabel.ExportForm
	student *render.Student // nil without a view of tokens
	model   relabel.ModelCheck
}

// label says what leaves of a trajectory, and why the rest does not.
func (b *labeller) label(tr relabel.ExportTrajectory) (*labelled, error) {
	l := &labelled{ExportTrajectory: tr, turns: len(tr.Turns), keep: map[int][]float32{}}
	defer l.forget()
	if reason, detail := leaveTrajectory(b.sel, tr); reason != "" {
		l.left = append(l.left, leftOutLine{Reason: reason, Trajectory: tr.Trajectory.ID, InstanceID: tr.Task.InstanceID,
			States: len(tr.Turns), Detail: detail})
		return l, nil
	}
	for i, turn := range tr.Turns {
		if turn.T != i+1 {
			return nil, fmt.Errorf("trajectory %s: turn %d stands where turn %d should", tr.Trajectory.ID, turn.T, i+1)
		}
		reason, detail := leaveLabel(turn.Label)
		if reason == "" {
			reason, detail = leaveFlagged(tr, turn.T)
		}
		if reason == "" {
			reason = leaveAgreement(b.sel.Agreement, turn)
		}
		if reason != "" {
			l.leave(turn.T, reason, detail)
		} else {
			l.keep[turn.T] = nil
		}
	}
	if slices.Contains(b.form.Views, relabel.ViewMessages) {
		b.leaveLarge(l)
	}
	if b.student != nil && len(l.keep) > 0 {
		if err := b.grow(l); err != nil {
			return nil, err
		}
	}
	l.text = b.size(l)
	return l, nil
}

// size is about how many bytes the rows of the messages view have.
func (b *labeller) size(l *labelled) (size int64) {
	text := int64(len(chat.AppendTools(nil, b.run.Prompts.Tools)))
	for _, turn := range l.Turns {
		if _, there := l.keep[turn.T]; there {
			size += text
		}
		text += int64(len(turn.Action.Raw))
		for _, o := range turn.Observations {
			text += int64(len(o.Content))
		}
	}
	return size
}

// leaveLarge leaves out the labels whose rows of the messages view would be too large,
// out of all views: they hold the same labels.
func (b *labeller) leaveLarge(l *labelled) {
	const weight = 16 // bytes of a token's weight in JSON, and a token is a byte at least
	tools := len(chat.AppendTools(nil, b.run.Prompts.Tools))
	state := openState(reasoned(b.form, b.run.Prompts.Opening(l.Task)))
	for _, turn := range l.Turns {
		if _, wanted := l.keep[turn.T]; wanted {
			label := len(labelText(turn.T, turn.Label.Message, nil))
			if b.student != nil {
				label *= weight
			}
			if int64(len(state)+tools+label)+rowIDBytes > parquet.MaxRow {
				l.leave(turn.T, StateTooLarge, "")
			}
		}
		state = state.advance(b.form, turn)
	}
}

// leave leaves out the label of a turn.
func (l *labelled) leave(t int, reason Reason, detail string) {
	delete(l.keep, t)
	l.left = append(l.left, leftOutLine{Reason: reason, Trajectory: l.Trajectory.ID, InstanceID: l.Task.InstanceID, Turn: &t, States: 1, Detail: detail})
}

// grow makes the token trees of the labels that leave.
func (b *labeller) grow(l *labelled) error {
	turns, err := b.tokens(l)
	if err != nil {
		return err
	}
	origin := tree.Origin{Trajectory: l.Trajectory.ID.String(), Iteration: l.Iteration.Number}
	if l.Iteration.Beta != nil {
		beta := float32(*l.Iteration.Beta)
		origin.Beta = &beta
	}
	roots, err := tree.Build(tree.Trajectory{Origin: origin, Turns: turns}, tree.Normalisation(b.form.Normalisation))
	if err != nil {
		return err
	}
	for _, r := range roots {
		fitted, over, counts := r.Fit(b.form.MaxLength, b.form.TooLong != relabel.DropTooLong)
		l.tooLong = l.tooLong.Plus(counts)
		for _, t := range over {
			l.leave(t, TooLong, fmt.Sprintf("over %d tokens", b.form.MaxLength))
		}
		if fitted == nil {
			continue
		}
		l.roots = append(l.roots, fitted)
		for s := range fitted.Spans {
			l.keep[s.Turn] = s.Weights
		}
	}
	return nil
}

// tokens renders every state and every label that leaves. What cannot be rendered is left
// out.
func (b *labeller) tokens(l *labelled) ([]tree.Turn, error) {
	c := b.student.Converse(b.run.Prompts.Opening(l.Task), b.run.Prompts.Tools)
	turns := make([]tree.Turn, len(l.Turns))
	for i, turn := range l.Turns {
		_, wanted := l.keep[turn.T]
		turns[i] = tree.Turn{T: turn.T, ByTeacher: wanted && executedByTeacher(turn), Weight: 1}
		err := b.fill(c, &turns[i], l, turn, wanted)
		var refusal *render.Refusal
		switch {
		case errors.As(err, &refusal) && wanted:
			l.leave(turn.T, Reason(refusal.Reason), refusal.Detail)
		case err != nil && !errors.As(err, &refusal):
			return nil, err
		}
		c.Advance(turn)
	}
	l.special = c.Special()
	return turns, nil
}

// fill gives a turn the ids of its state and, where it is wanted, of its label.
func (b *labeller) fill(c *render.Conversation, to *tree.Turn, l *labelled, turn relabel.Turn, wanted bool) error {
	prompt, state, err := c.Prompt()
	if err == nil {
		l.prompts.compare(b.student, l, turn, prompt)
	}
	if wanted && turn.Label.TokenIDs != nil {
		if theirs := b.servedPrompt(l, turn); theirs != nil { // the student's own: never encoded again
			return b.serve(to, theirs, turn.Label.TokenIDs)
		}
	}
	if err != nil {
		return err
	}
	to.State = prompt[:state:state]
	if !wanted {
		return nil
	}
	if to.Answer, err = c.Label(turn.Label.Message.Canonical(turn.T)); err == nil {
		to.Prompt, to.Labelled = prompt, true
	}
	return err
}

// servedPrompt is what the label's server was given, nil where the label is not the
// student's own. Served ids have the reasoning in them, so there are none where it is dropped.
func (b *labeller) servedPrompt(l *labelled, turn relabel.Turn) []int32 {
	switch {
	case turn.Label.PolicyID != l.Student.ID || b.form.Reasoning == relabel.ReasoningDrop:
		return nil
	case turn.Label.PromptTokenIDs != nil:
		return turn.Label.PromptTokenIDs
	}
	return l.studentPrompt(turn)
}

// serve takes the ids that the student's server gave.
func (b *labeller) serve(to *tree.Turn, prompt, answer []int32) error {
	if n := len(answer); n == 0 || answer[n-1] != b.student.StopID {
		return &render.Refusal{Reason: render.NoStop, Detail: "its server gave ids that do not end with the stop token"}
	}
	to.Prompt, to.Answer, to.Labelled, to.Served = prompt, answer, true, true
	state := b.student.WithoutHeader(prompt)
	to.State = prompt[:state:state]
	return nil
}
