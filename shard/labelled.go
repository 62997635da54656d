package shard

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"relabel"
	"relabel/chat"
	"relabel/secretscan"
	"relabel/shard/outfile"
	"relabel/shard/render"
	"relabel/shard/rows"
	"relabel/shard/tree"
)

// labelled is a trajectory with its exported labels, from which all views are written. Its
// texts are released once the labels are selected.
type labelled struct {
	relabel.ExportTrajectory
	turns        int
	group        string               // see groupID
	actors       map[relabel.Role]int // exported labels by who acted at their turn
	text         int64                // approximate bytes of its rows of the messages view
	loose        int                  // rows of the view chat without a tokenizer
	keep         map[int][]float32    // exported labels by turn, with their token weights; nil without a tokenizer
	roots        []*tree.Root
	special      int  // occurrences of special tokens' text in its messages
	inTools      int  // the same in the tools of a conversation
	notCollected bool // a conversation of a set
	prompts      promptCheck
	tooLong      relabel.ManifestTooLong // excluded by max_length

	preferred   []int // turns with a row of the preference view
	preferences relabel.PreferenceCounts

	excluded []excludedLine
	taskID   string
	task     taskFacts
	secrets  []placedSecret // in its texts, also those that are not exported
}

// forget releases scores and all texts but the task's name: those of a whole part would need more memory
// than everything else.
func (l *labelled) forget() {
	l.Task = relabel.Task{InstanceID: l.Task.InstanceID}
	l.Turns, l.StudentPrompt = nil, nil
	l.StudentScores, l.TeacherScores = nil, nil
	l.Opening, l.Tools = nil, nil
}

// of reports whether tr, read again, is still the same trajectory.
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

// kept returns the turn of the i-th exported label, counting from 0.
func (l *labelled) kept(i int) int {
	return slices.Sorted(maps.Keys(l.keep))[i]
}

// selector selects and renders the labels of trajectories that are exported.
type selector struct {
	run     relabel.Run
	sel     relabel.ExportSelection
	form    relabel.ExportForm
	student *render.Student // nil without a token view
	model   relabel.ModelCheck
	mixing  // nothing without a mix
	scan    *secretscan.Scanner
}

// label selects a trajectory's exported labels, renders them, and records why the others are excluded;
// dropped are turns whose labels are excluded for another reason.
func (b *selector) label(tr relabel.ExportTrajectory, dropped map[int]Reason) (*labelled, error) {
	l, err := b.choose(tr, dropped)
	if err != nil {
		return nil, err
	}
	defer l.forget()
	if b.student == nil {
		if err := b.checkWeights(l); err != nil {
			return nil, err
		}
	}
	if slices.Contains(b.form.Views, relabel.ViewMessages) {
		b.excludeLarge(l)
	}
	if b.student != nil && len(l.keep) > 0 {
		if err := b.grow(l); err != nil {
			return nil, err
		}
	}
	if slices.Contains(b.form.Views, relabel.ViewPreference) {
		b.choosePreferences(l)
	}
	l.text, l.loose = b.size(l), len(executedConversations(l, tr))
	l.actors = map[relabel.Role]int{}
	for t := range l.keep {
		l.actors[tr.Turns[t-1].Executor]++
	}
	return l, nil
}

// choose selects a trajectory's exported labels without rendering them.
func (b *selector) choose(tr relabel.ExportTrajectory, dropped map[int]Reason) (*labelled, error) {
	l := &labelled{ExportTrajectory: tr, turns: len(tr.Turns), group: groupID(tr), notCollected: tr.Opening != nil, keep: map[int][]float32{}, taskID: tr.Task.ID.String(), task: factsOf(tr.Task)}
	if reason, detail := excludeTrajectory(b.run.Recipe, b.sel, tr); reason != "" {
		l.Turns = nil
		l.excluded = append(l.excluded, excludedLine{Reason: reason, Trajectory: tr.Trajectory.ID, InstanceID: tr.Task.InstanceID,
			States: len(tr.Turns), Detail: detail})
		return l, nil
	}
	if err := b.checkFactor(tr.Iteration); err != nil {
		return nil, err
	}
	l.secrets = b.secretsOf(tr)
	for i, turn := range tr.Turns {
		if turn.T != i+1 {
			return nil, fmt.Errorf("trajectory %s: found turn %d, expected turn %d", tr.Trajectory.ID, turn.T, i+1)
		}
		reason, detail := b.excludeLabel(turn.Label)
		if reason == "" {
			reason, detail = excludeFlagged(tr, turn.T)
		}
		if reason == "" {
			reason = excludeAgreement(b.sel.Agreement, turn)
		}
		if reason == "" {
			reason, detail = b.excludeSecret(l, turn.T)
		}
		if reason == "" {
			reason = b.excludeSampled(tr, turn.T)
		}
		if reason == "" {
			reason = dropped[turn.T]
		}
		if reason != "" {
			l.exclude(turn.T, reason, detail)
			continue
		}
		l.keep[turn.T] = nil
	}
	return l, nil
}

// checkWeights refuses weights other than 1, which rows without tokens cannot express.
func (b *selector) checkWeights(l *labelled) error {
	for _, turn := range l.Turns {
		if _, kept := l.keep[turn.T]; kept && turn.LabelWeight() != 1 {
			return weightless(l.ExportTrajectory, turn)
		}
	}
	return nil
}

// weightless is the error of a label whose weight the rows cannot express.
func weightless(tr relabel.ExportTrajectory, turn relabel.Turn) error {
	return relabel.Errorf(relabel.CodeInvalid, "the label rule %s gives the label of turn %d of trajectory %s the weight %g, and only exports with a token view have weights: add the view tree, linear or packed, or collect with a rule of weight 1",
		tr.Iteration.LabelRule, turn.T, tr.Trajectory.ID, turn.LabelWeight()).On("views")
}

// size returns the approximate size, in bytes, of the trajectory's rows of the messages view.
func (b *selector) size(l *labelled) (size int64) {
	text := int64(len(chat.AppendTools(nil, b.tools(l.ExportTrajectory))))
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

// excludeLarge excludes labels whose rows of the messages view would be too large, from all
// views, since all views hold the same labels.
func (b *selector) excludeLarge(l *labelled) {
	const weight = 16 // bytes of one token's weight in JSON; a token has at least one byte
	tools := len(chat.AppendTools(nil, b.tools(l.ExportTrajectory)))
	state := openState(reasoned(b.form, b.opening(l.ExportTrajectory)))
	for _, turn := range l.Turns {
		if _, wanted := l.keep[turn.T]; wanted {
			label := len(rows.LabelText(turn.T, turn.Label.Message.Canonical(turn.T), nil))
			if b.student != nil {
				label *= weight
			}
			if int64(len(state)+tools+label)+rowIDBytes > outfile.MaxRow {
				l.exclude(turn.T, StateTooLarge, "")
			}
		}
		state = state.advance(b.form, turn)
	}
}

// exclude excludes the label of a turn.
func (l *labelled) exclude(t int, reason Reason, detail string) {
	delete(l.keep, t)
	l.excluded = append(l.excluded, excludedLine{Reason: reason, Trajectory: l.Trajectory.ID, InstanceID: l.Task.InstanceID, Turn: &t, States: 1, Detail: detail})
}

// grow builds the token trees of the exported labels.
func (b *selector) grow(l *labelled) error {
	turns, err := b.tokens(l)
	if err != nil {
		return err
	}
	origin := tree.Origin{Trajectory: l.Trajectory.ID.String(), Iteration: l.Iteration.Number}
	if l.Iteration.Beta != nil {
		beta := float32(*l.Iteration.Beta)
		origin.Beta = &beta
	}
	b.addReward(&origin, l)
	roots, err := tree.Build(tree.Trajectory{Origin: origin, Turns: turns}, tree.Normalisation(b.form.Normalisation))
	if err != nil {
		return err
	}
	for _, r := range roots {
		fitted, over, counts := r.Fit(b.form.MaxLength, b.form.TooLong != relabel.DropTooLong)
		l.tooLong = l.tooLong.Plus(counts)
		for _, t := range over {
			l.exclude(t, TooLong, fmt.Sprintf("over %d tokens", b.form.MaxLength))
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

// tokens renders every state and every exported label. Labels that cannot be rendered are
// excluded.
func (b *selector) tokens(l *labelled) ([]tree.Turn, error) {
	c := b.student.Converse(b.opening(l.ExportTrajectory), b.tools(l.ExportTrajectory))
	turns := make([]tree.Turn, len(l.Turns))
	for i, turn := range l.Turns {
		_, wanted := l.keep[turn.T]
		turns[i] = tree.Turn{T: turn.T, Executed: wanted && (b.run.Recipe.OnPolicy() || executedByTeacher(turn)), Weight: float32(turn.LabelWeight() * b.factor(l.Iteration))}
		err := b.fill(c, &turns[i], l, turn, wanted)
		if err == nil && wanted {
			err = b.weigh(&turns[i], l)
		}
		var refusal *render.Refusal
		switch {
		case errors.As(err, &refusal) && wanted:
			l.exclude(turn.T, Reason(refusal.Reason), refusal.Detail)
		case err != nil && !errors.As(err, &refusal):
			return nil, err
		}
		c.Advance(turn)
	}
	l.special = c.Special()
	if l.Opening != nil {
		l.inTools = b.student.SpecialInTools(l.Tools)
	}
	return turns, nil
}

// fill sets the IDs of a turn's state and, if wanted, of its label.
func (b *selector) fill(c *render.Conversation, to *tree.Turn, l *labelled, turn relabel.Turn, wanted bool) error {
	prompt, state, err := c.Prompt()
	if err == nil {
		l.prompts.compare(b.student, l, turn, prompt)
	}
	if wanted && turn.Label.TokenIDs != nil {
		if theirs := b.servedPrompt(l, turn); theirs != nil { // the student's own IDs are never encoded again
			return b.serve(to, theirs, turn.Label.TokenIDs)
		}
	}
	if wanted && b.run.Recipe.OnPolicy() {
		return &render.Refusal{Reason: render.Reason(IDsNotServed), Detail: "the student's server returned no ids of the prompt or of the action"}
	}
	if err != nil {
		return err
	}
	to.State = prompt[:state:state]
	if !wanted {
		return nil
	}
	if to.Answer, err = c.Label(turn.Label.Message.Canonical(turn.T)); err != nil {
		return err
	}
	if b.form.HasText() {
		if err := c.CheckText(prompt, to.Answer); err != nil {
			to.Answer = nil
			return err
		}
	}
	to.Prompt, to.Labelled = prompt, true
	return nil
}

// servedPrompt returns the prompt IDs that the label's server received, nil if the label is
// not the student's own. Served IDs include the reasoning, so they are not used where
// reasoning is dropped, nor beside text, which the trainer encodes itself.
func (b *selector) servedPrompt(l *labelled, turn relabel.Turn) []int32 {
	switch {
	case turn.Label.PolicyID != l.Student.ID || b.form.Reasoning == relabel.ReasoningDrop || b.form.HasText():
		return nil
	case turn.Label.PromptTokenIDs != nil:
		return turn.Label.PromptTokenIDs
	}
	return l.studentPrompt(turn)
}

// serve uses the IDs that the student's server returned.
func (b *selector) serve(to *tree.Turn, prompt, answer []int32) error {
	if n := len(answer); n == 0 || answer[n-1] != b.student.StopID {
		return &render.Refusal{Reason: render.NoStop, Detail: "the server's ids do not end with the stop token"}
	}
	to.Prompt, to.Answer, to.Labelled, to.Served = prompt, answer, true, true
	state := b.student.WithoutHeader(prompt)
	to.State = prompt[:state:state]
	return nil
}
